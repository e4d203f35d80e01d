/** The port that decides whether a consumer is sent to another replica (KIP-392); the Fetch handler asks it, broker/joined implements it. */
import type { MetadataImage, TopicImage } from '../metadata/metadata-image.ts'
import type { ClientContext } from '../network/request-handler.ts'

/** A consumer wants to read a partition that this node leads, at an offset that every in-sync replica has. */
export interface ConsumerRead {
  readonly image: MetadataImage
  readonly topic: TopicImage
  readonly partition: number
  readonly client: ClientContext
  /** `client.rack` of the consumer; '' = not said. */
  readonly rack: string
}

export interface ReadRedirect {
  /** Id of the broker to read from; undefined = read here. */
  replicaFor(read: ConsumerRead): number | undefined
}

/** Of a cluster without other replicas. */
export const readHere: ReadRedirect = { replicaFor: () => undefined }
