/** Records → bytes → desired state: nothing is lost on the way, and what cannot be read stops its link. */
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { randomUuid } from '../../core/uuid.ts'
import { sampleCreation, sampleLink, sampleLinkId, sampleMirror } from '../fakes/sample-records.ts'
import type { StateRecord } from '../ports.ts'
import {
  coordinatorStateRecord,
  decodeStateRecord,
  linkStateRecord,
  mirrorCreationStateRecord,
  mirrorStateRecord,
  sourceEpochsStateRecord,
  tombstone,
} from '../state-records/record-codec.ts'
import { encodeStateKey, linkKey, mirrorCreationKey, mirrorKey, sourceEpochsKey } from '../state-records/state-key.ts'
import { writeStatus } from '../views/write-status.ts'
import { DesiredState } from './desired-state.ts'

function replayed(...records: StateRecord[]): DesiredState {
  const desired = new DesiredState()
  for (const record of records) desired.apply(decodeStateRecord(record))
  return desired
}

const mirror = sampleMirror()
const epochs = { topicId: mirror.topicId, partition: 1, sourceClusterId: 'source-cluster' }
const ranges = [
  { epoch: 0, firstOffset: 0 },
  { epoch: 9, firstOffset: 2 ** 50 },
]

test('every record comes back as it was written', () => {
  const link = sampleLink({ remoteClusterId: undefined, deletingSinceMs: 8 })
  const stopping = sampleMirror({
    mirrorTopic: 'b',
    state: 'FAILED',
    failedFrom: 'PENDING_STOPPED',
    stopping: {
      verb: 'promote',
      sinceMs: 3,
      keepsRetention: false,
      handOver: { plan: 'p', endOffsets: [3, 5], warnings: ['w'] },
    },
    held: true,
    reason: undefined,
  })
  const desired = replayed(
    coordinatorStateRecord(),
    linkStateRecord(link),
    mirrorStateRecord(mirror),
    mirrorStateRecord(stopping),
    mirrorCreationStateRecord(sampleCreation()),
    sourceEpochsStateRecord({ ...epochs, ranges, ledEpochs: [1, 7] }),
  )
  deepEqual(desired.link(sampleLinkId), link)
  deepEqual(desired.linkByName('west'), link)
  deepEqual(desired.mirror(sampleLinkId, 'orders'), mirror)
  deepEqual(desired.mirror(sampleLinkId, 'b'), stopping)
  deepEqual(desired.creationOf('payments'), sampleCreation())
  deepEqual(desired.epochRanges(mirror.topicId, 1, 'source-cluster'), ranges)
  deepEqual(desired.epochRanges(mirror.topicId, 1, 'another-cluster'), [])
  equal([...desired.mirrorsOfTopic(mirror.topicId)].length, 2)
  equal(desired.problemOf(sampleLinkId), undefined)
})

test('the last record of a key holds, and a tombstone ends it', () => {
  const moved = sampleMirror({ topicId: randomUuid(), state: 'STOPPED' })
  const desired = replayed(mirrorStateRecord(mirror), mirrorStateRecord(moved))
  deepEqual([...desired.mirrorsOfTopic(mirror.topicId)], [])
  deepEqual([...desired.mirrorsOfTopic(moved.topicId)], [moved])
  const ended = replayed(
    linkStateRecord(sampleLink()),
    mirrorStateRecord(mirror),
    mirrorCreationStateRecord(sampleCreation()),
    sourceEpochsStateRecord({ ...epochs, ranges, ledEpochs: [1, 7] }),
    tombstone(linkKey(sampleLinkId)),
    tombstone(mirrorKey(sampleLinkId, 'orders')),
    tombstone(mirrorCreationKey(sampleLinkId, 'payments')),
    tombstone(sourceEpochsKey(epochs.topicId, 1, 'source-cluster')),
  )
  deepEqual([...ended.links(), ...ended.mirrors(), ...ended.creations(), ...ended.topicsWithEpochs()], [])
  deepEqual([...ended.mirrorsOfTopic(mirror.topicId)], [])
})

test('a topic is writable only if every record about it says so', () => {
  const stopped = sampleMirror({ state: 'STOPPED', linkId: randomUuid() })
  const both = replayed(mirrorStateRecord(stopped), mirrorStateRecord(mirror))
  equal(writeStatus({ desired: both, replayed: true }, { topicId: mirror.topicId, topic: 'orders' }).kind, 'mirror')
  const one = replayed(mirrorStateRecord(stopped))
  equal(writeStatus({ desired: one, replayed: true }, { topicId: mirror.topicId, topic: 'orders' }).kind, 'writable')
})

test('a newer version stops its link with a clear message, and no topic becomes writable by it', () => {
  const newer = mirrorStateRecord(sampleMirror({ state: 'STOPPED' }))
  newer.value?.writeInt16BE(7, 0)
  const desired = replayed(linkStateRecord(sampleLink()), newer)
  match(desired.problemOf(sampleLinkId) ?? '', /has version 7, this version of Lockstep knows up to 6/)
  equal(desired.problemOf(randomUuid()), undefined)
  const status = writeStatus({ desired, replayed: true }, { topicId: mirror.topicId, topic: 'orders' })
  equal(status.kind, 'mirror')
  desired.apply(decodeStateRecord(mirrorStateRecord(sampleMirror({ state: 'STOPPED' }))))
  equal(desired.problemOf(sampleLinkId), undefined)
})

test('unknown kinds, unknown states and damaged values are named, never guessed at', () => {
  const unknownKind = {
    key: encodeStateKey({ kind: 99, scope: sampleLinkId, name: '', partition: 0 }),
    value: Buffer.alloc(9),
  }
  match(replayed(unknownKind).problemOf(sampleLinkId) ?? '', /kind 99/)
  const state = mirrorStateRecord(sampleMirror())
  const value = Buffer.from(state.value ?? Buffer.alloc(0))
  value.write('ACTUVE', value.indexOf('ACTIVE'))
  match(replayed({ ...state, value }).problemOf(sampleLinkId) ?? '', /unknown mirror state ACTUVE/)
  const cut = linkStateRecord(sampleLink())
  const damaged = replayed({ ...cut, value: cut.value?.subarray(0, 9) ?? null })
  match(damaged.problemOf(sampleLinkId) ?? '', /unreadable/)
  match(replayed({ key: Buffer.from('x'), value: null }).problemOf(sampleLinkId) ?? '', /key of 1 bytes/)
  const epochsOfMirror = sourceEpochsStateRecord({ ...epochs, ranges, ledEpochs: [1, 7] })
  epochsOfMirror.value?.writeInt16BE(3, 0)
  match(replayed(mirrorStateRecord(mirror), epochsOfMirror).problemOf(sampleLinkId) ?? '', /version 3/)
})
