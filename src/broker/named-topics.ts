/** The names of the topics in a request that gives names or ids, for questions to the authorizer; handlers of groups use it. */
import type { Uuid } from '../core/uuid.ts'
import type { MetadataImage } from '../metadata/metadata-image.ts'
import { resolveTopic } from './resolve-topic.ts'

/** Ids that nobody knows give no name. */
export const namedTopics = (
  image: MetadataImage,
  topics: readonly { readonly name: string; readonly topicId: Uuid }[],
): string[] => topics.map(named => resolveTopic(image, named).image?.name ?? named.name).filter(name => name !== '')
