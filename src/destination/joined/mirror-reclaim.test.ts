/** A node that leads a mirror again after others did: their markers are cut, by an epoch that tells followers; their records are theirs. */
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { buildEndMarker } from '../../protocol/batches/control-batch.ts'
import { assignmentOf, PartitionBench } from '../../replica/fakes/open-partition.ts'
import { MirrorPartition } from '../../replica/mirror-partition.ts'
import { MirrorReclaim, type ReclaimedLeadership } from './mirror-reclaim.ts'

const record = (baseOffset: number) =>
  buildBatch({ baseOffset, leaderEpoch: 0, records: [{ timestamp: 0n, key: null, value: Buffer.from('v') }] })
const marker = (offset: number) =>
  buildEndMarker({
    ...{ type: 'commit', producerId: 5n, producerEpoch: 0, coordinatorEpoch: 0, timestamp: 0n, leaderEpoch: 0 },
    offset,
  })

/** Mirrored under epoch 0 up to offset 2, then led by a Kafka broker under epoch 1 that appended `theirs`, then led here under 2. */
async function ledAgain(theirs: readonly Buffer[], leadership: ReclaimedLeadership, failures: string[] = []) {
  const bench = new PartitionBench()
  const partition = await bench.open({ assignment: { leaderEpoch: 0 } })
  const mirror = new MirrorPartition(partition, bench)
  await mirror.append(Buffer.concat([record(0), record(1)]), { endOffset: 0, leaderEpoch: 0 })
  await partition.lead(assignmentOf({ leaderEpoch: 1 }))
  for (const batch of theirs) await mirror.append(batch, { endOffset: partition.log.logEndOffset, leaderEpoch: 1 })
  await partition.lead(assignmentOf({ leaderEpoch: 2 }))
  const told: string[] = []
  const reclaim = new MirrorReclaim({
    leadershipOf: () => leadership,
    writtenByOthers: async (_id, { reason }) => void told.push(`failed: ${reason}`),
    markersCut: async (_id, { reason }) => {
      const failure = failures.shift()
      if (failure !== undefined) throw new Error(failure)
      told.push(`cut: ${reason}`)
    },
    handBack: async (_id, index) => void told.push(`handed back ${index}`),
    fork: async (_id, index) => void told.push(`forked ${index}`),
  })
  return { bench, partition, told, again: () => reclaim.reclaim(partition, mirror) }
}

test('markers behind the mirrored records are cut, and followers that have them are told where theirs part', async () => {
  const mirrored = { kind: 'mirror', ledEpochs: new Set([0]) } as const
  const { bench, partition, told, again } = await ledAgain([marker(2), marker(3)], mirrored)
  await again()
  deepEqual(told, ['cut: 2 markers of others were cut (offsets 2 to 3)'])
  deepEqual([partition.log.logEndOffset, partition.highWatermark], [2, 2])
  // A follower asks with the epoch of its last batch, and cuts where the largest epoch that both know ends.
  deepEqual(partition.log.endOffsetForEpoch(1), { epoch: 0, endOffset: 2 })
  await again()
  equal(told.length, 1, 'once in an epoch')
  await bench.close()
})

test('markers are cut when that is durable, so that no cut goes untold', async () => {
  const mirrored = { kind: 'mirror', ledEpochs: new Set([0]) } as const
  const { bench, partition, told, again } = await ledAgain([marker(2)], mirrored, ['no coordinator'])
  await rejects(again(), /no coordinator/)
  equal(partition.log.logEndOffset, 3)
  await again()
  deepEqual(told, ['cut: 1 markers of others were cut (offsets 2 to 2)'])
  equal(partition.log.logEndOffset, 2)
  await bench.close()
})

test('records of others are never cut: the mirror fails and they get the partition back', async () => {
  const mirrored = { kind: 'mirror', ledEpochs: new Set([0]) } as const
  const { bench, partition, told, again } = await ledAgain([marker(2), record(3)], mirrored)
  await rejects(again(), /somebody else wrote records from offset 3 on/)
  match(told[0] ?? '', /^failed: somebody else wrote records/)
  equal(told[1], 'handed back 0')
  equal(partition.log.logEndOffset, 4)
  await bench.close()
})

test('nothing is touched while the state is not known, nor of a topic that is no mirror any more', async () => {
  const unknown = await ledAgain([marker(2)], { kind: 'unknown' })
  await rejects(unknown.again(), /not known yet/)
  equal(unknown.partition.log.logEndOffset, 3)
  await unknown.bench.close()
  const ordinary = await ledAgain([record(2)], { kind: 'ordinary' })
  await ordinary.again()
  deepEqual([ordinary.partition.log.logEndOffset, ordinary.told], [3, []])
  await ordinary.bench.close()
})
