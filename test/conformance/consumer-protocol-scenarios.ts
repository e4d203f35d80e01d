// Java consumers with group.protocol=consumer (KIP-848): sharing, static members, expressions, migration; run by the conformance suite of the consumer protocol.

import { ranges } from './java-consumer.ts'
import type { Scenario } from './scenario.ts'

const PROTOCOL = { 'group.protocol': 'consumer' }

/** Who has which partition depends on ids by chance. */
const sizes = (assignments: readonly (readonly string[])[]) => ranges(assignments).map(range => range.split(' ').length)

const sharing = (assignor: string): Scenario => ({
  name: `members of the consumer protocol share partitions with the assignor ${assignor}`,
  async run(side, seen) {
    const topic = `modern-${assignor}`
    await side.createTopics({ name: topic, partitions: 6 })
    await side.write(topic, 60)
    const properties = { ...PROTOCOL, 'group.id': topic, 'group.remote.assignor': assignor }
    const join = async (id: string) => {
      const consumer = await side.consumer(`${topic}-${id}`, { ...properties, 'client.id': id })
      await consumer.subscribe(topic)
      return consumer
    }
    const first = await join('a')
    await seen.step('one', () => first.assigned(6))
    await seen.step('reads', async () => (await first.takeUntil(60)).length)
    const second = await join('b')
    await seen.step('two', async () => sizes(await Promise.all([first.assigned(3), second.assigned(3)])))
    await seen.step('listed', () => side.groups('list'))
    await first.close()
    await seen.step('the other', () => second.assigned(6))
    await second.close()
    await seen.step('empty', () => side.groups('describe', { groups: [topic] }))
    await seen.step('deleted', () => side.groups('delete', { groups: [topic] }))
  },
})

const staticMembers: Scenario = {
  name: 'a static member of the consumer protocol comes back to its partitions',
  async run(side, seen) {
    await side.createTopics({ name: 'modern-static', partitions: 4 })
    const join = async (id: string, instance: string) => {
      const properties = { ...PROTOCOL, 'group.id': 'modern-static', 'group.instance.id': instance, 'client.id': id }
      const consumer = await side.consumer(`modern-static-${id}`, properties)
      await consumer.subscribe('modern-static')
      return consumer
    }
    const first = await join('a', 'one')
    await first.assigned(4)
    const second = await join('b', 'two')
    const [had] = await Promise.all([first.assigned(2), second.assigned(2)])
    const double = await join('d', 'two')
    await seen.step('the double', () => double.failure())
    await first.close()
    const again = await join('c', 'one')
    await seen.step('the same again', async () => (await again.assigned(2)).join() === had.join())
    await Promise.all([again, second, double].map(member => member.close()))
  },
}

const migration: Scenario = {
  name: 'a group changes to the consumer protocol and back while it runs',
  async run(side, seen) {
    await side.createTopics({ name: 'modern-move', partitions: 4 })
    const join = async (id: string, properties: Record<string, string>) => {
      const consumer = await side.consumer(`modern-move-${id}`, { 'group.id': 'modern-move', ...properties })
      await consumer.subscribe('modern-move')
      return consumer
    }
    const cooperative = 'org.apache.kafka.clients.consumer.CooperativeStickyAssignor'
    const old = await join('old', { 'partition.assignment.strategy': cooperative })
    await old.assigned(4)
    const modern = await join('new', PROTOCOL)
    await seen.step('both', async () => sizes(await Promise.all([old.assigned(2), modern.assigned(2)])))
    await seen.step('listed as a consumer group', () => side.groups('list'))
    await modern.close()
    await seen.step('the old one alone', () => old.assigned(4))
    await seen.step('listed as a classic group', () => side.groups('list'))
    await old.close()
  },
}

const patterns: Scenario = {
  name: 'consumers subscribe by expressions that the broker looks at',
  async run(side, seen) {
    await side.createTopics(
      { name: 'modern-re-one' },
      { name: 'modern-re-two', partitions: 2 },
      { name: 'modern-other' },
    )
    const properties = { ...PROTOCOL, 'group.id': 'modern-re' }
    const consumer = await side.consumer('modern-re', { ...properties, 'client.id': 'a' })
    await consumer.run('subscribe', { re2: 'modern-re-.*' })
    await seen.step('matched', () => consumer.assigned(3))
    await side.createTopics({ name: 'modern-re-three' })
    await seen.step('one more', () => consumer.assigned(4))
    await seen.step('described', () => side.groups('describe', { groups: ['modern-re'] }))
    await consumer.close()
    const wrong = await side.consumer('modern-re-wrong', { ...properties, 'client.id': 'b' })
    await wrong.run('subscribe', { re2: '(' })
    await seen.step('not an expression', () => wrong.failure())
    await wrong.close()
  },
}

const ownConfigs: Scenario = {
  name: 'a group has a session of its own',
  async run(side, seen) {
    const group = 'modern-session'
    await side.createTopics({ name: group, partitions: 2 })
    const ops = [['SET', 'consumer.session.timeout.ms', '45001']]
    await seen.step('set', () => side.topics('alter', { type: 'group', name: group, ops }))
    const join = async (id: string) => {
      const consumer = await side.consumer(`${group}-${id}`, { ...PROTOCOL, 'group.id': group, 'client.id': id })
      await consumer.subscribe(group)
      return consumer
    }
    const consumer = await join('a')
    await seen.step('assigned', () => consumer.assigned(2))
    const keys = ['consumer.session.timeout.ms', 'consumer.heartbeat.interval.ms']
    await seen.step('told', () => side.topics('configs', { type: 'group', name: group, keys }))
    const wrong = [['SET', 'consumer.session.timeout.ms', '1']]
    await seen.step('too short', () => side.topics('alter', { type: 'group', name: group, ops: wrong }))
    await consumer.close()
  },
}

export const consumerProtocolScenarios: readonly Scenario[] = [
  sharing('uniform'),
  sharing('range'),
  staticMembers,
  migration,
  patterns,
  ownConfigs,
]
