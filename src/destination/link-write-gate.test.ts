/** What clients may do to a topic, by what the link engine says of it. */
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { WriteStatus } from '../link/ports.ts'
import { ErrorCode } from '../protocol/errors.ts'
import type { ClientWrite } from '../replica/write-gate.ts'
import { type AmongBrokers, linkWriteGate } from './link-write-gate.ts'

const writes: readonly ClientWrite[] = [
  'produce',
  'create-topic',
  'delete-records',
  'create-partitions',
  'transaction-markers',
  { alterConfigs: ['retention.ms'] },
]

const codes = (status: WriteStatus, among?: AmongBrokers) => {
  const gate = linkWriteGate(() => status, among)
  equal(gate.refusal('id', 't', 'delete-topic'), undefined)
  return writes.map(write => gate.refusal('id', 't', write)?.errorCode)
}

test('while nobody knows whether a topic is a mirror, every write is refused with what clients try again', () => {
  const { NOT_LEADER_OR_FOLLOWER: elsewhere, REQUEST_TIMED_OUT: later } = ErrorCode
  const expected = [elsewhere, later, elsewhere, later, elsewhere, later]
  deepEqual(codes({ kind: 'unknown', message: 'not replayed' }), expected)
})

test('an ordinary topic may be written, a mirror only where its state takes markers and in configs that are its own', () => {
  deepEqual(
    codes({ kind: 'writable' }),
    writes.map(() => undefined),
  )
  const refused = ErrorCode.POLICY_VIOLATION
  const mirror = (takesMarkers: boolean, copied: readonly string[]): WriteStatus => ({
    kind: 'mirror',
    message: 'a mirror',
    takesMarkers,
    copiedConfigs: new Set(copied),
  })
  deepEqual(
    codes(mirror(false, ['retention.ms'])),
    writes.map(() => refused),
  )
  deepEqual(codes(mirror(true, [])), [refused, refused, refused, refused, undefined, undefined])
})

test('among other brokers a mirror keeps the configs that keep their clients out, also where it does not copy them', () => {
  const among = { producedTo: new Set<string>(), parkedConfigs: new Set(['retention.ms']) }
  const own: WriteStatus = { kind: 'mirror', message: 'a mirror', takesMarkers: false, copiedConfigs: new Set() }
  equal(codes(own).at(-1), undefined)
  equal(codes(own, among).at(-1), ErrorCode.POLICY_VIOLATION)
  equal(codes({ kind: 'writable' }, among).at(-1), undefined)
})
