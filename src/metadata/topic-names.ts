/** Kafka's rules for topic names; used by the controller's create commands and by handlers that answer about names. */

export const TOPIC_NAME_LENGTH_MAX = 249

export const CLUSTER_METADATA_TOPIC = '__cluster_metadata'

const internalTopics: ReadonlySet<string> = new Set([
  '__consumer_offsets',
  '__transaction_state',
  '__share_group_state',
])

/** Topics that Metadata answers mark as internal. */
export const isInternalTopic = (name: string): boolean => internalTopics.has(name)

/** Why the name is not allowed, in Kafka's terms; undefined if it is fine. */
export function topicNameProblem(name: string): string | undefined {
  if (name === '') return 'Topic name is invalid: the empty string is not allowed'
  if (name === '.' || name === '..') return `Topic name is invalid: '${name}' is not allowed`
  if (name.length > TOPIC_NAME_LENGTH_MAX)
    return `Topic name is invalid: the length of '${name}' is longer than the max allowed length ${TOPIC_NAME_LENGTH_MAX}`
  if (!/^[a-zA-Z0-9._-]+$/.test(name))
    return `Topic name is invalid: '${name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'`
  return undefined
}

/** Names with the same key collide, because metric names turn '.' into '_'. */
export const collisionKey = (name: string): string => name.replaceAll('.', '_')

export const canCollide = (name: string): boolean => name.includes('.') || name.includes('_')
