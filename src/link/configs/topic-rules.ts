/** Which topics may be mirrored, under which names, which of their configs a link owns, and how it names groups (semantics §3–6). */
import type { LinkConfigs } from './link-configs.ts'

/** Topic configs that always equal the source's. */
const alwaysCopied = [
  'max.message.bytes',
  'cleanup.policy',
  'message.timestamp.type',
  'message.timestamp.difference.max.ms',
  'message.timestamp.before.max.ms',
  'message.timestamp.after.max.ms',
] as const

/** The topic configs that this link copies; nobody else may set them on its mirrors. */
export function copiedTopicConfigs(configs: LinkConfigs): ReadonlySet<string> {
  return new Set<string>([...alwaysCopied, ...configs.must('topic.config.sync.include')])
}

/** Does the mirror's log start follow the source's? Not when a link leaves retention out of its sync. */
export function logStartFollowsSource(configs: LinkConfigs): boolean {
  const include = configs.must('topic.config.sync.include')
  return include.includes('retention.ms') || include.includes('retention.bytes')
}

const internalTopics: ReadonlySet<string> = new Set([
  '__consumer_offsets',
  '__transaction_state',
  '__share_group_state',
  '__remote_log_metadata',
  '__cluster_metadata',
  'confluent-audit-log-events',
])

const internalPrefixes = ['__lockstep_', '_confluent', '__confluent']

/** Topics that belong to their own cluster and are never mirrored. */
export function isNeverMirrored(topic: string): boolean {
  return internalTopics.has(topic) || internalPrefixes.some(prefix => topic.startsWith(prefix))
}

const leftOutOfAutoCreate: ReadonlySet<string> = new Set(['_schemas', '__consumer_timestamps'])

/** Topics that may be mirrored, but not by a filter. */
export const isLeftOutOfAutoCreate = (topic: string): boolean => leftOutOfAutoCreate.has(topic)

/** Why a name cannot be a Kafka topic; undefined = it can. */
export function topicNameProblem(name: string): string | undefined {
  if (name === '') return 'is empty'
  if (name === '.' || name === '..') return 'may not be "." or ".."'
  if (name.length > 249) return 'is longer than 249 characters'
  return /^[a-zA-Z0-9._-]+$/.test(name) ? undefined : 'may hold only letters, digits, ".", "_" and "-"'
}

/** Why a name cannot be a link's; undefined = it can. "-" alone means "all links" in REST paths. */
export function linkNameProblem(name: string): string | undefined {
  return name === '-' ? 'stands for all links' : topicNameProblem(name)
}

/** What a link puts before the names of groups; empty = nothing. */
export const groupPrefixOf = (configs: LinkConfigs): string =>
  configs.must('consumer.group.prefix.enable') ? configs.must('cluster.link.prefix') : ''
