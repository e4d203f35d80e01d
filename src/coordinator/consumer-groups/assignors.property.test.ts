/** The assignors on random groups: everything is assigned once, as equally as subscriptions allow, and nothing moves without need. */
import { ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { randomUuid, type Uuid } from '../../core/uuid.ts'
import type { AssignedMember, Assignor } from './assigned-member.ts'
import { contains, countOf, eachPartition, NO_PARTITIONS, type Partitions } from './partition-sets.ts'
import { assignRanges } from './range-assignor.ts'
import { assignUniformly } from './uniform-assignor.ts'

const topicIds = Array.from({ length: 5 }, () => randomUuid())

interface Group {
  readonly members: readonly AssignedMember[]
  readonly counts: ReadonlyMap<Uuid, number>
}

const counts = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 5, maxLength: 5 })
const subscription = fc.uniqueArray(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 5 })

const groupOf = (subscriptions: readonly (readonly number[])[], partitions: readonly number[]): Group => ({
  members: subscriptions.map((topics, index) => ({
    id: `m${index}`,
    instanceId: index % 3 === 0 ? `i${index}` : null,
    topics: new Set(topics.flatMap(topic => topicIds[topic] ?? [])),
    before: NO_PARTITIONS,
  })),
  counts: new Map(topicIds.map((id, index) => [id, partitions[index] ?? 1])),
})

const mixedGroup = fc
  .tuple(fc.array(subscription, { minLength: 1, maxLength: 8 }), counts)
  .map(([subscriptions, partitions]) => groupOf(subscriptions, partitions))

const likeGroup = fc
  .tuple(subscription, fc.integer({ min: 1, max: 9 }), counts)
  .map(([topics, members, partitions]) => groupOf(new Array<number[]>(members).fill(topics), partitions))

const run = (assign: Assignor, { members, counts }: Group) => assign(members, id => counts.get(id) ?? 0)

const withBefore = ({ members, counts }: Group, before: ReadonlyMap<string, Partitions>): Group => ({
  members: members.map(member => ({ ...member, before: before.get(member.id) ?? NO_PARTITIONS })),
  counts,
})

function checkComplete({ members, counts }: Group, made: ReadonlyMap<string, Partitions>): void {
  const seen = new Set<string>()
  for (const member of members)
    for (const [topicId, partition] of eachPartition(made.get(member.id) ?? NO_PARTITIONS)) {
      ok(member.topics.has(topicId), 'only to subscribers')
      ok(partition < (counts.get(topicId) ?? 0), 'only what exists')
      ok(!seen.has(`${topicId} ${partition}`), 'once')
      seen.add(`${topicId} ${partition}`)
    }
  const wanted = new Set(members.flatMap(({ topics }) => [...topics]))
  const total = [...wanted].reduce((sum, id) => sum + (counts.get(id) ?? 0), 0)
  ok(seen.size === total, `${seen.size} of ${total} partitions`)
}

const loads = ({ members }: Group, made: ReadonlyMap<string, Partitions>) =>
  new Map(members.map(({ id }) => [id, countOf(made.get(id) ?? NO_PARTITIONS)]))

/** How many partitions of `before` are with somebody else or nobody. */
function movedFrom(before: ReadonlyMap<string, Partitions>, after: ReadonlyMap<string, Partitions>): number {
  let moved = 0
  for (const [id, partitions] of before)
    for (const [topicId, partition] of eachPartition(partitions))
      if (!contains(after.get(id) ?? NO_PARTITIONS, topicId, partition)) moved++
  return moved
}

test('both assignors give every partition to one subscriber', () => {
  fc.assert(
    fc.property(mixedGroup, group => {
      checkComplete(group, run(assignUniformly, group))
      checkComplete(group, run(assignRanges, group))
    }),
  )
})

test('uniform: members of one subscription differ by one partition at most, and of others no single move helps', () => {
  fc.assert(
    fc.property(fc.oneof(mixedGroup, likeGroup), group => {
      const made = run(assignUniformly, group)
      const load = loads(group, made)
      for (const from of group.members)
        for (const [topicId] of eachPartition(made.get(from.id) ?? NO_PARTITIONS))
          for (const to of group.members)
            if (to.topics.has(topicId)) ok((load.get(from.id) ?? 0) - (load.get(to.id) ?? 0) <= 1)
    }),
  )
})

test('uniform: nothing moves when nothing has changed', () => {
  fc.assert(
    fc.property(fc.oneof(mixedGroup, likeGroup), group => {
      const first = run(assignUniformly, group)
      ok(movedFrom(first, run(assignUniformly, withBefore(group, first))) === 0)
    }),
  )
})

test('uniform: who comes gets its share from the others and nothing else moves; who goes leaves only its own', () => {
  fc.assert(
    fc.property(likeGroup, group => {
      const [newcomer, ...others] = group.members
      if (!newcomer || others.length === 0) return
      const smaller = { ...group, members: others }
      const before = run(assignUniformly, smaller)
      const joined = run(assignUniformly, withBefore(group, before))
      checkComplete(group, joined)
      ok(movedFrom(before, joined) === countOf(joined.get(newcomer.id) ?? NO_PARTITIONS))
      const left = run(assignUniformly, withBefore(smaller, joined))
      checkComplete(smaller, left)
      const kept = new Map(others.map(({ id }) => [id, joined.get(id) ?? NO_PARTITIONS]))
      ok(movedFrom(kept, left) === 0)
    }),
  )
})

test('uniform: topics that go, partitions that come and targets that overlap still end complete', () => {
  fc.assert(
    fc.property(mixedGroup, mixedGroup, (one, other) => {
      const before = run(assignUniformly, one)
      const twice = new Map(
        [...before].map(([id], index) => [id, before.get(`m${Math.max(0, index - 1)}`) ?? NO_PARTITIONS]),
      )
      checkComplete(other, run(assignUniformly, withBefore(other, before)))
      checkComplete(other, run(assignUniformly, withBefore(other, twice)))
    }),
  )
})

test('range: partitions of one topic are contiguous, and topics with as many partitions are split alike', () => {
  fc.assert(
    fc.property(likeGroup, group => {
      const made = run(assignRanges, group)
      for (const partitions of made.values()) {
        const shapes = new Map<number, string>()
        for (const [topicId, keys] of partitions) {
          const sorted = [...keys.keys()].sort((a, b) => a - b)
          ok(sorted.every((partition, index) => partition === (sorted[0] ?? 0) + index))
          const count = group.counts.get(topicId) ?? 0
          const shape = sorted.join()
          ok((shapes.get(count) ?? shape) === shape)
          shapes.set(count, shape)
        }
      }
    }),
  )
})
