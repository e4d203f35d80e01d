/** What the link coordinator writes of what leaders of mirror partitions propose, and what it refuses. */
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { MirrorChanges } from '../coordination/mirror-changes.ts'
import { StateJournal } from '../coordination/state-journal.ts'
import { sampleLink, sampleMirror } from '../fakes/sample-records.ts'
import type { StateRecord } from '../ports.ts'
import { DesiredState } from '../replay/desired-state.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import {
  decodeStateRecord,
  linkStateRecord,
  mirrorStateRecord,
  sourceEpochsStateRecord,
} from '../state-records/record-codec.ts'
import { acceptProposal } from './accept-proposal.ts'
import type { OperationContext } from './operation-context.ts'

const active = sampleMirror({ failures: [], troubles: [], stopPoints: [], together: [] })
const stopping = { verb: 'failover', sinceMs: 1, keepsRetention: false, handOver: undefined } as const

/** The coordinator with one mirror; `ask` proposes and resolves to what was written, or why not. */
function coordinator(mirror: MirrorRecord = active) {
  const desired = new DesiredState()
  const appended: StateRecord[] = []
  const apply = (records: readonly StateRecord[]) => {
    for (const record of records) desired.apply(decodeStateRecord(record))
  }
  const journal = new StateJournal({
    open: async () => {},
    close: async () => {},
    append: async records => {
      appended.push(...records)
      apply(records)
    },
  })
  apply([linkStateRecord(sampleLink()), mirrorStateRecord(mirror)])
  let refusal: unknown
  const logger = {
    ...silentLogger,
    warn: (_message: string, fields?: Record<string, unknown>) => {
      refusal = fields?.['refusal']
    },
  }
  const changes = new MirrorChanges({ desired, journal, clock: new ManualClock() })
  const context = { desired, journal, changes, logger } as unknown as OperationContext
  const ask = async (record: StateRecord, how: { leads?: number; isCurrent?: boolean } = {}) => {
    const before = appended.length
    refusal = undefined
    await acceptProposal(context, {
      sender: 'node 1002',
      records: [record],
      isCurrent: () => how.isCurrent ?? true,
      leads: (_topicId, partition) => partition === (how.leads ?? 1),
    })
    return appended.length > before ? 'written' : String(refusal)
  }
  return { ask, desired }
}

const epochs = (partition: number) =>
  sourceEpochsStateRecord({
    ...{ topicId: active.topicId, partition, sourceClusterId: active.sourceClusterId },
    ranges: [{ epoch: 3, firstOffset: 10 }],
    ledEpochs: [7],
  })

test('epochs of a partition are written for who leads it', async () => {
  const { ask, desired } = coordinator()
  equal(await ask(epochs(1)), 'written')
  deepEqual(desired.ledEpochs(active.topicId, 1, active.sourceClusterId), [7])
  match(await ask(epochs(0)), /does not lead partition 0/)
  match(await ask(epochs(1), { isCurrent: false }), /before another record/)
})

// Who came to lead a partition after all leaders had said that they stopped would have appended behind the stop point.
test('a mirror that stops, or has stopped, begins no new leader epoch', async () => {
  match(await coordinator({ ...active, stopping }).ask(epochs(1)), /stops/)
  match(await coordinator({ ...active, state: 'STOPPED' }).ask(epochs(1)), /is no mirror/)
})

test('a leader may tell of failures, troubles and incidents, and of nothing else', async () => {
  const failures = [{ partition: 1, error: 'CORRUPT_BATCH', reason: 'bad', timeMs: 4 }] as const
  const failed: MirrorRecord = { ...active, state: 'FAILED', failedFrom: 'ACTIVE', failures }
  const { ask, desired } = coordinator()
  match(await ask(mirrorStateRecord(failed), { leads: 5 }), /leads no partition/)
  match(await ask(mirrorStateRecord(failed), { isCurrent: false }), /before another record/)
  match(await ask(mirrorStateRecord({ ...active, state: 'STOPPED' })), /does not go from ACTIVE to STOPPED/)
  match(await ask(mirrorStateRecord({ ...active, stopping })), /nothing else/)
  match(await ask(mirrorStateRecord({ ...active, startOffsets: [0] })), /nothing else/)
  equal(await ask(mirrorStateRecord(failed)), 'written')
  equal(desired.mirror(active.linkId, active.mirrorTopic)?.state, 'FAILED')
})

test('nothing fails a mirror that stops, and nobody proposes links', async () => {
  const { ask } = coordinator({ ...active, stopping })
  match(await ask(mirrorStateRecord({ ...active, stopping, state: 'FAILED', failedFrom: 'ACTIVE' })), /does not go/)
  match(await ask(linkStateRecord(sampleLink({ name: 'east' }))), /may not write a record of kind link/)
  const another = { ...active, topicId: sampleLink().linkId }
  match(await ask(mirrorStateRecord(another)), /no such mirror/)
})
