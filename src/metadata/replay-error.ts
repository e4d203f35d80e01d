/** The error of a metadata log that contradicts itself; raised while records are applied to an image. */
export class MetadataReplayError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'MetadataReplayError'
  }
}
