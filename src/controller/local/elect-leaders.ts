/** The electLeaders command (KIP-183, KIP-460) where one broker is all there is. Called by the local controller. */
import type { ElectionType, NamedPartition } from '../../metadata/cluster-commands.ts'
import { configLayers, effectiveTopicConfig } from '../../metadata/config-resolution.ts'
import type { ApiError, ConfigAlteration } from '../../metadata/controller-port.ts'
import { type MetadataImage, type PartitionImage, type TopicImage, topicByName } from '../../metadata/metadata-image.ts'
import { topicConfigs } from '../../metadata/topic-configs.ts'
import type { MetadataRecordInput } from '../../protocol/metadata-records/registry.ts'
import { partitionChange } from './alter-partition.ts'
import { accepted, type Decision, refused } from './decision.ts'
import type { OwnProperties } from './update-features.ts'

interface Place {
  readonly topic: TopicImage
  readonly partition: number
  readonly state: PartitionImage
}

/** `partitions` null = all; then those that need no election are left out of the answer. */
export function electLeaders(
  image: MetadataImage,
  type: ElectionType,
  partitions: readonly NamedPartition[] | null,
): Decision<(ApiError & NamedPartition)[]> {
  const records: MetadataRecordInput[] = []
  const elect = (named: NamedPartition): ApiError & NamedPartition => {
    const topic = topicByName(image, named.topic)
    const state = topic?.partitions[named.partition]
    if (topic === undefined) return { ...named, ...unknown(`No such topic as ${named.topic}`) }
    if (state === undefined) return { ...named, ...unknown(`No such partition as ${named.topic}-${named.partition}`) }
    const place = { topic, partition: named.partition, state }
    const found = type === 'preferred' ? preferredLeader(image, place) : uncleanLeader(image, place)
    if (typeof found !== 'number') return { ...named, ...found }
    records.push(leadBy(image, place, found))
    return { ...named, ...accepted }
  }
  if (partitions !== null) return { answer: partitions.map(elect), records }
  const answer = [...image.topics.values()].flatMap(topic =>
    topic.partitions.flatMap((state, partition) =>
      needsElection(state, type) ? [elect({ topic: topic.name, partition })] : [],
    ),
  )
  return { answer, records }
}

const UNCLEAN = 'unclean.leader.election.enable'

/** Can these alterations be what a partition without a leader waits for? */
export const mayElect = (alterations: readonly ConfigAlteration[]): boolean =>
  alterations.some(({ changes }) => changes.some(({ key }) => key === UNCLEAN))

/** Partitions without a leader whose config allows one that may lack records get this broker, if they have a replica on it. */
export function uncleanElections(
  image: MetadataImage,
  { nodeId, serverProperties: file }: OwnProperties,
): Decision<void> {
  const records: MetadataRecordInput[] = []
  const config = topicConfigs.get(UNCLEAN)
  const mayBeUnclean = (topic: string): boolean => {
    const text = config && effectiveTopicConfig(config, configLayers(image, { brokerId: nodeId, file, topic }))
    return text !== undefined && config?.row.parse(text) === true
  }
  for (const topic of image.topics.values())
    for (const [partition, state] of topic.partitions.entries())
      if (state.leader < 0 && state.replicas.includes(nodeId) && mayBeUnclean(topic.name))
        records.push(leadBy(image, { topic, partition, state }, nodeId))
  return { records, answer: undefined }
}

const unknown = (message: string): ApiError => refused('UNKNOWN_TOPIC_OR_PARTITION', message)

const notNeeded: ApiError = refused('ELECTION_NOT_NEEDED', 'Leader election not needed for topic partition.')

const needsElection = ({ leader, replicas }: PartitionImage, type: ElectionType): boolean =>
  type === 'preferred' ? leader !== replicas[0] : leader < 0

const isAlive = (image: MetadataImage, brokerId: number): boolean => image.brokers.get(brokerId)?.fenced === false

function preferredLeader(image: MetadataImage, { state }: Place): number | ApiError {
  const [preferred = -1] = state.replicas
  if (state.leader === preferred) return notNeeded
  return state.isr.includes(preferred) && isAlive(image, preferred)
    ? preferred
    : refused('PREFERRED_LEADER_NOT_AVAILABLE', `broker ${preferred} is not in sync or not in service`)
}

function uncleanLeader(image: MetadataImage, { state }: Place): number | ApiError {
  if (state.leader >= 0) return notNeeded
  return (
    state.replicas.find(id => isAlive(image, id)) ??
    refused('ELIGIBLE_LEADERS_NOT_AVAILABLE', 'no broker in service has a replica')
  )
}

function leadBy(image: MetadataImage, { topic, partition, state }: Place, leader: number): MetadataRecordInput {
  const clean = state.isr.includes(leader)
  return partitionChange(
    image,
    { topicId: topic.id, partition },
    { leader, ...(clean ? {} : { isr: [leader] }), ...withoutElr(state) },
  )
}

const withoutElr = ({ eligibleLeaderReplicas, lastKnownElr }: PartitionImage) =>
  eligibleLeaderReplicas.length + lastKnownElr.length === 0 ? {} : { eligibleLeaderReplicas: [], lastKnownElr: [] }
