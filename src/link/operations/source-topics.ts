/** Answers why topics of a source are, or are not, mirrored, and what would come back after a deletion. Made by the engine for REST. */
import { ZERO_UUID } from '../../core/uuid.ts'
import { linkError } from '../errors.ts'
import { type SourceCluster, SourceError, type SourceTopic } from '../ports.ts'
import { autoCreateConditions, isObstacle, mayBeMirrored } from '../source-topics/topic-conditions.ts'
import { type AtSource, type FactSources, type LinkFacts, linkFacts, topicFacts } from '../source-topics/topic-facts.ts'
import type { TopicOrigin, TopicOrigins } from '../source-topics/topic-origins.ts'
import { topicVerdict } from '../source-topics/topic-verdict.ts'
import type { ReturningTopic, SourceTopicsApi, SourceTopicView, TopicExplanation } from '../source-topics-api.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import { healthyLink } from '../states/link-health.ts'
import { topicOrigins } from '../status/chain-rules.ts'
import type { SourceStatus } from '../status/source-status.ts'
import { mirrorView } from '../views/mirror-view.ts'
import { askSource, requireRunning } from './ask-source.ts'
import { type OperationContext, requireLink } from './operation-context.ts'

/** Somebody waits: what the source has not answered by then is not known. */
const patienceMs = 10_000

/** `context` throws while the state is not known. */
export function sourceTopics(context: () => OperationContext): SourceTopicsApi {
  return {
    list: async link => await listSourceTopics(context(), link),
    explain: async (link, which) => await explainTopic(context(), link, which),
    returning: topic => returningTopics(context(), topic),
  }
}

async function listSourceTopics(context: OperationContext, name: string): Promise<SourceTopicView[]> {
  const link = requireLink(context, name)
  const { runtime, source, status } = requireRunning(context, link.linkId)
  const topics = await askSource(name, () => inTime(context, signal => source.describeTopics('all', signal)))
  const found = new Map(topics.map(topic => [topic.name, topic]))
  const origins = await readOrigins(context, link, status)
  const facts = linkFacts(link, runtime.configs, runtime.health)
  const sources = factSources(context, link)
  return namesOf(context, facts, found).map(sourceTopic => {
    const topic = found.get(sourceTopic)
    const atSource: AtSource = topic ? { kind: 'found', topic } : { kind: 'missing' }
    const judged = topicFacts(sources, facts, { name: sourceTopic, atSource, origins })
    const { mirrored, reason, message } = topicVerdict(judged)
    return {
      sourceTopicName: sourceTopic,
      mirrorTopicName: judged.mirrorTopic,
      numPartitions: topic?.partitions.length ?? 0,
      mirrored,
      mirrorStatus: judged.mirror?.status ?? null,
      reason,
      message,
    }
  })
}

/** What the source shows, what is mirrored from it, and what filters name; sorted. */
function namesOf({ desired }: OperationContext, link: LinkFacts, found: ReadonlyMap<string, SourceTopic>): string[] {
  const mirrored = desired.mirrorsOf(link.linkId).map(({ sourceTopic }) => sourceTopic)
  const named = link.filters.filter(
    ({ filterType, patternType, name }) => filterType === 'INCLUDE' && patternType === 'LITERAL' && name !== '*',
  )
  return [...new Set([...found.keys(), ...mirrored, ...named.map(({ name }) => name)])].sort()
}

async function explainTopic(
  context: OperationContext,
  name: string,
  which: { readonly sourceTopic: string } | { readonly mirrorTopic: string },
): Promise<TopicExplanation> {
  const link = requireLink(context, name)
  const { runtime, source, status } = requireRunning(context, link.linkId)
  const facts = linkFacts(link, runtime.configs, runtime.health)
  const sourceTopic = 'sourceTopic' in which ? which.sourceTopic : sourceOf(context, facts, which.mirrorTopic)
  const atSource = await lookAtSource(context, { source, facts }, sourceTopic)
  const origins: TopicOrigins = atSource.kind === 'found' ? await readOrigins(context, link, status) : neverAsked
  const judged = topicFacts(factSources(context, link), facts, { name: sourceTopic, atSource, origins })
  const { mirrored, conclusion, conditions } = topicVerdict(judged)
  return {
    linkName: link.name,
    sourceTopicName: sourceTopic,
    mirrorTopicName: judged.mirrorTopic,
    mirrored,
    conclusion,
    conditions: conditions.map(({ name: of, answer, detail, hint }) => ({ name: of, answer, detail, hint })),
  }
}

const neverAsked: TopicOrigins = () => ({ kind: 'unknown', reason: 'the source was not asked' })

/** The source topic of a mirror, also of one that does not exist. Throws MIRROR_NAME_NOT_PREFIXED. */
function sourceOf({ desired }: OperationContext, { linkId, prefix }: LinkFacts, mirrorTopic: string): string {
  const record = desired.mirror(linkId, mirrorTopic)
  if (record) return record.sourceTopic
  if (mirrorTopic.startsWith(prefix)) return mirrorTopic.slice(prefix.length)
  throw linkError('MIRROR_NAME_NOT_PREFIXED', { given: mirrorTopic, expected: `${prefix}${mirrorTopic}`, prefix })
}

async function lookAtSource(
  context: OperationContext,
  { source, facts }: { source: SourceCluster; facts: LinkFacts },
  name: string,
): Promise<AtSource> {
  const { health } = facts
  if (health && health.state !== 'ACTIVE')
    return { kind: 'unanswered', message: health.message ?? `the link is ${health.state}` }
  if (mayBeMirrored(name, name).reason === 'INVALID_TOPIC') return { kind: 'missing' }
  try {
    const found = await inTime(context, signal => source.describeTopics([name], signal))
    const topic = found.find(one => one.name === name && one.partitions.length > 0)
    return topic ? { kind: 'found', topic } : { kind: 'missing' }
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    return { kind: error.failure === 'authorization' ? 'refused' : 'unanswered', message: error.message }
  }
}

/** Rejects with SourceError 'timeout' when the source takes too long. */
async function inTime<T>({ clock }: OperationContext, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController()
  const reason = new SourceError('timeout', `the source did not answer within ${patienceMs / 1000} s`)
  const timer = clock.after(patienceMs, () => late.abort(reason))
  try {
    return await ask(late.signal)
  } finally {
    timer.cancel()
  }
}

async function readOrigins(context: OperationContext, link: LinkRecord, status: SourceStatus): Promise<TopicOrigins> {
  return topicOrigins(await status.recent(), { link, clusterId: context.destination.clusterId })
}

function factSources(context: OperationContext, { linkId }: LinkRecord): FactSources {
  const { desired, destination } = context
  const attempts = context.runtime(linkId)?.autoCreation.attempts ?? new Map()
  return { desired, destination, describe: record => mirrorView(context, record), attempts }
}

function returningTopics(context: OperationContext, topic: string): ReturningTopic[] {
  return [...context.desired.links()].flatMap(link => {
    const runtime = context.runtime(link.linkId)
    if (!runtime || link.deletingSinceMs !== undefined) return []
    // Whatever holds the link up now ends some time.
    const facts = { ...linkFacts(link, runtime.configs, healthyLink), isPaused: false }
    const sourceTopicName = topic.slice(facts.prefix.length)
    const record = context.desired.mirror(link.linkId, topic)
    if (!topic.startsWith(facts.prefix) || !(record || runtime.autoCreation.listed.has(sourceTopicName))) return []
    const hops = record ? context.chains.of(record).hops : []
    const isMirror = hops.length > 1
    const origin: TopicOrigin = isMirror ? { kind: 'mirror', of: 'another', isLoop: false } : { kind: 'ordinary' }
    const atSource = { kind: 'found', topic: lastSeen(sourceTopicName) } as const
    const asIfDeleted = { owner: undefined, mirror: undefined, attempt: undefined }
    const judged = { link: facts, sourceTopic: sourceTopicName, mirrorTopic: topic, atSource, origin, ...asIfDeleted }
    if (autoCreateConditions(judged).some(isObstacle)) return []
    const withinMs = runtime.configs.must('auto.create.mirror.topics.interval.ms')
    return [{ linkName: link.name, sourceTopicName, withinMs }]
  })
}

const lastSeen = (name: string): SourceTopic => ({ name, topicId: ZERO_UUID, internal: false, partitions: [] })
