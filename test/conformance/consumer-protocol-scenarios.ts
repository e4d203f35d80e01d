// Java consumers with group.protocol=consumer (KIP-848): sharing, static members, expressions, migration; run by the conformance suite of the consumer protocol.

import { ranges } from './java-consumer.ts'
import type { Scenario } from './scenario.ts'
import type { Side } from './side.ts'
import type { Transcript } from './transcript.ts'

const PROTOCOL = { 'group.protocol': 'consumer' }

/** Who has which partition depends on ids by chance. */
const sizes = (assignments: readonly (readonly string[])[]) => ranges(assignments).map(range => range.split(' ').length)

/** A member has its partitions before it has told so, which is what the group waits for; others come to their end in their own time. */
const listedAs = (seen: Transcript, name: string, { side, group }: { side: Side; group: string }): Promise<void> =>
  seen.settles(
    name,
    async () => (await side.groups<string[][]>('list')).filter(([id]) => id === group),
    found => JSON.stringify(found).includes('Stable'),
  )

const describedAs = (seen: Transcript, name: string, of: { side: Side; group: string; state: string }): Promise<void> =>
  seen.settles(
    name,
    () => of.side.groups('describe', { groups: [of.group] }),
    found => JSON.stringify(found).includes(of.state),
  )

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
    await listedAs(seen, 'listed', { side, group: topic })
    await first.close()
    await seen.step('the other', () => second.assigned(6))
    await second.close()
    await describedAs(seen, 'empty', { side, group: topic, state: 'Empty' })
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
    await listedAs(seen, 'listed as a consumer group', { side, group: 'modern-move' })
    await modern.close()
    await seen.step('the old one alone', () => old.assigned(4))
    await listedAs(seen, 'listed as a classic group', { side, group: 'modern-move' })
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
    await describedAs(seen, 'described', { side, group: 'modern-re', state: 'Stable' })
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
    await seen.settles(
      'told',
      () => side.topics('configs', { type: 'group', name: group, keys }),
      found => JSON.stringify(found).includes('45001'),
    )
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
