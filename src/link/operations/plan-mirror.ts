/** Everything about a new mirror that can be decided before anything is changed; called by create-mirror. */
import { ZERO_UUID } from '../../core/uuid.ts'
import { parseStartOffsetSpec } from '../configs/config-values.ts'
import type { LinkConfigs } from '../configs/link-configs.ts'
import { copiedTopicConfigs } from '../configs/topic-rules.ts'
import type { CreateMirrorRequest } from '../engine-api.ts'
import { linkError } from '../errors.ts'
import { type SourceCluster, SourceError, type SourceTopic } from '../ports.ts'
import type { DiscoveredTopic } from '../source-topics/discovered-topic.ts'
import { existsAtSource, mayBeMirrored, requireMet } from '../source-topics/topic-conditions.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import type { MirrorCreationRecord } from '../state-records/mirror-creation-record.ts'
import { checkedChain } from '../status/chain-rules.ts'
import { type MirrorChain, trueConfigs } from '../status/source-chain.ts'
import type { SourceStatus } from '../status/source-status.ts'
import { askSource } from './ask-source.ts'
import type { OperationContext } from './operation-context.ts'

export interface MirrorPlan {
  readonly creation: MirrorCreationRecord
  /** What is behind the mirror. */
  readonly chain: MirrorChain
  readonly warnings: readonly string[]
}

/** For which link, and how its source is asked. */
export interface PlanSubject {
  readonly link: LinkRecord
  readonly configs: LinkConfigs
  readonly source: SourceCluster
  readonly mirrorTopic: string
  readonly signal?: AbortSignal
}

/** Name of the mirror topic; throws where the request names another, or where the topic is never mirrored. */
export function mirrorNameOf(request: CreateMirrorRequest, configs: LinkConfigs): string {
  const { sourceTopicName, mirrorTopicName } = request
  requireMet(mayBeMirrored(sourceTopicName, sourceTopicName))
  const prefix = configs.must('cluster.link.prefix')
  const expected = `${prefix}${sourceTopicName}`
  if (mirrorTopicName !== undefined && mirrorTopicName !== expected)
    throw linkError('MIRROR_NAME_NOT_PREFIXED', { given: mirrorTopicName, expected, prefix })
  requireMet(mayBeMirrored(sourceTopicName, expected))
  return expected
}

/** Asks the source what there is to mirror. Throws SOURCE_NOT_AVAILABLE, SOURCE_TOPIC_NOT_FOUND, TOPIC_CONFIG_SYNCED, MIRROR_LOOP. */
export async function planMirror(
  context: OperationContext,
  subject: PlanSubject & { readonly status: SourceStatus },
  request: CreateMirrorRequest,
): Promise<MirrorPlan> {
  const { link, configs, source, status } = subject
  for (const key of copiedTopicConfigs(configs))
    if (request.configs.has(key)) throw linkError('TOPIC_CONFIG_SYNCED', { key, link: link.name })
  return await askSource(link.name, async () => {
    const { clusterId } = await source.describeCluster()
    if (clusterId !== link.remoteClusterId)
      throw new SourceError('cluster-id', `cluster ${clusterId} answers, not ${link.remoteClusterId}`)
    const topic = await readSourceTopic(source, request.sourceTopicName, link)
    const view = await status.newest()
    const described = (await source.describeTopicConfigs([topic.name])).get(topic.name) ?? new Map()
    return await planDiscovered(context, subject, { ...request, discovered: { clusterId, topic, view, described } })
  })
}

/** Decides with what the source has said; only its offsets are still asked for. Throws SourceError, MIRROR_LOOP. */
export async function planDiscovered(
  context: OperationContext,
  subject: PlanSubject,
  request: Pick<CreateMirrorRequest, 'replicationFactor' | 'configs'> & { readonly discovered: DiscoveredTopic },
): Promise<MirrorPlan> {
  const { link, configs, mirrorTopic } = subject
  const { topic, view, clusterId: sourceClusterId } = request.discovered
  const { clusterId } = context.destination
  const { chain, warnings: notChecked } = checkedChain(view, { link, sourceTopic: topic, mirrorTopic, clusterId })
  const copied = copyConfigs(context, configs, request.discovered)
  const warnings = [...copied.warnings, ...notChecked]
  if (topic.topicId === ZERO_UUID)
    warnings.push('The source has no topic ids (Kafka below 2.8): a recreated source topic cannot be told apart.')
  return {
    chain,
    creation: {
      linkId: link.linkId,
      mirrorTopic,
      sourceTopic: topic.name,
      sourceTopicId: topic.topicId,
      sourceClusterId,
      sinceMs: context.clock.nowMs(),
      replicationFactor: request.replicationFactor ?? -1,
      configs: new Map([...copied.overrides, ...request.configs]),
      startOffsets: await readStartOffsets(subject, topic),
    },
    warnings,
  }
}

async function readSourceTopic(source: SourceCluster, name: string, link: LinkRecord): Promise<SourceTopic> {
  const found = (await source.describeTopics([name])).find(topic => topic.name === name)
  const exists = found !== undefined && found.partitions.length > 0
  requireMet(existsAtSource(name, link.name, exists ? { kind: 'found', topic: found } : { kind: 'missing' }))
  return found as SourceTopic
}

/** Overrides that make the mirror's effective values equal the source's; none where they already are. */
function copyConfigs(
  context: OperationContext,
  configs: LinkConfigs,
  { described, view, topic }: DiscoveredTopic,
): { overrides: Map<string, string>; warnings: string[] } {
  const atSource = new Map([...described, ...(trueConfigs(view, topic) ?? [])])
  const overrides = new Map<string, string>()
  const warnings: string[] = []
  for (const key of copiedTopicConfigs(configs)) {
    const config = atSource.get(key)
    if (!config || config.value === null) continue
    const here = context.destination.defaultTopicConfig(key)
    if (here !== undefined && here !== config.value) overrides.set(key, config.value)
    if (here === undefined && config.overridden)
      warnings.push(`Topic config '${key}' is not known here and was not copied.`)
  }
  return { overrides, warnings }
}

async function readStartOffsets({ source, configs, signal }: PlanSubject, topic: SourceTopic): Promise<number[]> {
  const spec = parseStartOffsetSpec(configs.must('mirror.start.offset.spec'))
  const partitions = topic.partitions.map(({ partition }) => partition).sort((a, b) => a - b)
  const offsets = await source.listOffsets(topic.name, partitions, { spec, isolation: 'read_uncommitted', signal })
  return partitions.map((partition, index) => {
    const offset = offsets.get(partition)
    if (partition !== index || offset === undefined || offset < 0)
      throw new SourceError('retriable', `the source gave no start offset for partition ${index} of ${topic.name}`)
    return offset
  })
}
