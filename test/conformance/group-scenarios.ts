// Java consumers in classic groups: joining, leaving, static members, rebalances; run by the conformance suite of groups.

import { ranges } from './java-consumer.ts'
import type { Scenario } from './scenario.ts'

const oneConsumer: Scenario = {
  name: 'a consumer subscribes, commits, leaves, and another one goes on',
  async run(side, seen) {
    await side.createTopics({ name: 'alone', partitions: 2 })
    await side.write('alone', 6, { partition: 0 })
    await side.write('alone', 4, { partition: 1 })
    const properties = { 'group.id': 'alone', 'client.id': 'first' }
    const first = await side.consumer('alone-1', properties)
    await first.subscribe('alone')
    await seen.step('first reads', () => first.takeUntil(10))
    await seen.step('committed before', () => first.run('committed', { partitions: ['alone-0', 'alone-1'] }))
    await seen.step('commit', () => first.run('commit', { offsets: { 'alone-0': [4, 'note'], 'alone-1': 4 } }))
    await seen.step('committed', () => first.run('committed', { partitions: ['alone-0', 'alone-1'] }))
    await seen.step('generation', async () => (await first.state()).generation)
    await seen.step('described', () => side.groups('describe', { groups: ['alone'], operations: true }))
    await seen.step('described as classic', () => side.groups('describe-classic', { groups: ['alone'] }))
    await first.close()
    await seen.step('described when empty', () => side.groups('describe', { groups: ['alone'] }))
    const second = await side.consumer('alone-2', properties)
    await second.subscribe('alone')
    await seen.step('second reads', () => second.takeUntil(2))
    await seen.step('second generation', async () => (await second.state()).generation)
    await second.run('unsubscribe')
    // It tells that it leaves, and does not wait for the answer.
    await seen.settles(
      'described after unsubscribing',
      () => side.groups('describe', { groups: ['alone'] }),
      found => JSON.stringify(found).includes('Empty'),
    )
    await second.close()
  },
}

/** Two members share six partitions, a third comes, the first leaves; what remains is told by how many each has. */
const assignor = (name: string, className: string): Scenario => ({
  name: `members share partitions with the assignor ${name}`,
  async run(side, seen) {
    const topic = `shared-${name}`
    await side.createTopics({ name: topic, partitions: 6 })
    await side.write(topic, 60)
    const properties = {
      'group.id': topic,
      'partition.assignment.strategy': `org.apache.kafka.clients.consumer.${className}`,
    }
    const join = async (id: string) => {
      const consumer = await side.consumer(`${topic}-${id}`, { ...properties, 'client.id': id })
      await consumer.subscribe(topic)
      return consumer
    }
    const first = await join('a')
    await first.assigned(6)
    const second = await join('b')
    await seen.step('two', async () => ranges(await Promise.all([first.assigned(3), second.assigned(3)])))
    const third = await join('c')
    await seen.step('three', async () => ranges(await Promise.all([first, second, third].map(one => one.assigned(2)))))
    await seen.step('described', () => side.groups('describe', { groups: [topic] }).then(withoutAssignments))
    await first.close()
    await seen.step('two again', async () => ranges(await Promise.all([second.assigned(3), third.assigned(3)])))
    await second.close({ leave: true })
    await seen.step('one', () => third.assigned(6))
    await third.close()
  },
})

/** Who has which partition depends on ids by chance. */
function withoutAssignments(described: unknown): unknown {
  return JSON.parse(JSON.stringify(described), (key, value: unknown) =>
    key === 'members' && Array.isArray(value) ? value.map(member => [member[0], member[4].length]) : value,
  )
}

const staticMembers: Scenario = {
  name: 'a static member comes back without a rebalance, and is fenced by its double',
  async run(side, seen) {
    await side.createTopics({ name: 'static', partitions: 4 })
    const join = async (id: string, instance: string) => {
      const properties = { 'group.id': 'static', 'group.instance.id': instance, 'client.id': id }
      const consumer = await side.consumer(`static-${id}`, properties)
      await consumer.subscribe('static')
      return consumer
    }
    const first = await join('a', 'one')
    await first.assigned(4)
    const second = await join('b', 'two')
    await seen.step('shared', () => Promise.all([first.assigned(2), second.assigned(2)]))
    const { generation } = await first.state()
    await first.close()
    await seen.step('still a member', () => side.groups('describe', { groups: ['static'] }))
    const again = await join('c', 'one')
    await seen.step('the same again', () => again.assigned(2))
    await seen.step('generations passed', async () => (await again.state()).generation - generation)
    const double = await join('d', 'two')
    await seen.step('the double', () => double.assigned(2))
    await seen.step('the one that was doubled', () => second.failure())
    await again.close()
    await seen.step('remove a member', () => side.groups('remove', { group: 'static', instances: ['one'] }))
    await seen.step('remove nobody', () => side.groups('remove', { group: 'static', instances: ['nine'] }))
    await seen.step('alone', () => double.assigned(4))
    await Promise.all([second.close(), double.close()])
    await seen.step('remove the rest', () => side.groups('remove', { group: 'static' }))
    await seen.step('empty', () => side.groups('describe', { groups: ['static'] }))
  },
}

const refusedMembers: Scenario = {
  name: 'members that a group cannot have are refused',
  async run(side, seen) {
    await side.createTopics({ name: 'refused', partitions: 4 })
    const join = async (id: string, properties: Record<string, string>) => {
      const consumer = await side.consumer(`refused-${id}`, { 'group.id': 'refused', ...properties })
      await consumer.subscribe('refused')
      return consumer
    }
    const short = await join('short', { 'session.timeout.ms': '500' })
    await seen.step('too short a session', () => short.failure())
    const long = await join('long', { 'session.timeout.ms': '700000' })
    await seen.step('too long a session', () => long.failure())
    await seen.step('empty group id', () => side.consumer('refused-nameless', { 'group.id': '' }))
    const members = await Promise.all(['1', '2', '3', '4'].map(id => join(id, {})))
    await Promise.all(members.map(member => member.assigned(1)))
    const other = await join('other', {
      'partition.assignment.strategy': 'org.apache.kafka.clients.consumer.RoundRobinAssignor',
    })
    await seen.step('no protocol in common', () => other.failure())
    const fifth = await join('5', {})
    await seen.step('one too many', () => fifth.failure())
    await Promise.all([...members, short, long, other, fifth].map(member => member.close()))
  },
}

const lostMembers: Scenario = {
  name: 'a member that is not heard of any more, or polls too rarely, loses its partitions',
  async run(side, seen) {
    await side.createTopics({ name: 'lost', partitions: 2 })
    const join = async (id: string, properties: Record<string, string> = {}) => {
      const group = { 'group.id': 'lost', 'session.timeout.ms': '5000' }
      const consumer = await side.consumer(`lost-${id}`, { ...group, ...properties })
      await consumer.subscribe('lost')
      return consumer
    }
    const first = await join('a')
    await first.assigned(2)
    const silent = await join('b')
    await seen.step('shared', async () => ranges(await Promise.all([first.assigned(1), silent.assigned(1)])))
    await silent.close({ leave: false })
    await seen.step('after the session', () => first.assigned(2))
    const slow = await join('c', { 'max.poll.interval.ms': '6000', 'client.id': 'slow' })
    await Promise.all([first.assigned(1), slow.assigned(1)])
    await slow.run('pollable', { on: false })
    await seen.step('after the slow one', () => first.assigned(2))
    await slow.run('pollable', { on: true })
    await seen.step('the slow one again', async () => ranges(await Promise.all([first.assigned(1), slow.assigned(1)])))
    await slow.close()
    await first.close()
  },
}

const growingSubscription: Scenario = {
  name: 'a subscription follows topics that come and grow',
  async run(side, seen) {
    await side.createTopics({ name: 'growing-a', partitions: 1 })
    const consumer = await side.consumer('growing', { 'group.id': 'growing' })
    await consumer.run('subscribe', { pattern: 'growing-.*' })
    await seen.step('one', () => consumer.assigned(1))
    await side.createTopics({ name: 'growing-b', partitions: 2 })
    await seen.step('two topics', () => consumer.assigned(3))
    await side.topics('grow', { topic: 'growing-a', count: 3 })
    await seen.step('grown', () => consumer.assigned(5))
    await side.topics('delete', { topics: ['growing-b'] })
    await seen.step('deleted', () => consumer.assigned(3))
    await consumer.close()
  },
}

const newerProtocol: Scenario = {
  name: 'a consumer of the newer group protocol',
  async run(side, seen) {
    await side.createTopics({ name: 'newer', partitions: 2 })
    await side.write('newer', 3, { partition: 0 })
    const consumer = await side.consumer('newer', { 'group.id': 'newer', 'group.protocol': 'consumer' })
    await consumer.subscribe('newer')
    await seen.step('reads', () => consumer.takeUntil(3))
    await seen.step('fails', async () => (await consumer.state()).failure ?? 'not')
    await consumer.close()
  },
}

export const groupScenarios: readonly Scenario[] = [
  oneConsumer,
  assignor('range', 'RangeAssignor'),
  assignor('roundrobin', 'RoundRobinAssignor'),
  assignor('sticky', 'StickyAssignor'),
  assignor('cooperative-sticky', 'CooperativeStickyAssignor'),
  staticMembers,
  refusedMembers,
  lostMembers,
  growingSubscription,
  newerProtocol,
]
