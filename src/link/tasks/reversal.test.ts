/** What is asked right before a mirror takes over from a source that has closed itself. */
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { sampleMirror } from '../fakes/sample-records.ts'
import type { MirrorLog } from '../ports.ts'
import { newReversal } from '../state-records/mirror-record.ts'
import type { SourceStatusView } from '../status/source-chain.ts'
import type { SourceStatus } from '../status/source-status.ts'
import { decodeStatusRecord, reversalStatusRecord } from '../status/status-codec.ts'
import { StatusContents } from '../status/status-contents.ts'
import type { MirrorLook } from './mirror-look.ts'
import { confirmsReversals } from './reversal.ts'

const reversal = newReversal({ paused: false, sinceMs: 1, request: 4, together: [] })
const record = sampleMirror({ reversal })
const logs = [{ state: () => ({ logEndOffset: 7 }) } as unknown as MirrorLog]

function view({ withdrawn = false } = {}): SourceStatusView {
  const { linkId, mirrorTopic, sourceTopicId: topicId } = record
  const of = {
    linkId,
    mirrorTopic,
    topicId,
    stateEpoch: 1,
    reason: '',
    windowMs: undefined,
    admitsWriters: false,
    isHurried: false,
  }
  const closed = { request: 4, paused: false, sealedOffsets: [7], withdrawn, abortedTransactions: 0 }
  const contents = new StatusContents()
  contents.apply(decodeStatusRecord(reversalStatusRecord({ ...of, ...closed })))
  return { kind: 'read', contents }
}

/** What was read last, and what is published now. */
const statusOf = (latest: SourceStatusView, newest: SourceStatusView) =>
  ({ latest, recent: async () => latest, newest: async () => newest }) as unknown as SourceStatus

test('it is asked anew whether the source is still closed; without an answer nothing is taken over', async () => {
  const looks: MirrorLook[] = [{ record, logs, waiting: [undefined], warnings: [] }]
  equal(await confirmsReversals(statusOf(view(), view()), looks), true)
  equal(await confirmsReversals(statusOf(view(), view({ withdrawn: true })), looks), false)
  // What was read before an outage may not hold any more.
  const failed: SourceStatusView = { kind: 'failed', error: new Error('cut'), contents: new StatusContents() }
  equal(await confirmsReversals(statusOf(view(), failed), looks), false)
  const promoted: MirrorLook[] = [{ record: sampleMirror({ reversal: undefined }), logs, waiting: [], warnings: [] }]
  equal(await confirmsReversals(statusOf(failed, failed), promoted), true)
})
