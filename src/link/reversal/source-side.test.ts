/** When the old source of a reverse closes itself, is given back, and when it does neither, by what its mirror publishes. */
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { randomUuid } from '../../core/uuid.ts'
import { sampleLink, sampleMirror } from '../fakes/sample-records.ts'
import { DesiredState } from '../replay/desired-state.ts'
import { type MirrorRecord, newReversal } from '../state-records/mirror-record.ts'
import { decodeStatusRecord, mirrorStatusRecord, reversalStatusRecord } from '../status/status-codec.ts'
import { StatusContents } from '../status/status-contents.ts'
import type { MirrorStatus, ReversalStatus } from '../status/status-records.ts'
import type { ReversalParts } from './reversal-parts.ts'
import { followPeer, walkSource } from './source-side.ts'

const request = 4
const topicId = randomUuid()
const mirrorId = randomUuid()
const { linkId } = sampleLink()

/** Our topic as the source of a reverse that is under way. */
const source = (change: Partial<MirrorRecord> = {}): MirrorRecord =>
  sampleMirror({
    ...{ topicId, sourceTopicId: mirrorId, state: 'PENDING_MIRROR', stopping: undefined, restore: undefined },
    reversal: { ...newReversal({ paused: false, sinceMs: 1, request, together: [] }), sealedOffsets: [7] },
    startOffsets: [0],
    ...change,
  })

/** The mirror of it at the other cluster, which has asked for the reverse. */
const mirror = (change: Partial<MirrorStatus> = {}): MirrorStatus => ({
  ...{ linkId, mirrorTopic: 'orders', topicId: mirrorId, linkName: 'twin', partitions: 1, configs: [] },
  ...{ state: 'PENDING_SYNCHRONIZE', stateEpoch: request, stateTimeMs: 1, chainEnd: 'origin' },
  chain: [{ clusterId: 'ours', topic: 'orders', topicId }],
  ...change,
})

const asked = (change: Partial<ReversalStatus> = {}): ReversalStatus => ({
  ...{ linkId, mirrorTopic: 'orders', topicId: mirrorId, stateEpoch: request, request, paused: false, reason: '' },
  ...{ sealedOffsets: [], withdrawn: false, abortedTransactions: 0, windowMs: undefined },
  ...{ admitsWriters: false, isHurried: false },
  ...change,
})

function contentsOf(of: MirrorStatus | undefined, reversal = asked()): StatusContents {
  const contents = new StatusContents()
  if (of) contents.apply(decodeStatusRecord(mirrorStatusRecord(of)))
  contents.apply(decodeStatusRecord(reversalStatusRecord(reversal)))
  return contents
}

/** What is done about the topic, in words. `there`: its counterpart is a topic of the other cluster. */
function partsOf(
  record: MirrorRecord | undefined,
  there = false,
): { readonly parts: ReversalParts; readonly done: string[] } {
  const done: string[] = []
  const desired = new DesiredState()
  if (record) desired.apply({ kind: 'mirror', record })
  const changes = {
    transition: async (_id: unknown, { event, reason }: { event: string; reason: string }) => {
      done.push(`${event}: ${reason}`)
    },
    create: async ({ state }: MirrorRecord) => done.push(`new ${state}`),
    update: async () => done.push('noted'),
  }
  const destination = {
    clusterId: 'ours',
    topic: () => ({ name: 'orders', topicId, partitions: 1 }),
    fence: { noReversal: undefined },
    openEndingLog: async () => ({ state: () => ({ logEndOffset: 7 }) }),
  }
  const more = {
    link: sampleLink({ linkId, mode: 'BIDIRECTIONAL' }),
    source: { describeTopics: async () => (there ? [{ topicId: mirrorId }] : []) },
    clock: new ManualClock(),
    logger: silentLogger,
    incidents: { count: (kind: string) => done.push(kind) },
  }
  return { parts: { desired, changes, destination, ...more } as unknown as ReversalParts, done }
}

async function follows(of: MirrorStatus, known: MirrorRecord | undefined, reversal = asked()): Promise<string[]> {
  const { parts, done } = partsOf(known)
  await followPeer(parts, contentsOf(of, reversal), of)
  return done
}

test('a topic is closed for the mirror that asks for it, and for nobody else', async () => {
  deepEqual(await follows(mirror(), undefined), ['new PENDING_MIRROR'])
  const stopped = source({ state: 'STOPPED', reversal: undefined })
  deepEqual(await follows(mirror(), stopped), ['peerReverses: the other cluster takes over'])
  deepEqual(await follows(mirror({ state: 'ACTIVE' }), undefined), [])
  // Its mirror and the request are published one after the other.
  deepEqual(await follows(mirror(), undefined, asked({ stateEpoch: request - 1 })), [])
  deepEqual(await follows(mirror(), undefined, asked({ topicId: randomUuid() })), [])
  // Mirrors of an earlier topic of the name, or of another cluster.
  const hop = { clusterId: 'ours', topic: 'orders', topicId: randomUuid() }
  deepEqual(await follows(mirror({ chain: [hop] }), undefined), [])
  deepEqual(await follows(mirror({ chain: [{ ...hop, topicId, clusterId: 'theirs' }] }), undefined), [])
  // A mirror of another link, or of this one, has no one to close it for.
  deepEqual(await follows(mirror(), source({ state: 'ACTIVE', reversal: undefined })), [])
})

test('a topic that was kept alone is not closed for the same request, but for another one', async () => {
  const { reversal } = source()
  const kept = source({ state: 'STOPPED', reversal: reversal && { ...reversal, withdrawn: true } })
  deepEqual(await follows(mirror(), kept), [])
  const next = { stateEpoch: request + 2, request: request + 2 }
  deepEqual(await follows(mirror({ stateEpoch: request + 2 }), kept, asked(next)), [
    'peerReverses: the other cluster takes over',
  ])
})

test('a closed topic is given back when its mirror is gone, follows again or has failed, and not before', async () => {
  const walked = async (of: MirrorStatus | undefined, { withdrawn = false, there = false } = {}) => {
    const { reversal } = source()
    const record = source({ reversal: reversal && { ...reversal, withdrawn } })
    const { parts, done } = partsOf(record, there)
    await walkSource(parts, contentsOf(of), record)
    return done
  }
  deepEqual(await walked(undefined), ['failover: given back: the mirror was deleted'])
  // With its link the mirror became an ordinary topic: that of the other cluster is written by then.
  deepEqual(await walked(undefined, { there: true }), ['noted'])
  deepEqual(await walked(undefined, { there: true, withdrawn: true }), [
    'noted',
    'failover: given back: what was its mirror is an ordinary topic of the other cluster, which may be written',
    'fork',
  ])
  const later = { stateEpoch: request + 1 }
  for (const state of ['ACTIVE', 'PAUSED'])
    deepEqual(await walked(mirror({ ...later, state })), ['failover: given back: the mirror follows it again'])
  // What was published before the request says nothing about it.
  for (const state of ['ACTIVE', 'PAUSED', 'FAILED', 'STOPPED'])
    deepEqual(await walked(mirror({ state, stateEpoch: request }), { withdrawn: true }), [])
  deepEqual(await walked(mirror({ ...later, state: 'PENDING_STOPPED' }), { withdrawn: true }), [])
  // A mirror that failed may be failed over, or resumed.
  deepEqual(await walked(mirror({ ...later, state: 'FAILED' })), ['noted'])
  deepEqual(await walked(mirror({ ...later, state: 'FAILED' }), { withdrawn: true }), [
    'noted',
    'failover: given back: the mirror has failed, and cannot take over',
  ])
})
