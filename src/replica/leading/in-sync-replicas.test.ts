/** ISR and high watermark of a led partition: who counts, who may join, who falls out, and what a refused change leaves. */
import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../protocol/errors.ts'
import { assignmentOf } from '../fakes/open-partition.ts'
import { PartitionUnavailable } from '../partition-unavailable.ts'
import { InSyncReplicas } from './in-sync-replicas.ts'

const LAG_MS = 1000

/** Broker 9 leads `[9, 1, 2]`; brokers 1 and 2 are registered under epochs 11 and 12. */
function bench(isr: readonly number[] = [9, 1, 2], logEndOffset = 100) {
  const clock = { nowMs: 50_000 }
  const epochs = new Map([
    [1, 11],
    [2, 12],
  ])
  const fenced = new Set<number>()
  const assignment = assignmentOf({ replicas: [9, 1, 2], isr, leader: 9, leaderEpoch: 5, partitionEpoch: 20 })
  const replicas = new InSyncReplicas({
    brokerId: 9,
    assignment,
    logEndOffset,
    context: {
      nowMs: () => clock.nowMs,
      lagTimeMaxMs: LAG_MS,
      isEligible: (id, epoch) => !fenced.has(id) && (epoch === -1 || epochs.get(id) === epoch),
      brokerEpoch: id => epochs.get(id),
      isrChangeWanted: () => {},
    },
  })
  const fetched = (replicaId: number, fetchOffset: number, end = logEndOffset) =>
    replicas.fetched({ replicaId, brokerEpoch: epochs.get(replicaId) ?? -1, fetchOffset }, end)
  return { replicas, clock, fenced, epochs, assignment, fetched }
}

test('the high watermark waits for every member of the ISR, also for one that has not fetched yet', () => {
  const { replicas, fetched } = bench()
  fetched(1, 100)
  strictEqual(replicas.end(100), -1)
  fetched(2, 40)
  strictEqual(replicas.end(100), 40)
  fetched(2, 100)
  strictEqual(replicas.end(100), 100)
})

test('a follower that is caught up but no member yet holds the high watermark; a straggler does not', () => {
  const { replicas, fetched, clock } = bench([9, 1])
  fetched(1, 100)
  fetched(2, 60)
  strictEqual(replicas.end(100), 100)
  fetched(2, 100)
  fetched(1, 110, 110)
  strictEqual(replicas.end(110), 100)
  clock.nowMs += LAG_MS + 1
  strictEqual(replicas.end(110), 110)
})

test('a follower joins when it is at the high watermark and past the start of the epoch', () => {
  const { replicas, fetched } = bench([9, 1])
  fetched(2, 90)
  strictEqual(replicas.expandBy(2, { logEndOffset: 120, highWatermark: 80 }), false)
  fetched(2, 100, 120)
  strictEqual(replicas.expandBy(2, { logEndOffset: 120, highWatermark: 110 }), false)
  fetched(2, 110, 120)
  strictEqual(replicas.expandBy(2, { logEndOffset: 120, highWatermark: 110 }), true)
  deepStrictEqual(replicas.proposal?.isr, [9, 1, 2])
  deepStrictEqual([...(replicas.proposal?.memberEpochs ?? [])].at(-1), [2, 12])
})

test('while a change is under way the high watermark counts both sets, and promises rest on the smaller', () => {
  const { replicas, fetched, clock, assignment } = bench()
  fetched(1, 100)
  fetched(2, 30)
  clock.nowMs += LAG_MS + 1
  fetched(1, 100)
  strictEqual(replicas.shrink({ logEndOffset: 100, highWatermark: 30 }), true)
  deepStrictEqual(replicas.proposal?.isr, [9, 1])
  deepStrictEqual(replicas.certain, [9, 1])
  strictEqual(replicas.end(100), 30)
  strictEqual(replicas.shrink({ logEndOffset: 100, highWatermark: 30 }), false)
  replicas.follow({ ...assignment, isr: [9, 1], partitionEpoch: 21 }, 100)
  strictEqual(replicas.proposal, undefined)
  strictEqual(replicas.end(100), 100)
})

test('a refused change is forgotten, one that an older image cannot judge stays', () => {
  const { replicas, fetched, assignment } = bench([9, 1])
  fetched(2, 100)
  replicas.expandBy(2, { logEndOffset: 100, highWatermark: 100 })
  const proposal = replicas.proposal
  replicas.follow({ ...assignment, isr: [9, 1], partitionEpoch: 20 }, 100)
  strictEqual(replicas.proposal, proposal)
  if (proposal) replicas.refused(proposal)
  strictEqual(replicas.proposal, undefined)
  strictEqual(replicas.expandBy(2, { logEndOffset: 100, highWatermark: 100 }), true)
})

test('a fenced broker, and one that fetches under an older registration, do not join', () => {
  const { replicas, fetched, fenced, epochs } = bench([9, 1])
  fenced.add(2)
  fetched(2, 100)
  strictEqual(replicas.expandBy(2, { logEndOffset: 100, highWatermark: 100 }), false)
  fenced.delete(2)
  epochs.set(2, 13)
  throws(
    () => replicas.fetched({ replicaId: 2, brokerEpoch: 12, fetchOffset: 100 }, 100),
    (error: unknown) => error instanceof PartitionUnavailable && error.errorCode === ErrorCode.NOT_LEADER_OR_FOLLOWER,
  )
  strictEqual(replicas.expandBy(2, { logEndOffset: 100, highWatermark: 100 }), false)
})

test('a broker that the image does not know as replica is asked to try again', () => {
  const { replicas } = bench()
  throws(
    () => replicas.fetched({ replicaId: 7, brokerEpoch: -1, fetchOffset: 100 }, 100),
    (error: unknown) => error instanceof PartitionUnavailable && error.errorCode === ErrorCode.UNKNOWN_LEADER_EPOCH,
  )
})

test('a follower that keeps the pace of a growing log stays in sync without ever being at its end', () => {
  const { replicas, fetched, clock } = bench()
  let end = 100
  for (let round = 0; round < 20; round++) {
    fetched(1, end - 10, end)
    fetched(2, end, end)
    end += 10
    clock.nowMs += LAG_MS / 2
  }
  strictEqual(replicas.shrink({ logEndOffset: end, highWatermark: 0 }), false)
})

test('in a new leader epoch every follower has to show up again', () => {
  const { replicas, fetched, assignment } = bench()
  fetched(1, 100)
  fetched(2, 100)
  replicas.follow({ ...assignment, leaderEpoch: 6, partitionEpoch: 21 }, 120)
  strictEqual(replicas.end(120), -1)
  deepStrictEqual([...replicas.followerEnds.values()], [-1, -1])
})
