/** Asks leaders where the source's history of an epoch ends (KIP-320), before a partition is fetched; the fetch slots call it. */
import { offsetFromWire } from '../../core/offset.ts'
import { SourceError } from '../../link/ports.ts'
import type { BrokerConnection } from '../../network/broker-connection.ts'
import { OffsetForLeaderEpochApi } from '../../protocol/messages/23-offset-for-leader-epoch.ts'
import type { PartitionFetch } from './partition-fetch.ts'

export interface EpochQuestion {
  readonly partition: PartitionFetch
  /** Checked by the leader: a question on the grounds of outdated metadata is refused. */
  readonly currentLeaderEpoch: number
  readonly requestedEpoch: number
}

export interface EpochAnswer {
  readonly question: EpochQuestion
  readonly errorCode: number
  /** Both -1 when the source does not know the epoch. */
  readonly epoch: number
  readonly endOffset: number
}

/** One request for all; a partition missing in the answer is missing here. Rejects with the connection's error or SourceError. */
export async function askEpochEnds(
  connection: BrokerConnection,
  questions: readonly EpochQuestion[],
  signal: AbortSignal,
): Promise<EpochAnswer[]> {
  if (connection.versionFor(OffsetForLeaderEpochApi.key) === undefined) {
    const where = `${connection.host}:${connection.port}`
    throw new SourceError('unsupported-version', `${where} is older than Kafka 2.1: epochs cannot be compared`)
  }
  const byTopic = Map.groupBy(questions, ({ partition }) => partition.topic)
  const topics = [...byTopic].map(([topic, asked]) => ({
    topic,
    partitions: asked.map(({ partition, currentLeaderEpoch, requestedEpoch }) => ({
      partition: partition.partition,
      currentLeaderEpoch,
      leaderEpoch: requestedEpoch,
    })),
  }))
  const { response } = await connection.send(OffsetForLeaderEpochApi, { replicaId: -1, topics }, { signal })
  return response.topics.flatMap(({ topic, partitions }) =>
    partitions.flatMap(({ partition, errorCode, leaderEpoch, endOffset }) => {
      const question = byTopic.get(topic)?.find(asked => asked.partition.partition === partition)
      return question ? { question, errorCode, epoch: leaderEpoch, endOffset: offsetFromWire(endOffset) } : []
    }),
  )
}
