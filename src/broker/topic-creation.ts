/** May a client create a topic of that name? CreateTopics and Metadata, which creates what it is asked about, share the question. */
import { ZERO_UUID } from '../core/uuid.ts'
import type { MetadataImage } from '../metadata/metadata-image.ts'
import type { WriteRefusal } from '../replica/write-gate.ts'
import type { BrokerContext } from './handler.ts'

/** Why not, as the write gate says: a link is making a mirror of that name. Of topics that exist the controller says so. */
export const creationRefusal = (
  { writeGate }: Pick<BrokerContext, 'writeGate'>,
  image: MetadataImage,
  name: string,
): WriteRefusal | undefined =>
  image.topicIds.has(name) ? undefined : writeGate.refusal(ZERO_UUID, name, 'create-topic')
