/** Whether a mirror may take over, by what its source publishes at the last moment. */
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { sampleMirror } from '../fakes/sample-records.ts'
import type { MirrorLog } from '../ports.ts'
import { newReversal } from '../state-records/mirror-record.ts'
import { decodeStatusRecord, reversalStatusRecord } from '../status/status-codec.ts'
import { StatusContents } from '../status/status-contents.ts'
import type { ReversalStatus } from '../status/status-records.ts'
import { confirmsReversal } from './mirror-side.ts'

const reversal = newReversal({ paused: false, sinceMs: 1, request: 4, together: [] })
const record = sampleMirror({ reversal })
const logs = [7, 9].map(logEndOffset => ({ state: () => ({ logEndOffset }) }) as unknown as MirrorLog)

/** What the source publishes of this reverse: closed where the logs end, unless told otherwise. */
function published(change: Partial<ReversalStatus> = {}): StatusContents {
  const { linkId, mirrorTopic, sourceTopicId: topicId } = record
  const told = { reason: '', windowMs: undefined, admitsWriters: false, isHurried: false }
  const of = { linkId, mirrorTopic, topicId, stateEpoch: 1, ...told }
  const closed = { request: 4, paused: false, sealedOffsets: [7, 9], withdrawn: false, abortedTransactions: 0 }
  const contents = new StatusContents()
  contents.apply(decodeStatusRecord(reversalStatusRecord({ ...of, ...closed, ...change })))
  return contents
}

test('a mirror takes over only from a source that is closed where its own logs end, in this very reverse', () => {
  const looks = [{ record, logs }]
  equal(confirmsReversal(published(), looks), true)
  equal(confirmsReversal(undefined, looks), false)
  equal(confirmsReversal(new StatusContents(), looks), false)
  equal(confirmsReversal(published({ withdrawn: true }), looks), false)
  equal(confirmsReversal(published({ request: 3 }), looks), false)
  equal(confirmsReversal(published({ sealedOffsets: [7, 10] }), looks), false)
  equal(confirmsReversal(published({ sealedOffsets: [7] }), looks), false)
  equal(confirmsReversal(published({ sealedOffsets: [] }), looks), false)
  // One of a unit is enough, and whoever is promoted otherwise needs none of it.
  equal(confirmsReversal(published({ sealedOffsets: [7, 10] }), [...looks, ...looks]), false)
  equal(confirmsReversal(undefined, [{ record: sampleMirror({ reversal: undefined }), logs }]), true)
})
