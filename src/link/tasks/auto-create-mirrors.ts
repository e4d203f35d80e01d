/** AutoCreateMirror: topics of the source that match the link's filters become mirrors by themselves (semantics §8). Run by the link's tasks. */
import { messageOf, OperationalError } from '../../core/errors.ts'
import { mapBounded } from '../coordination/bounded.ts'
import {
  type SourceCluster,
  SourceError,
  type SourceFailure,
  type SourceTopic,
  type SourceTopicConfig,
} from '../ports.ts'
import type { AutoCreation } from '../source-topics/auto-creation.ts'
import type { DiscoveredTopic } from '../source-topics/discovered-topic.ts'
import { autoCreateConditions, type Condition, isObstacle } from '../source-topics/topic-conditions.ts'
import { type LinkFacts, ownMirror, type TopicsHere, topicFacts } from '../source-topics/topic-facts.ts'
import type { TopicOrigins } from '../source-topics/topic-origins.ts'
import type { SourceStatusView } from '../status/source-chain.ts'
import { retryAfterErrorsMs, type TaskError, taskErrorOf } from './sync-task.ts'

export interface AutoCreateParts extends TopicsHere {
  readonly source: SourceCluster
  readonly clusterId: string
  /** As they are when the round begins; whatever changes later is judged again by `create`. */
  readonly link: LinkFacts
  readonly memory: AutoCreation
  /** Monotonic. */
  readonly nowMs: () => number
  readonly readStatus: () => Promise<SourceStatusView>
  readonly originsOf: (view: SourceStatusView) => TopicOrigins
  /** Creates one mirror, if it still may be. */
  readonly create: (discovered: DiscoveredTopic) => Promise<void>
  readonly signal: AbortSignal
}

/** Topics whose configs are asked for in one question, and that are created before the next ones are looked at. */
const batchSize = 100

/** Topics created at the same time. */
const parallel = 8

/** One round. Resolves to what is in the way of topics that a filter includes. */
export async function autoCreateMirrors(parts: AutoCreateParts): Promise<readonly TaskError[]> {
  const { source, link, memory, signal } = parts
  if (!link.filters.some(({ filterType }) => filterType === 'INCLUDE')) return [misconfigured]
  if (link.isPaused) return []
  const listed = await source.describeTopics('all', signal)
  const topics = listed.filter(topic => topic.partitions.length > 0).sort((a, b) => (a.name < b.name ? -1 : 1))
  memory.sees(
    topics.map(({ name }) => name),
    parts.nowMs(),
  )
  // Read after the listing: every mirror in the list that is published by now is known for one.
  const view = await parts.readStatus()
  const { wanted: included, errors } = chosen(parts, topics, view)
  const wanted = settled(parts, included, view)
  const attempts = new Map<string, TaskError>()
  try {
    for (let at = 0; at < wanted.length && !signal.aborted; at += batchSize)
      await createBatch(parts, { view, attempts }, wanted.slice(at, at + batchSize))
  } finally {
    memory.attempts = attempts
  }
  return [...attempts.values(), ...errors]
}

const misconfigured: TaskError = {
  code: 'MISCONFIGURATION_ERROR',
  message: 'auto.create.mirror.topics.filters has no INCLUDE filter: no topic is mirrored automatically',
}

/** How long a mirror may take to be published by its cluster, which creates it first. */
const settleMs = 15_000

/**
 * Two clusters that mirror each other with prefixes would take the mirrors of the moment, which are not published yet, for
 * topics of their own: what is new waits where its cluster has links.
 */
function settled(
  { link, memory, nowMs }: AutoCreateParts,
  included: readonly SourceTopic[],
  view: SourceStatusView,
): readonly SourceTopic[] {
  const mayBeMirrors = link.prefix !== '' && view.kind === 'read' && view.contents.links().length > 0
  const sinceMs = nowMs() - settleMs
  const wanted = included.filter(({ name }) => !mayBeMirrors || (memory.listed.get(name) ?? nowMs()) <= sinceMs)
  memory.settlesInMs = wanted.length < included.length ? settleMs : undefined
  return wanted
}

/** Errors that stay until somebody changes something: repeating a round soon helps nobody. */
const standing: ReadonlySet<string> = new Set(['MISCONFIGURATION_ERROR', 'TOPIC_EXISTS_ERROR', 'INVALID_TOPIC'])

const retryMsMax = 60_000

/** Ever more seldom: a round lists everything that the source has. */
export const retryCreationMs = (errors: readonly TaskError[], failures: number): number =>
  errors.every(({ code }) => standing.has(code))
    ? Number.POSITIVE_INFINITY
    : Math.min(retryMsMax, retryAfterErrorsMs * 2 ** Math.min(failures - 1, 4))

/** Topics to be mirrored, and what is in the way of others that somebody would expect among them. */
function chosen(parts: AutoCreateParts, topics: readonly SourceTopic[], view: SourceStatusView) {
  const { link } = parts
  const origins = parts.originsOf(view)
  const wanted: SourceTopic[] = []
  const told = new Map<string, TaskError>()
  for (const topic of topics) {
    const mirrorTopic = `${link.prefix}${topic.name}`
    if (ownMirror(parts, link.linkId, mirrorTopic)) continue
    const atSource = { kind: 'found', topic } as const
    const facts = topicFacts(parts, link, { name: topic.name, atSource, origins })
    const obstacles = autoCreateConditions(facts).filter(isObstacle)
    if (obstacles.length === 0) wanted.push(topic)
    else if (obstacles.length === 1) tell(told, topic.name, obstacles[0])
  }
  return { wanted, errors: [...told.values()] }
}

/** By reason of a condition. What a filter or a rule leaves out is no error. */
const codes: Readonly<Record<string, string>> = {
  TOPIC_EXISTS: 'TOPIC_EXISTS_ERROR',
  INVALID_TOPIC: 'INVALID_TOPIC',
  AUTHORIZATION_ERROR: 'AUTHORIZATION_ERROR',
  SOURCE_STATUS_UNKNOWN: 'AUTHORIZATION_ERROR',
}

function tell(told: Map<string, TaskError>, topic: string, obstacle: Condition | undefined): void {
  const code = codes[obstacle?.reason ?? '']
  if (!obstacle || code === undefined) return
  // This one is the same for all of them.
  const subject = obstacle.name === 'SOURCE_IS_NO_MIRROR' ? 'topics of the source' : topic
  told.set(subject, { code, message: `${subject}: ${obstacle.detail}` })
}

async function createBatch(
  parts: AutoCreateParts,
  round: { readonly view: SourceStatusView; readonly attempts: Map<string, TaskError> },
  topics: readonly SourceTopic[],
): Promise<void> {
  const { clusterId, signal } = parts
  const known = await describeConfigs(parts, topics)
  await mapBounded(topics, parallel, async topic => {
    if (signal.aborted) return
    try {
      const described = known?.get(topic.name) ?? (await describeConfigs(parts, [topic], true))?.get(topic.name)
      await parts.create({ clusterId, topic, view: round.view, described: described ?? new Map() })
    } catch (error) {
      if (signal.aborted || (error instanceof SourceError && isOfSource(error.failure))) throw error
      round.attempts.set(topic.name, creationError(error, topic.name))
    }
  })
}

/** undefined = one of them may not be described, which says nothing of the others. */
async function describeConfigs(
  { source, signal }: AutoCreateParts,
  topics: readonly SourceTopic[],
  isAlone = false,
): Promise<Map<string, Map<string, SourceTopicConfig>> | undefined> {
  try {
    const names = topics.map(({ name }) => name)
    return await source.describeTopicConfigs(names, signal)
  } catch (error) {
    if (isAlone || !(error instanceof SourceError) || isOfSource(error.failure)) throw error
    return undefined
  }
}

/** Failures that every other topic would meet as well: the round ends, and is repeated soon. */
const isOfSource = (failure: SourceFailure): boolean =>
  failure !== 'authorization' && failure !== 'unknown-topic' && failure !== 'retriable'

const codesOfErrors: Readonly<Record<string, string>> = {
  TOPIC_EXISTS: 'TOPIC_EXISTS_ERROR',
  TOPIC_CREATION_REFUSED: 'POLICY_VIOLATION_ERROR',
  TOPIC_NAME_INVALID: 'INVALID_TOPIC',
}

function creationError(error: unknown, topic: string): TaskError {
  const code = error instanceof OperationalError ? codesOfErrors[error.code] : undefined
  return code === undefined ? taskErrorOf(error, topic) : { code, message: `${topic}: ${messageOf(error)}` }
}
