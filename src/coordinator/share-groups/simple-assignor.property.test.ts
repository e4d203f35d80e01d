/** The assignor of share groups on random groups, again and again as members and partitions come and go. */
import { ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { randomUuid, type Uuid } from '../../core/uuid.ts'
import { contains, countOf, eachPartition, NO_PARTITIONS, type Partitions } from '../consumer-groups/partition-sets.ts'
import { assignSimply, type SharingMember } from './simple-assignor.ts'

const topicIds = Array.from({ length: 4 }, () => randomUuid())

interface Round {
  readonly subscriptions: readonly (readonly number[])[]
  readonly partitions: readonly number[]
}

const partitions = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 4, maxLength: 4 })
const subscription = fc.uniqueArray(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 4 })
const mixed: fc.Arbitrary<Round> = fc.record({
  subscriptions: fc.array(subscription, { minLength: 1, maxLength: 12 }),
  partitions,
})
const alike: fc.Arbitrary<Round> = fc
  .tuple(subscription, fc.integer({ min: 1, max: 20 }), partitions)
  .map(([topics, members, counts]) => ({
    subscriptions: Array.from({ length: members }, () => topics),
    partitions: counts,
  }))

function assign({ subscriptions, partitions }: Round, before: ReadonlyMap<string, Partitions>) {
  const counts = new Map(topicIds.map((id, index) => [id, partitions[index] ?? 0]))
  const members: SharingMember[] = subscriptions.map((topics, index) => ({
    id: `m${index}`,
    topics: new Set(topics.flatMap(topic => topicIds[topic] ?? [])),
    before: before.get(`m${index}`) ?? NO_PARTITIONS,
  }))
  const made = assignSimply(members, topicId => Array.from({ length: counts.get(topicId) ?? 0 }, (_, index) => index))
  checkComplete(members, counts, made)
  return { members, counts, made }
}

function checkComplete(
  members: readonly SharingMember[],
  counts: ReadonlyMap<Uuid, number>,
  made: ReadonlyMap<string, Partitions>,
) {
  for (const member of members)
    for (const [topicId, partition] of eachPartition(made.get(member.id) ?? NO_PARTITIONS)) {
      ok(member.topics.has(topicId), 'only to subscribers')
      ok(partition < (counts.get(topicId) ?? 0), 'only what may be assigned')
    }
  for (const topicId of new Set(members.flatMap(({ topics }) => [...topics])))
    for (let partition = 0; partition < (counts.get(topicId) ?? 0); partition++)
      ok(
        [...made.values()].some(given => contains(given, topicId, partition)),
        `${partition} is nobody's`,
      )
}

test('every partition that somebody subscribes to is somebody’s, whatever was before', () => {
  fc.assert(
    fc.property(fc.array(mixed, { minLength: 1, maxLength: 4 }), rounds => {
      let before: ReadonlyMap<string, Partitions> = new Map()
      for (const round of rounds) before = assign(round, before).made
    }),
  )
})

test('members with one subscription get equal shares and share partitions equally, and keep what they had when nothing changed', () => {
  fc.assert(
    fc.property(fc.array(alike, { minLength: 1, maxLength: 4 }), rounds => {
      let before: ReadonlyMap<string, Partitions> = new Map()
      for (const round of rounds) {
        const { members, counts, made } = assign(round, before)
        const loads = members.map(({ id }) => countOf(made.get(id) ?? NO_PARTITIONS))
        ok(Math.max(...loads) - Math.min(...loads) <= 1, `loads ${loads}`)
        const total = [...(members[0]?.topics ?? [])].reduce((sum, id) => sum + (counts.get(id) ?? 0), 0)
        const most = total === 0 ? 0 : Math.ceil(members.length / total)
        const holders = new Map<string, number>()
        for (const given of made.values())
          for (const [topicId, partition] of eachPartition(given))
            holders.set(`${topicId} ${partition}`, (holders.get(`${topicId} ${partition}`) ?? 0) + 1)
        ok(
          [...holders.values()].every(count => count <= most),
          `a partition has more than ${most} members`,
        )
        const again = assign(round, made).made
        for (const [id, given] of made) {
          const kept = [...eachPartition(given)].filter(([topicId, partition]) =>
            contains(again.get(id) ?? NO_PARTITIONS, topicId, partition),
          )
          ok(kept.length === countOf(given), 'nothing moves without need')
        }
        before = made
      }
    }),
  )
})
