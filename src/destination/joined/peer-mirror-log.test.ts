/** The log of a mirror partition on another node: what it answers, and what fences it. */
import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { randomUuid } from '../../core/uuid.ts'
import { CrashingProcess } from '../../link/fakes/crashing-process.ts'
import { batchAt } from '../../link/fakes/engine-world.ts'
import { FakeMirrorLog, FakePartition } from '../../link/fakes/fake-mirror-log.ts'
import { MirrorLogConflict } from '../../link/ports.ts'
import { PartitionUnavailable } from '../../replica/partition-unavailable.ts'
import { MirrorLogService } from './mirror-log-service.ts'
import type { LogRequest } from './peer-log-calls.ts'
import { PeerLogs } from './peer-logs.ts'
import { PeerMirrorLog } from './peer-mirror-log.ts'

const topicId = randomUuid()

function scene() {
  const partition = new FakePartition()
  partition.leaderEpoch = 5
  const state = { ending: 'it does not stop' as string | undefined, gone: false, isDown: false }
  const service = new MirrorLogService({
    async open() {
      if (state.gone) throw new PartitionUnavailable(6, 'it is led by 1003 now')
      return new FakeMirrorLog(partition, new CrashingProcess())
    },
    endingProblem: () => state.ending,
  })
  const sent: number[] = []
  const logs = new PeerLogs({
    async send(_node, requests) {
      sent.push(requests.length)
      if (state.isDown) throw new Error('node 1002 does not answer')
      // As it travels.
      const heard = JSON.parse(JSON.stringify(requests)) as LogRequest[]
      return JSON.parse(JSON.stringify(await service.serve(heard)))
    },
  })
  const call: PeerLogs['call'] = (node, request) => logs.call(node, request)
  const open = (leaderEpoch = 5) =>
    PeerMirrorLog.open({ topicId, partition: 0, name: 'orders-0', leader: 1002, leaderEpoch, call })
  return { partition, state, open, sent }
}

test('it is looked at and read as if it were here', async () => {
  const { partition, open } = scene()
  partition.append(batchAt(0, 3, { producerId: 2n ** 60n, transactional: true }))
  const log = await open()
  deepStrictEqual(
    [log.state().logEndOffset, log.producerIdMax(), log.producerIds(), log.openTransactions()],
    [3, 2n ** 60n, [2n ** 60n], [{ producerId: 2n ** 60n, producerEpoch: 0, firstOffset: 0 }]],
  )
  strictEqual((await log.readBatches({ offset: 0, maxBytes: 100 })).length, batchAt(0, 3).length)
  strictEqual((await log.lastBatch())?.lastOffset, 2)
  partition.append(batchAt(3, 2))
  strictEqual(log.state().logEndOffset, 3)
  strictEqual((await log.refresh()).logEndOffset, 5)
  strictEqual(log.state().logEndOffset, 5)
  await log.flush()
  strictEqual(partition.flushedOffset, 5)
  partition.bytesAtRisk = 17
  strictEqual(await log.retentionBytesAtRisk({ retentionMs: 1000, retentionBytes: -1 }), 17)
  strictEqual(await log.retentionBytesAtRisk({ retentionMs: -1, retentionBytes: -1 }), 0)
  strictEqual((await log.raiseLogStart(0)).logStartOffset, 0)
})

test('another leader epoch, and another leader, change nothing', async () => {
  const { partition, state, open } = scene()
  await rejects(open(4), MirrorLogConflict)
  const log = await open()
  partition.leaderEpoch = 6
  await rejects(log.flush(), /leader epoch 6 here, not 5/)
  partition.leaderEpoch = 5
  state.gone = true
  await rejects(log.refresh(), MirrorLogConflict)
})

test('it is ended only where its node knows that the mirror stops, and twice is as once', async () => {
  const { partition, state, open } = scene()
  partition.append(batchAt(0, 2, { producerId: 9n, transactional: true }))
  const log = await open()
  await rejects(log.abortOpenTransactions(), /does not stop/)
  await rejects(log.startAt(10), /does not stop/)
  await rejects(log.reclaim(), /does not stop/)
  strictEqual(partition.logEndOffset, 2)
  state.ending = undefined
  await log.reclaim()
  deepStrictEqual(
    (await log.abortOpenTransactions()).map(({ producerId }) => producerId),
    [9n],
  )
  deepStrictEqual([log.state().logEndOffset, log.openTransactions()], [3, []])
  deepStrictEqual(await log.abortOpenTransactions(), [])
  strictEqual((await log.startAt(2)).logEndOffset, 3)
})

test('nothing is mirrored into it, and it is not cut', async () => {
  const log = await scene().open()
  await rejects(log.append(), /node 1002 leads orders-0/)
  await rejects(log.truncateTo(), MirrorLogConflict)
  await rejects(log.raiseLogStart(3), MirrorLogConflict)
})

test('what is asked in one turn goes together, and fails together where the node does not answer', async () => {
  const { state, open, sent } = scene()
  const log = await open()
  sent.length = 0
  await Promise.all(Array.from({ length: 70 }, () => log.refresh()))
  deepStrictEqual(sent, [64, 6])
  state.isDown = true
  const [first, second] = await Promise.allSettled([log.refresh(), log.flush()])
  match(String(first.status === 'rejected' && first.reason), /does not answer/)
  strictEqual(second.status, 'rejected')
})
