// Committed offsets and the administration of groups with Java Admin; run by the conformance suite of groups.
import { eventually } from '../eventually.ts'
import type { Scenario } from './scenario.ts'
import type { Side } from './side.ts'

/** A group with one member that has read a topic of two partitions. */
async function groupWithMember(side: Side, group: string) {
  await side.createTopics({ name: group, partitions: 2 })
  await side.write(group, 5, { partition: 0 })
  const member = await side.consumer(group, { 'group.id': group, 'client.id': group })
  await member.subscribe(group)
  await member.takeUntil(5)
  return member
}

const commitsFromOutside: Scenario = {
  name: 'offsets are altered from outside, only while a group has no member',
  async run(side, seen) {
    const group = 'altered'
    const member = await groupWithMember(side, group)
    const alter = (offsets: Record<string, unknown>, name = group) =>
      side.groups('alter-offsets', { group: name, offsets })
    await member.run('commit', { offsets: { 'altered-0': 3 } })
    await seen.step('alter with a member', () => alter({ 'altered-0': 1 }))
    await seen.step('delete offsets that are subscribed to', () =>
      side.groups('delete-offsets', { group, partitions: ['altered-0', 'other-0'] }),
    )
    await seen.step('delete with a member', () => side.groups('delete', { groups: [group, 'nobody'] }))
    await member.close()
    await seen.step('alter', () => alter({ 'altered-0': 1, 'altered-1': [0, 'a note'] }))
    await seen.step('alter of a topic that is not there', () => alter({ 'nowhere-0': 1, 'altered-0': 2 }))
    await seen.step('alter of a partition that is not there', () => alter({ 'altered-9': 1 }))
    await seen.step('alter with a long note', () => alter({ 'altered-1': [1, 'x'.repeat(100)] }))
    await seen.step('alter of a group that is not there', () => alter({ 'altered-0': 5 }, 'altered-new'))
    await seen.step('negative', () => alter({ 'altered-0': -1 }))
    await seen.step('offsets', () => side.groups('offsets', { group }))
    await seen.step('some offsets', () =>
      side.groups('offsets', { group, partitions: ['altered-0', 'altered-7', 'nowhere-0'], stable: true }),
    )
    await seen.step('offsets of nobody', () => side.groups('offsets', { group: 'nobody' }))
    await seen.step('delete offsets', () =>
      side.groups('delete-offsets', { group, partitions: ['altered-0', 'other-0'] }),
    )
    await seen.step('offsets then', () => side.groups('offsets', { group }))
    await seen.step('delete', () => side.groups('delete', { groups: [group, 'altered-new'] }))
    await seen.step('delete again', () => side.groups('delete', { groups: [group] }))
    await seen.step('offsets of a deleted group', () => side.groups('offsets', { group }))
    await seen.step('describe a deleted group', () => side.groups('describe', { groups: [group] }))
    await seen.step('delete offsets of a deleted group', () =>
      side.groups('delete-offsets', { group, partitions: ['altered-0'] }),
    )
  },
}

const commitsOfStrangers: Scenario = {
  name: 'commits of consumers that are no members',
  async run(side, seen) {
    await side.createTopics({ name: 'manual', partitions: 2 })
    await side.write('manual', 3, { partition: 0 })
    const manual = await side.consumer('manual', { 'group.id': 'manual' })
    await manual.run('assign', { partitions: ['manual-0', 'manual-1'] })
    await seen.step('reads', () => manual.takeUntil(3))
    await seen.step('commit', () => manual.run('commit'))
    await seen.step('committed', () => manual.run('committed', { partitions: ['manual-0', 'manual-1', 'nowhere-0'] }))
    await seen.step('described', () => side.groups('describe', { groups: ['manual'] }))
    await seen.step('listed', () => listed(side, ['manual']))
    await seen.step('too long a note', () => manual.run('commit', { offsets: { 'manual-0': [1, 'x'.repeat(65)] } }))
    const member = await side.consumer('manual-member', { 'group.id': 'manual' })
    await member.subscribe('manual')
    await member.assigned(2)
    await seen.step('commit beside a member', () => manual.run('commit', { offsets: { 'manual-0': 1 } }))
    await seen.step('a member commits what it does not have', () => member.run('commit', { offsets: { 'alone-0': 1 } }))
    await member.close()
    await manual.close()
    const groupless = await side.consumer('groupless', {})
    await groupless.run('assign', { partitions: ['manual-0'] })
    await seen.step('without a group', () => groupless.run('commit', { offsets: { 'manual-0': 1 } }))
    await groupless.close()
  },
}

/** What is listed of some groups. */
const listed = async (side: Side, groups: readonly string[], args: object = {}) =>
  (await side.groups<string[][]>('list', args)).filter(([name = '']) => groups.includes(name))

const lists: Scenario = {
  name: 'groups are listed by state and type',
  async run(side, seen) {
    const member = await groupWithMember(side, 'listed-full')
    await side.groups('alter-offsets', { group: 'listed-empty', offsets: { 'listed-full-0': 1 } })
    const groups = ['listed-full', 'listed-empty']
    await seen.step('all', () => listed(side, groups))
    for (const state of ['Stable', 'Empty', 'Dead', 'PreparingRebalance'])
      await seen.step(state, () => listed(side, groups, { states: [state] }))
    for (const type of ['Classic', 'Consumer', 'Share', 'Streams'])
      await seen.step(type, () => listed(side, groups, { types: [type] }))
    await member.close()
    await seen.step('afterwards', () => listed(side, groups))
  },
}

const automatic: Scenario = {
  name: 'offsets are committed automatically, and a topic that is deleted takes its offsets along',
  async run(side, seen) {
    await side.createTopics({ name: 'automatic', partitions: 1 })
    await side.write('automatic', 7)
    const properties = { 'group.id': 'automatic', 'enable.auto.commit': 'true', 'auto.commit.interval.ms': '100' }
    const consumer = await side.consumer('automatic', properties)
    await consumer.subscribe('automatic')
    await consumer.takeUntil(7)
    await consumer.close()
    await seen.step('committed', () => side.groups('offsets', { group: 'automatic' }))
    await side.topics('delete', { topics: ['automatic'] })
    await seen.settles(
      'after the deletion',
      () => side.groups<object>('offsets', { group: 'automatic' }),
      found => Object.keys(found).length === 0,
    )
  },
}

const positions: Scenario = {
  name: 'consumers seek, pause and lag',
  async run(side, seen) {
    await side.createTopics({ name: 'positions', partitions: 2 })
    await side.write('positions', 10, { partition: 0 })
    await side.write('positions', 10, { partition: 1 })
    const consumer = await side.consumer('positions', { 'group.id': 'positions', 'max.poll.records': '3' })
    await consumer.subscribe('positions')
    await seen.step('all', () => consumer.takeUntil(20))
    await consumer.run('pause', { partitions: ['positions-1'] })
    await consumer.run('seek', { partition: 'positions-0', offset: 8 })
    await consumer.run('seek', { partition: 'positions-1', offset: 5 })
    await seen.step('only the one that is not paused', () => consumer.takeUntil(22))
    await consumer.run('resume', { partitions: ['positions-1'] })
    await seen.step('the other one', () => consumer.takeUntil(27))
    await seen.step('lag', () => eventually(() => consumer.run('lag', { partition: 'positions-0' })))
    await seen.step('position', () => consumer.run('position', { partition: 'positions-1' }))
    await seen.step('topics', async () =>
      (await consumer.run<string[]>('topics')).filter(topic => topic.startsWith('positions')),
    )
    await consumer.close()
  },
}

export const offsetScenarios: readonly Scenario[] = [
  commitsFromOutside,
  commitsOfStrangers,
  lists,
  automatic,
  positions,
]
