/** A partition that cannot be used here, with the Kafka error code that says why; thrown by replica/ and answered by the handlers. */
import { ErrorCode } from '../protocol/errors.ts'

export class PartitionUnavailable extends Error {
  readonly errorCode: number

  constructor(errorCode: number, message: string) {
    super(message)
    this.name = 'PartitionUnavailable'
    this.errorCode = errorCode
  }
}

export const ledElsewhere = (name: string, leader: number): PartitionUnavailable =>
  new PartitionUnavailable(ErrorCode.NOT_LEADER_OR_FOLLOWER, `${name} is led by ${leader < 0 ? 'nobody' : leader} now`)

/** Clients of a deleted topic shall forget it, those of a moved partition look for its leader. */
export const removedReplica = (name: string, why: 'deleted' | 'moved'): PartitionUnavailable =>
  why === 'deleted'
    ? new PartitionUnavailable(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, `${name} was deleted`)
    : new PartitionUnavailable(ErrorCode.NOT_LEADER_OR_FOLLOWER, `${name} has no replica here any more`)
