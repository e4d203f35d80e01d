/** Steps of a member towards its target, one by one, and their records. */
import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { randomUuid, type Uuid } from '../../core/uuid.ts'
import { ConsumerGroup } from './consumer-group.ts'
import { type ConsumerMember, newMember } from './consumer-member.ts'
import { applyChange, changeOf, type GroupChange, recordOf } from './group-change.ts'
import { addEpoched, type EpochedPartitions, partitionsOf, topicPartitions } from './partition-sets.ts'
import { type Reconciliation, reconcileMember } from './reconcile-member.ts'

const topicId = randomUuid()

const epoched = (...places: readonly (readonly [number, number])[]): EpochedPartitions => {
  const made = new Map<Uuid, Map<number, number>>()
  for (const [partition, epoch] of places) addEpoched(made, topicId, { partition, epoch })
  return made
}

const of = (...partitions: readonly number[]) => partitionsOf([{ topicId, partitions }])

const step = (change: Partial<Reconciliation> = {}): Reconciliation => ({
  targetEpoch: 5,
  target: of(1, 2),
  owned: undefined,
  subscribes: () => true,
  isHeld: () => false,
  ...change,
})

const member = (change: Partial<ConsumerMember>): ConsumerMember => ({
  ...newMember('m'),
  epoch: 4,
  previousEpoch: 3,
  ...change,
})

const told = ({ epoch, previousEpoch, state, assigned, revoking }: ConsumerMember) => [
  epoch,
  previousEpoch,
  state,
  [...(assigned.get(topicId) ?? [])],
  topicPartitions(revoking).flatMap(({ partitions }) => partitions),
]

test('a member gives up first, then is one epoch further, then gets what is free', () => {
  const first = reconcileMember(member({ assigned: epoched([0, 2], [1, 3]) }), step({ owned: of(0, 1) }))
  deepStrictEqual(told(first), [4, 4, 'unrevoked', [[1, 3]], [0]])
  strictEqual(reconcileMember(first, step({ owned: of(0, 1) })), first)
  strictEqual(reconcileMember(first, step()), first)
  const waits = reconcileMember(first, step({ owned: of(1), isHeld: (_, partition) => partition === 2 }))
  deepStrictEqual(told(waits), [5, 4, 'unreleased', [[1, 3]], []])
  const done = reconcileMember(waits, step({ owned: of(1) }))
  deepStrictEqual(told(done), [
    5,
    5,
    'stable',
    [
      [1, 3],
      [2, 5],
    ],
    [],
  ])
  strictEqual(reconcileMember(done, step()), done)
})

test('a member that says that it does not have what it should give up need not be asked', () => {
  const next = reconcileMember(member({ assigned: epoched([0, 2]) }), step({ owned: of() }))
  deepStrictEqual(told(next), [
    5,
    4,
    'stable',
    [
      [1, 5],
      [2, 5],
    ],
    [],
  ])
})

test('what the target gives back while it is given up is had again at once', () => {
  const revoking = member({ state: 'unrevoked', assigned: epoched([1, 2]), revoking: epoched([2, 2]) })
  const next = reconcileMember(revoking, step({ owned: of(1), isHeld: (_, partition) => partition === 2 }))
  deepStrictEqual(told(next), [
    5,
    4,
    'stable',
    [
      [1, 2],
      [2, 5],
    ],
    [],
  ])
})

test('topics that a member does not want any more are given up, whatever the target says', () => {
  const stable = member({ epoch: 5, assigned: epoched([1, 2]) })
  const unwanted = step({ subscribes: () => false, owned: of(1) })
  const next = reconcileMember(stable, unwanted)
  deepStrictEqual(told(next), [5, 5, 'unrevoked', [], [1]])
  deepStrictEqual(told(reconcileMember(next, { ...unwanted, owned: of() })), [5, 5, 'stable', [], []])
})

test('a member in a state of a later version begins anew', () => {
  const unknown = member({ state: 'unknown', assigned: epoched([1, 2]) })
  throws(() => reconcileMember(unknown, step({ owned: of(1) })), { errorCode: 110 })
  deepStrictEqual(told(reconcileMember(unknown, step({ owned: of() }))), [
    5,
    4,
    'stable',
    [
      [1, 2],
      [2, 5],
    ],
    [],
  ])
})

/** Plain objects, as those that are read. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record<T>(model, { noNullPrototype: true })

const names = fc.uniqueArray(fc.string({ maxLength: 5 }), { maxLength: 4 }).map(list => [...list].sort())
const text = fc.option(fc.string({ minLength: 1, maxLength: 5 }), { nil: null })
const epoch = fc.integer({ min: -2, max: 1000 })
const held = fc.uniqueArray(fc.tuple(fc.nat(20), fc.nat(9)), { selector: ([partition]) => partition })
const heldPartitions = held.map(places => epoched(...places))
const description = record({
  instanceId: text,
  rackId: text,
  clientId: fc.string(),
  clientHost: fc.string(),
  rebalanceTimeoutMs: fc.nat(),
  topics: names,
  regex: fc.string({ maxLength: 5 }),
  assignor: text,
  classic: fc.option(
    record({
      sessionTimeoutMs: fc.nat(),
      protocols: fc.array(
        record({ name: fc.string(), metadata: fc.uint8Array({ maxLength: 9 }).map(bytes => Buffer.from(bytes)) }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    { nil: null },
  ),
})
const progress = record({
  epoch,
  previousEpoch: epoch,
  state: fc.constantFrom('stable' as const, 'unrevoked' as const, 'unreleased' as const, 'unknown' as const),
  assigned: heldPartitions,
  revoking: heldPartitions,
})
const memberId = fc.string({ minLength: 1, maxLength: 5 })
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const change: fc.Arbitrary<GroupChange> = fc.oneof(
  record({
    kind: fc.constant('epoch' as const),
    value: maybe(record({ epoch: fc.nat(), hash: fc.bigInt(-9n, 9n) })),
  }),
  record({ kind: fc.constant('member' as const), memberId, value: maybe(description) }),
  record({
    kind: fc.constant('target-epoch' as const),
    value: maybe(record({ epoch: fc.nat(), timestampMs: maybe(fc.integer({ min: 1, max: 2 ** 40 })) })),
  }),
  record({
    kind: fc.constant('target' as const),
    memberId,
    value: maybe(held.map(places => of(...places.map(([at]) => at)))),
  }),
  record({ kind: fc.constant('progress' as const), memberId, value: maybe(progress) }),
  record({
    kind: fc.constant('regex' as const),
    regex: fc.string(),
    value: maybe(record({ topics: names, version: fc.bigInt(0n, 99n), timestampMs: fc.nat() })),
  }),
)

test('every change is read back from its record as it was', () => {
  fc.assert(
    fc.property(change, fc.string(), (written, groupId) => {
      const stored = recordOf(groupId, written)
      deepStrictEqual(changeOf(stored.key.readInt16BE(0), stored), { groupId, change: written })
    }),
  )
})

test('a copy of a group does not change with it', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 10 }), fc.array(change, { maxLength: 10 }), (before, after) => {
      const told = (group: ConsumerGroup) =>
        JSON.stringify([
          [...group.members.keys()],
          [...group.targets.keys()],
          group.epoch,
          group.state,
          [...group.subscribed],
        ])
      const group = new ConsumerGroup('g')
      for (const one of before) applyChange(group, one)
      const told1 = told(group)
      const copy = group.copy()
      for (const one of after) applyChange(copy, one)
      strictEqual(told(group), told1)
    }),
  )
})
