/** Source-epoch ranges: what counts as mirrored, where epochs end, what is trimmed. */
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { randomUuid } from '../../core/uuid.ts'
import { StateJournal } from '../coordination/state-journal.ts'
import { CrashingProcess } from '../fakes/crashing-process.ts'
import { FakeCluster } from '../fakes/fake-cluster.ts'
import { DesiredState } from '../replay/desired-state.ts'
import { decodeStateRecord } from '../state-records/record-codec.ts'
import { EpochLedger, endOfEpoch } from './epoch-ledger.ts'

async function emptyLedger() {
  const desired = new DesiredState()
  const stateLog = new FakeCluster().stateLog(new CrashingProcess())
  await stateLog.open(records => {
    for (const record of records) desired.apply(decodeStateRecord(record))
  })
  const key = { topicId: randomUuid(), partition: 2, sourceClusterId: 'source' }
  return new EpochLedger(key, { recordsLed: false, desired, journal: new StateJournal(stateLog) })
}

test('a range whose append never happened is none, and is replaced', async () => {
  const ledger = await emptyLedger()
  await ledger.extend([{ epoch: 3, firstOffset: 0 }], { logStartOffset: 0, leaderEpoch: 0, logEndOffset: 0 })
  equal(ledger.lastEpoch(0), undefined)
  equal(ledger.lastEpoch(1), 3)
  await ledger.extend([{ epoch: 5, firstOffset: 10 }], { logStartOffset: 0, leaderEpoch: 0, logEndOffset: 10 })
  // Killed before the append of epoch 5; the source's leader changed meanwhile.
  equal(ledger.lastEpoch(10), 3)
  await ledger.extend([{ epoch: 6, firstOffset: 10 }], { logStartOffset: 0, leaderEpoch: 0, logEndOffset: 10 })
  deepEqual(ledger.ranges(11), [
    { epoch: 3, firstOffset: 0 },
    { epoch: 6, firstOffset: 10 },
  ])
})

// The log lost its unflushed tail, and the source, truncated meanwhile, has older data there: the range of the lost tail
// counted again as soon as the log was longer than its beginning, and good data was refused.
test('a range above the log end never comes back when the log grows over it', async () => {
  const ledger = await emptyLedger()
  await ledger.extend([{ epoch: 3, firstOffset: 0 }], { logStartOffset: 0, leaderEpoch: 0, logEndOffset: 0 })
  await ledger.extend([{ epoch: 5, firstOffset: 60 }], { logStartOffset: 0, leaderEpoch: 0, logEndOffset: 60 })
  equal(ledger.lastEpoch(50), 3)
  await ledger.extend([], { logStartOffset: 0, leaderEpoch: 0, logEndOffset: 50 })
  equal(ledger.lastEpoch(71), 3)
  await ledger.extend([{ epoch: 6, firstOffset: 71 }], { logStartOffset: 0, leaderEpoch: 0, logEndOffset: 71 })
  deepEqual(
    ledger.ranges(72).map(({ epoch, firstOffset }) => [epoch, firstOffset]),
    [
      [3, 0],
      [6, 71],
    ],
  )
})

test('ranges that end below the log start are dropped, the one that covers it stays', async () => {
  const ledger = await emptyLedger()
  await ledger.extend(
    [
      { epoch: 1, firstOffset: 0 },
      { epoch: 2, firstOffset: 10 },
      { epoch: 3, firstOffset: 20 },
    ],
    { logStartOffset: 0, leaderEpoch: 0, logEndOffset: 0 },
  )
  await ledger.extend([{ epoch: 4, firstOffset: 30 }], { logStartOffset: 15, leaderEpoch: 0, logEndOffset: 30 })
  deepEqual(
    ledger.ranges(31).map(range => range.epoch),
    [2, 3, 4],
  )
})

test('an epoch ends where the next one begins, the last at the log end', () => {
  const ranges = [
    { epoch: 2, firstOffset: 10 },
    { epoch: 5, firstOffset: 20 },
  ]
  equal(endOfEpoch(ranges, 5, 33), 33)
  equal(endOfEpoch(ranges, 4, 33), 20)
  equal(endOfEpoch(ranges, 2, 33), 20)
  equal(endOfEpoch(ranges, 1, 33), undefined)
})
