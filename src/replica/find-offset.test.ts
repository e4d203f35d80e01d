/** What a leader says about offsets before it knows how far its followers are (KIP-207). */
import { rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { PartitionBench } from './fakes/open-partition.ts'
import { findOffset, offsetSpec } from './find-offset.ts'
import { PartitionUnavailable } from './partition-unavailable.ts'

const TIME = 1_700_000_000_000n
const context = {
  nowMs: () => 0,
  lagTimeMaxMs: 1000,
  isEligible: () => true,
  brokerEpoch: () => 7,
  isrChangeWanted: () => {},
}

test('a new leader does not tell the end before its high watermark has reached the start of its epoch', async () => {
  const bench = new PartitionBench()
  const alone = { replicas: [1, 2], isr: [1] }
  const partition = await bench.open({ assignment: alone, context })
  const records = [0n, 1n].map(after => ({ timestamp: TIME + after, key: null, value: Buffer.from('v') }))
  await partition.log.appendAsLeader(buildBatch({ records }), { leaderEpoch: 0, assignOffsets: true })
  await partition.lead({ ...partition.assignment, isr: [1, 2], leaderEpoch: 1, partitionEpoch: 1 })
  const ask = (timestamp: bigint, visibility: 'read_uncommitted' | 'log_end' = 'read_uncommitted') =>
    findOffset(partition, { timestamp, visibility, currentLeaderEpoch: -1 })
  const unknown = (error: unknown) =>
    error instanceof PartitionUnavailable && error.errorCode === ErrorCode.OFFSET_NOT_AVAILABLE
  await rejects(ask(offsetSpec.latest), unknown)
  await rejects(ask(TIME), unknown)
  strictEqual((await ask(offsetSpec.latest, 'log_end')).offset, 2)
  strictEqual((await ask(offsetSpec.earliest)).offset, 0)

  partition.followerFetched({ replicaId: 2, brokerEpoch: 7, fetchOffset: 2 })
  strictEqual((await ask(offsetSpec.latest)).offset, 2)
  strictEqual((await ask(TIME)).offset, 0)
  strictEqual((await ask(TIME + 5n)).offset, -1)
})
