/** A partition that cannot be used here, with the Kafka error code that says why; thrown by replica/ and answered by the handlers. */
export class PartitionUnavailable extends Error {
  readonly errorCode: number

  constructor(errorCode: number, message: string) {
    super(message)
    this.name = 'PartitionUnavailable'
    this.errorCode = errorCode
  }
}
