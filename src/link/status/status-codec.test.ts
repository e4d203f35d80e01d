/** What is published comes back as it was; what cannot be read is named, and never more than that. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Uuid, uuidFromBytes, ZERO_UUID } from '../../core/uuid.ts'
import { encodeStateKey, type StateKey, stateKeyText } from '../state-records/state-key.ts'
import {
  clusterStatusRecord,
  decodeStatusRecord,
  linkStatusRecord,
  mirrorStatusRecord,
  reversalStatusRecord,
  type StatusChange,
  stopPointStatusRecord,
} from './status-codec.ts'
import { StatusContents } from './status-contents.ts'
import { mirrorStatusKey, statusKinds } from './status-key.ts'

const record = <T>(model: { [Key in keyof T]: fc.Arbitrary<T[Key]> }) => fc.record(model, { noNullPrototype: true })
const uuid = fc.uint8Array({ minLength: 16, maxLength: 16 }).map(bytes => uuidFromBytes(bytes))
const text = fc.string({ maxLength: 30 })
const offset = fc.integer({ min: 0, max: 2 ** 52 })
const epoch = fc.integer({ min: 0, max: 2 ** 31 - 1 })
const hop = record({ clusterId: text, topic: text, topicId: uuid })
const config = record({ name: text, value: fc.option(text), overridden: fc.boolean() })

const link = record({
  linkId: uuid,
  name: text,
  mode: text,
  remoteClusterId: fc.option(text, { nil: undefined }),
  createdTimeMs: offset,
  groupFilters: fc.option(fc.string(), { nil: undefined }),
  isPaused: fc.boolean(),
  problem: fc.option(fc.string(), { nil: undefined }),
})
const mirror = record({
  linkId: uuid,
  mirrorTopic: text,
  topicId: uuid,
  linkName: text,
  state: text,
  stateEpoch: epoch,
  stateTimeMs: offset,
  partitions: epoch,
  chain: fc.array(hop, { maxLength: 5 }),
  chainEnd: text,
  configs: fc.array(config, { maxLength: 5 }),
})
const reversal = record({
  linkId: uuid,
  mirrorTopic: text,
  topicId: uuid,
  stateEpoch: epoch,
  request: epoch,
  paused: fc.boolean(),
  sealedOffsets: fc.array(offset, { maxLength: 5 }),
  withdrawn: fc.boolean(),
  abortedTransactions: epoch,
  windowMs: fc.option(offset, { nil: undefined }),
  reason: text,
  admitsWriters: fc.boolean(),
  isHurried: fc.boolean(),
})
const stopPoint = record({
  linkId: uuid,
  mirrorTopic: text,
  partition: epoch,
  topicId: uuid,
  sourceClusterId: text,
  sourceTopicId: uuid,
  stopOffset: offset,
  lastSourceEpoch: fc.option(epoch, { nil: undefined }),
  timeMs: offset,
  sourceEpochs: fc.array(record({ epoch, firstOffset: offset }), { maxLength: 5 }),
  ofSource: fc.boolean(),
})

const recordOf = (change: StatusChange) => ('record' in change ? change.record : change)

test('every record comes back as it was published', () => {
  fc.assert(
    fc.property(fc.tuple(link, mirror, stopPoint, reversal), ([ofLink, ofMirror, ofPoint, ofReversal]) => {
      const clusterId = ofMirror.linkName
      deepEqual(recordOf(decodeStatusRecord(linkStatusRecord(ofLink))), ofLink)
      deepEqual(recordOf(decodeStatusRecord(mirrorStatusRecord(ofMirror))), ofMirror)
      deepEqual(recordOf(decodeStatusRecord(stopPointStatusRecord(ofPoint))), ofPoint)
      const cluster = { clusterId, takesReverses: ofLink.isPaused }
      deepEqual(recordOf(decodeStatusRecord(clusterStatusRecord(cluster))), cluster)
      deepEqual(recordOf(decodeStatusRecord(reversalStatusRecord(ofReversal))), ofReversal)
    }),
  )
})

test('no bytes make the decoder or what it fills throw', () => {
  const bytes = fc.uint8Array({ maxLength: 80 }).map(content => Buffer.from(content))
  const key: fc.Arbitrary<StateKey> = fc.record({
    kind: fc.integer({ min: -1, max: 6 }),
    scope: uuid,
    name: text,
    partition: fc.integer({ min: -1, max: 3 }),
  })
  const keyBytes = fc.oneof(bytes, key.map(encodeStateKey))
  fc.assert(
    fc.property(fc.array(fc.tuple(keyBytes, fc.option(bytes)), { maxLength: 20 }), records => {
      const contents = new StatusContents()
      for (const [key, value] of records) contents.apply(decodeStatusRecord({ key, value }))
      ok(contents.problems.length <= 21)
      contents.problemOf('orders')
    }),
  )
})

test('replaying the newest record of each key gives what replaying all of them gives', () => {
  const names = fc.constantFrom('a', 'b')
  const change = fc.tuple(names, fc.option(fc.constantFrom('ACTIVE', 'STOPPED')))
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), changes => {
      const records = changes.map(([mirrorTopic, state]) => sampleRecord(mirrorTopic, state))
      const newest = records.filter(({ key }, index) => !records.slice(index + 1).some(later => later.key.equals(key)))
      deepEqual(summary(records), summary(newest))
    }),
  )
})

const sampleLink = 'AAAAAAAAAAAAAAAAAAAABA' as Uuid

function sampleRecord(mirrorTopic: string, state: string | null) {
  const key = encodeStateKey(mirrorStatusKey(sampleLink, mirrorTopic))
  if (state === null) return { key, value: null }
  const more = {
    linkName: 'l',
    stateEpoch: 1,
    stateTimeMs: 1,
    partitions: 1,
    chain: [],
    chainEnd: 'origin',
    configs: [],
  }
  return mirrorStatusRecord({ linkId: sampleLink, mirrorTopic, topicId: ZERO_UUID, state, ...more })
}

function summary(records: readonly { key: Buffer; value: Buffer | null }[]) {
  const contents = new StatusContents()
  for (const record of records) contents.apply(decodeStatusRecord(record))
  return ['a', 'b'].map(name => contents.mirrorsNamed(name).map(({ state }) => state))
}

test('a record of a newer version is named and says nothing; another kind is passed over', () => {
  const { key, value } = sampleRecord('orders', 'ACTIVE')
  const newer = Buffer.from(value ?? [])
  newer.writeInt16BE(1, 0)
  const change = decodeStatusRecord({ key, value: newer })
  equal(change.kind, 'unreadable')
  const contents = new StatusContents()
  contents.apply(change)
  match(contents.problemOf('orders') ?? '', /version 1, this version of Lockstep knows up to 0/)
  equal(contents.problemOf('others'), undefined)
  const other = { kind: 40, scope: sampleLink, name: 'requests', partition: 0 }
  equal(decodeStatusRecord({ key: encodeStateKey(other), value: Buffer.from('anything') }).kind, 'other')
})

test('a tagged field that a later version adds is passed over', () => {
  const { key, value } = sampleRecord('orders', 'ACTIVE')
  const body = value ?? Buffer.alloc(0)
  equal(body.at(-1), 0, 'no tagged fields are written by this version')
  const extended = Buffer.concat([body.subarray(0, -1), Buffer.from([1, 0, 2, 7, 7])])
  deepEqual(decodeStatusRecord({ key, value: extended }), decodeStatusRecord({ key, value: body }))
})

test('numbers of kinds are for ever', () => {
  deepEqual(statusKinds, { cluster: 0, link: 1, mirror: 2, stopPoint: 3, reversal: 4 })
  equal(stateKeyText(mirrorStatusKey(sampleLink, 'orders')), `2/${sampleLink}/orders/-1`)
})
