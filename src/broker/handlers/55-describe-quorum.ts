/**
 * DescribeQuorum (55), versions 0–2 (KIP-595); the dispatch table calls it.
 *
 * 0: flexible from the start. 1: when replicas fetched last (KIP-836). 2: directories, addresses of the voters, texts of errors
 * (KIP-853).
 *
 * Only partition 0 of the metadata log has a quorum; a request that names anything else, or that twice, is answered with
 * UNKNOWN_TOPIC_OR_PARTITION for all it names, as in Kafka. A standalone node's controller has no listener of its own: its
 * address is that of the node.
 */
import type { QuorumReplica } from '../../metadata/cluster-commands.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { CLUSTER_METADATA_TOPIC } from '../../metadata/topic-names.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  DescribeQuorumApi,
  type DescribeQuorumRequest,
  type DescribeQuorumResponseInput,
} from '../../protocol/messages/55-describe-quorum.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { type BrokerContext, handlerOf } from '../handler.ts'

const FETCH_TIMES_VERSION = 1
const ADDRESSES_VERSION = 2

type PartitionAnswer = DescribeQuorumResponseInput['topics'][number]['partitions'][number]

export const describeQuorum = handlerOf(DescribeQuorumApi, {
  versions: { min: 0, max: 2 },
  async handle(broker, request, origin) {
    requireAllowedOnCluster(broker, origin, 'DESCRIBE')
    const { topics } = request
    if (topics.length === 0) return { errorCode: ErrorCode.NONE, topics: [], nodes: [] }
    if (!isTheQuorum(topics))
      return {
        errorCode: ErrorCode.NONE,
        topics: topics.map(({ topicName, partitions }) => ({
          topicName,
          partitions: partitions.map(({ partitionIndex }) => unknownPartition(partitionIndex)),
        })),
        nodes: [],
      }
    return await quorumAnswer(broker, origin)
  },
  failed: (_request, errorCode) => ({ errorCode, topics: [], nodes: [] }),
})

const isTheQuorum = ([first, ...others]: DescribeQuorumRequest['topics']): boolean =>
  others.length === 0 &&
  first?.topicName === CLUSTER_METADATA_TOPIC &&
  first.partitions.length === 1 &&
  first.partitions[0]?.partitionIndex === 0

const unknownPartition = (partitionIndex: number): PartitionAnswer => ({
  partitionIndex,
  errorCode: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
  leaderId: 0,
  leaderEpoch: 0,
  highWatermark: 0n,
  currentVoters: [],
  observers: [],
})

async function quorumAnswer(
  { controller, clock }: BrokerContext,
  { version, image }: { readonly version: number; readonly image: MetadataImage },
): Promise<DescribeQuorumResponseInput> {
  const { leaderId, leaderEpoch, highWatermark, voters, observers } = await controller.cluster.describeQuorum()
  const nowMs = BigInt(clock.nowMs())
  const told = ({ id, directoryId, logEndOffset }: QuorumReplica) => ({
    replicaId: id,
    ...(version >= ADDRESSES_VERSION ? { replicaDirectoryId: directoryId } : {}),
    logEndOffset: BigInt(logEndOffset),
    // The leader is in step with itself; nobody else is here to be told about.
    ...(version >= FETCH_TIMES_VERSION && id === leaderId
      ? { lastFetchTimestamp: nowMs, lastCaughtUpTimestamp: nowMs }
      : {}),
  })
  const partition: PartitionAnswer = {
    partitionIndex: 0,
    errorCode: ErrorCode.NONE,
    leaderId,
    leaderEpoch,
    highWatermark: BigInt(highWatermark),
    currentVoters: voters.map(told),
    observers: observers.map(told),
  }
  return {
    errorCode: ErrorCode.NONE,
    topics: [{ topicName: CLUSTER_METADATA_TOPIC, partitions: [partition] }],
    nodes:
      version >= ADDRESSES_VERSION ? voters.map(({ id }) => ({ nodeId: id, listeners: listenersOf(image, id) })) : [],
  }
}

const listenersOf = (image: MetadataImage, id: number) =>
  [...(image.brokers.get(id)?.listeners.values() ?? [])].map(({ name, host, port }) => ({ name, host, port }))
