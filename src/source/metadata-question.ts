/** Asks one broker for Metadata and sorts the answer; the cluster's questions, its topic directory and the broker pool use it. */
import type { Uuid } from '../core/uuid.ts'
import { type SourceBroker, SourceError, type SourcePartition, type SourceTopic } from '../link/ports.ts'
import type { BrokerConnection } from '../network/broker-connection.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { MetadataApi, type MetadataResponse } from '../protocol/messages/03-metadata.ts'
import { sourceErrorForCode } from './source-error-of.ts'

/** What the source says about one topic that was asked for. */
export type TopicAnswer =
  | { readonly kind: 'present'; readonly topic: SourceTopic }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unauthorized' }
  /** It exists, but the broker cannot describe it now (being created, ...). */
  | { readonly kind: 'unavailable'; readonly errorCode: number }

export interface MetadataAnswer {
  /** Empty for a source that tells none. */
  readonly clusterId: string
  readonly brokers: readonly SourceBroker[]
  readonly topics: ReadonlyMap<string, TopicAnswer>
}

export interface MetadataOptions {
  readonly signal?: AbortSignal | undefined
  /** Also what the credentials may do with each topic; brokers below Kafka 2.3 do not tell. */
  readonly withRights?: boolean
}

/** First version that tells what the credentials may do. */
const RIGHTS_VERSION = 8
/** The bit of READ among the authorised operations, and what stands there if they are not told. */
const READ_BIT = 1 << 3
const RIGHTS_UNTOLD = -2147483648

/** Of no topics at all: brokers and cluster id only. */
export async function askMetadata(
  connection: BrokerConnection,
  names: readonly string[] | 'all',
  { signal, withRights = false }: MetadataOptions = {},
): Promise<MetadataAnswer> {
  const topics = names === 'all' ? null : names.map(name => ({ name }))
  const version = connection.versionFor(MetadataApi.key, { min: 4, max: Number.POSITIVE_INFINITY })
  if (version === undefined)
    throw new SourceError('unsupported-version', `${connection.host}:${connection.port} is older than Kafka 2.1`)
  const includeTopicAuthorizedOperations = withRights && version >= RIGHTS_VERSION
  const request = { topics, allowAutoTopicCreation: false, includeTopicAuthorizedOperations }
  const { response } = await connection.send(MetadataApi, request, { version, signal })
  if (response.errorCode !== ErrorCode.NONE) throw sourceErrorForCode(response.errorCode, 'asking for metadata')
  return {
    clusterId: response.clusterId ?? '',
    brokers: response.brokers.map(({ nodeId, host, port, rack }) => ({ id: nodeId, host, port, rack })),
    topics: new Map(response.topics.map(topic => [topic.name ?? '', topicAnswer(topic)])),
  }
}

type MetadataTopic = MetadataResponse['topics'][number]

function topicAnswer(topic: MetadataTopic): TopicAnswer {
  switch (topic.errorCode) {
    case ErrorCode.NONE:
      return { kind: 'present', topic: sourceTopic(topic) }
    case ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
    case ErrorCode.INVALID_TOPIC_EXCEPTION:
      return { kind: 'missing' }
    case ErrorCode.TOPIC_AUTHORIZATION_FAILED:
      return { kind: 'unauthorized' }
    default:
      return { kind: 'unavailable', errorCode: topic.errorCode }
  }
}

function sourceTopic(topic: MetadataTopic): SourceTopic {
  const partitions: SourcePartition[] = topic.partitions
    .map(({ partitionIndex, leaderId, leaderEpoch }) => ({ partition: partitionIndex, leader: leaderId, leaderEpoch }))
    .sort((a, b) => a.partition - b.partition)
  const rights = topic.topicAuthorizedOperations
  return {
    name: topic.name ?? '',
    topicId: topic.topicId as Uuid,
    internal: topic.isInternal,
    partitions,
    ...(rights === RIGHTS_UNTOLD ? {} : { mayRead: (rights & READ_BIT) !== 0 }),
  }
}
