/** A partition that a Kafka broker leads, read over the network: what its leader lets others read, and whether it was compacted. */
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { MirrorLogConflict } from '../../link/ports.ts'
import { batchesIn } from '../../protocol/batches/batch-iteration.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { BrokerQuestions } from './broker-questions.ts'
import { DistantLog } from './distant-log.ts'
import { FakeBrokers } from './fakes/fake-brokers.ts'

const batchAt = (baseOffset: number, count: number): Buffer => {
  const records = Array.from({ length: count }, (_, offsetDelta) => ({
    offsetDelta,
    timestamp: 1n,
    key: null,
    value: null,
  }))
  return buildBatch({ baseOffset, records })
}

/** Broker 2 leads it, and has one batch more than the others. */
function scene(batches: readonly Buffer[], policy = 'delete') {
  const brokers = new FakeBrokers()
  const headers = batches.map(bytes => [...batchesIn(bytes)][0])
  const end = (headers.at(-1)?.lastOffset ?? -1) + 1
  brokers.answers.set(2, {
    ListOffsetsRequest: ({ replicaId, topics }: ListOffsets) => {
      const timestamp = topics[0]?.partitions[0]?.timestamp
      const latest = replicaId === -2 ? end + 4 : end
      const offset = BigInt(timestamp === -2n ? 0 : latest)
      return { topics: [{ name: 'orders', partitions: [{ partitionIndex: 0, errorCode: 0, timestamp: -1n, offset }] }] }
    },
    FetchRequest: ({ topics }: Fetch) => {
      const from = Number(topics[0]?.partitions[0]?.fetchOffset)
      const found = batches.find((_, index) => (headers[index]?.lastOffset ?? -1) >= from)
      const partition = { partitionIndex: 0, errorCode: from > end ? 1 : 0, highWatermark: BigInt(end) }
      const told = { ...partition, abortedTransactions: null, records: found ?? Buffer.alloc(0) }
      return { responses: [{ topic: 'orders', partitions: [told] }] }
    },
    DescribeProducersRequest: () => {
      const partition = { partitionIndex: 0, errorCode: 0, errorMessage: null, activeProducers: [] }
      return { topics: [{ name: 'orders', partitions: [partition] }] }
    },
    DescribeConfigsRequest: () => {
      const config = { name: 'cleanup.policy', value: policy, readOnly: false, isSensitive: false, synonyms: [] }
      return {
        results: [{ errorCode: 0, errorMessage: null, resourceType: 2, resourceName: 'orders', configs: [config] }],
      }
    },
  })
  const questions = new BrokerQuestions(brokers as never)
  const placed = { leader: 2, leaderEpoch: 4 }
  return { questions, open: () => DistantLog.open({ topic: 'orders', partition: 0, placed, questions }) }
}

interface ListOffsets {
  readonly replicaId: number
  readonly topics: readonly { readonly partitions: readonly { readonly timestamp: bigint }[] }[]
}

interface Fetch {
  readonly topics: readonly { readonly partitions: readonly { readonly fetchOffset: bigint }[] }[]
}

test('it is read up to its high watermark, and what is above that can be asked for', async () => {
  const { questions, open } = scene([batchAt(0, 3), batchAt(3, 2)])
  const log = await open()
  deepEqual([log.state().logStartOffset, log.state().logEndOffset, log.state().leaderEpoch], [0, 5, 4])
  const [batch] = batchesIn(await log.readBatches({ offset: 4, maxBytes: 1 }))
  deepEqual([batch?.baseOffset, batch?.lastOffset], [3, 4])
  equal(await questions.logEnd(2, 'orders', 0), 9)
  await rejects(log.readBatches({ offset: 7, maxBytes: 1 }), /broker 2 answers Fetch with OFFSET_OUT_OF_RANGE/)
  await rejects(log.truncateTo(), MirrorLogConflict)
})

test('it counts as compacted where its policy says so and something is missing in it', async () => {
  const thin = [batchAt(0, 3), batchAt(5, 2)]
  const compactedTo = async (batches: readonly Buffer[], policy: string) =>
    await (await scene(batches, policy).open()).compactedTo()
  deepEqual(
    [
      await compactedTo(thin, 'compact'),
      await compactedTo(thin, 'delete'),
      await compactedTo([batchAt(0, 3), batchAt(3, 2)], 'compact,delete'),
    ],
    [7, 0, 0],
  )
})
