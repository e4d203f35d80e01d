// Share groups (KIP-932): the Java share consumer, what Java's Admin says, Kafka's tools; run by the conformance suite of share groups.
import { eventually } from '../eventually.ts'
import { fromEarliest as beginAtEarliest } from '../scenarios/from-earliest.ts'
import type { Scenario } from './scenario.ts'
import type { Side } from './side.ts'
import { printedBy } from './tool-output.ts'

const BOOTSTRAP = ['--bootstrap-server', '{bootstrap}']
const SHARE_GROUPS = 'org.apache.kafka.tools.consumer.group.ShareGroupCommand'
const CONFIGS = 'kafka.admin.ConfigCommand'

/** Columns are as wide as what is in them; texts of errors are each side's own. */
const columns = (text: string): string =>
  text
    .replaceAll(/[ \t]+/g, ' ')
    .replaceAll(/(Exception):.*/g, '$1')
    .replaceAll(/Error: (?!Executing).*/g, 'Error')

type Row = readonly [string, number, string, number]

class ShareConsumer {
  readonly #run: <Result>(op: string, args?: object) => Promise<Result>

  private constructor(side: Side, id: string) {
    this.#run = (op, args = {}) => side.java('share-consumer', { id: `${side.name}/${id}`, op, ...args })
  }

  static async join(side: Side, id: string, of: { group: string; topics: readonly string[]; properties?: object }) {
    const consumer = new ShareConsumer(side, id)
    const properties = { 'group.id': of.group, 'client.id': id, ...of.properties }
    await consumer.#run('open', { properties })
    await consumer.#run('subscribe', { topics: of.topics })
    return consumer
  }

  /** How many records it had, and those of the rows that are asked for. */
  take(count: number, args: { as?: 'accept' | 'release' | 'reject'; seconds?: number } = {}): Promise<readonly Row[]> {
    return this.#run('take', { count, ...args })
  }

  close(): Promise<void> {
    return this.#run('close')
  }
}

const fromEarliest = (side: Side, group: string) => beginAtEarliest(args => side.java('admin-topics', args), group)

/** A member is gone a moment after its consumer was closed. */
const emptied = (side: Side, group: string) =>
  eventually(
    async () => {
      const answer = JSON.stringify(await side.groups('describe-share', { groups: [group] }))
      if (!answer.includes('Empty')) throw new Error(answer)
    },
    { timeoutMs: 120_000 },
  )

const life: Scenario = {
  name: 'a share group lives from its first member to its deletion',
  async run(side, seen) {
    const group = 'shared-life'
    await side.createTopics({ name: group, partitions: 2 })
    await side.write(group, 10, { partition: 0 })
    await side.write(group, 5, { partition: 1 })
    await seen.step('configured', () => fromEarliest(side, group))
    const first = await ShareConsumer.join(side, 'life-a', { group, topics: [group] })
    await seen.step('reads', () => first.take(15))
    const second = await ShareConsumer.join(side, 'life-b', { group, topics: [group] })
    await side.write(group, 6, { partition: 0 })
    // Which of the two has the partition is chance.
    await seen.step('described', () => side.groups('describe-share', { groups: [group, 'nothing'] }))
    await seen.step('listed', () => side.groups('list', { types: ['Share'] }))
    await seen.step('not to be deleted', () => side.groups('delete', { groups: [group] }))
    await first.close()
    await seen.step('goes on', async () => (await second.take(6)).length)
    await second.close()
    await emptied(side, group)
    await seen.step('described when empty', () => side.groups('describe-share', { groups: [group] }))
    // Where a partition starts is kept with the next acknowledgement; how many there were is chance.
    const starts = () => side.groups<Record<string, number>>('share-offsets', { group })
    await seen.step('offsets', async () => Object.keys(await starts()))
    await seen.step('described as consumers', () => side.groups('describe', { groups: [group] }))
    await seen.step('committed to', () => side.groups('alter-offsets', { group, offsets: { [`${group}-0`]: 1 } }))
    await seen.step('deleted', () => side.groups('delete', { groups: [group] }))
    await seen.step('deleted again', () => side.groups('delete', { groups: [group] }))
    await seen.step('offsets afterwards', () => side.groups('share-offsets', { group }))
  },
}

const acknowledgements: Scenario = {
  name: 'records of a share group are released, rejected and accepted',
  async run(side, seen) {
    const group = 'shared-acks'
    await side.createTopics({ name: group })
    await side.write(group, 3, { partition: 0 })
    await fromEarliest(side, group)
    const member = await ShareConsumer.join(side, 'acks', { group, topics: [group] })
    await seen.step('released', () => member.take(3, { as: 'release' }))
    await seen.step('again', () => member.take(3, { as: 'release' }))
    await seen.step('rejected', () => member.take(3, { as: 'reject' }))
    await side.write(group, 2, { partition: 0 })
    await seen.step('accepted', () => member.take(2))
    await seen.step('no more', () => member.take(1, { seconds: 2 }))
    await member.close()
    await emptied(side, group)
    await seen.step('offsets', () => side.groups('share-offsets', { group }))
  },
}

const topicsThatAppear: Scenario = {
  name: 'a share group reads a topic that appears after its members',
  async run(side, seen) {
    const group = 'shared-later'
    await side.createTopics({ name: 'shared-present' })
    await side.write('shared-present', 2, { partition: 0 })
    await fromEarliest(side, group)
    const member = await ShareConsumer.join(side, 'later', { group, topics: ['shared-present', 'shared-later'] })
    await seen.step('the present one', () => member.take(2))
    await side.createTopics({ name: 'shared-later' })
    await side.write('shared-later', 3, { partition: 0 })
    await seen.step('the later one', () => member.take(3))
    await member.close()
  },
}

const otherTypes: Scenario = {
  name: 'a share group and a consumer group cannot have one name',
  async run(side, seen) {
    await side.createTopics({ name: 'shared-types' })
    await side.write('shared-types', 3, { partition: 0 })
    const consumers = await side.consumer('types-consumer', { 'group.id': 'typed-consumers' })
    await consumers.subscribe('shared-types')
    await consumers.takeUntil(3)
    const share = await ShareConsumer.join(side, 'types-share', { group: 'typed-consumers', topics: ['shared-types'] })
    await seen.step('share consumer in a consumer group', () => share.take(1, { seconds: 20 }))
    await share.close().catch(() => undefined)
    await consumers.close()
    await fromEarliest(side, 'typed-shares')
    const member = await ShareConsumer.join(side, 'types-member', { group: 'typed-shares', topics: ['shared-types'] })
    await member.take(3)
    for (const protocol of ['classic', 'consumer']) {
      const other = await side.consumer(`types-${protocol}`, { 'group.id': 'typed-shares', 'group.protocol': protocol })
      await other.subscribe('shared-types')
      await seen.step(`${protocol} consumer in a share group`, () => other.failure())
      await other.close()
    }
    await member.close()
  },
}

const tool: Scenario = {
  name: 'kafka-share-groups',
  async run(side, seen) {
    const group = ['--group', 'tool-shared']
    const run = async (...args: string[]) => columns(await printedBy(side, SHARE_GROUPS, [...BOOTSTRAP, ...args]))
    await side.createTopics({ name: 'tool-shared' }, { name: 'tool-unread' })
    await side.write('tool-shared', 10, { partition: 0 })
    await fromEarliest(side, 'tool-shared')
    const member = await ShareConsumer.join(side, 'tool-shared', { group: 'tool-shared', topics: ['tool-shared'] })
    await member.take(10)
    await seen.step('list', () => run('--list'))
    await seen.step('list with state', () => run('--list', '--state', 'Stable'))
    await seen.step('describe the state', () => run('--describe', ...group, '--state'))
    await seen.step('describe nothing', () => run('--describe', '--group', 'tool-nothing'))
    const reset = (...args: string[]) => run('--reset-offsets', ...group, ...args)
    await seen.step('reset with a member', () => reset('--topic', 'tool-shared', '--to-earliest', '--execute'))
    await seen.step('delete offsets with a member', () => run('--delete-offsets', ...group, '--topic', 'tool-shared'))
    await seen.step('delete with a member', () => run('--delete', ...group))
    await member.close()
    await emptied(side, 'tool-shared')
    await seen.settles(
      'describe offsets',
      () => run('--describe', ...group, '--offsets'),
      text => text.includes('tool-shared tool-shared 0 0 0'),
    )
    await seen.step('describe members', () => run('--describe', ...group, '--members'))
    const topic = ['--topic', 'tool-shared']
    await seen.step('reset, tried', () => reset(...topic, '--to-earliest', '--dry-run'))
    await seen.step('reset to the start', () => reset(...topic, '--to-earliest', '--execute'))
    await seen.step('where it starts', () => run('--describe', ...group, '--offsets'))
    await seen.step('reset to the end', () => reset(...topic, '--to-latest', '--execute'))
    await seen.step('reset by time', () => reset(...topic, '--to-datetime', '2020-01-01T00:00:00.000', '--execute'))
    await seen.step('reset of another topic', () => reset('--topic', 'tool-unread', '--to-earliest', '--execute'))
    await seen.step('reset of nothing', () => reset('--topic', 'tool-missing', '--to-earliest', '--execute'))
    await seen.step('a new group', () =>
      run('--reset-offsets', '--group', 'tool-made', ...topic, '--to-earliest', '--execute'),
    )
    await seen.step('the new group', () => run('--describe', '--group', 'tool-made', '--state'))
    await seen.step('delete offsets', () => run('--delete-offsets', ...group, ...topic))
    await seen.step('delete offsets again', () => run('--delete-offsets', ...group, ...topic))
    await seen.step('delete', () => run('--delete', ...group))
    await seen.step('delete again', () => run('--delete', ...group))
    await seen.step('list afterwards', () => run('--list'))
  },
}

const configs: Scenario = {
  name: 'kafka-configs of groups',
  async run(side, seen) {
    const entity = ['--entity-type', 'groups', '--entity-name', 'tool-configured']
    const run = async (...args: string[]) => columns(await printedBy(side, CONFIGS, [...BOOTSTRAP, ...args]))
    const values = [
      'share.session.timeout.ms=50000',
      'share.heartbeat.interval.ms=6000',
      'share.record.lock.duration.ms=20000',
      'share.auto.offset.reset=by_duration:P1D',
      'share.isolation.level=read_committed',
      'consumer.session.timeout.ms=50000',
    ]
    await seen.step('alter', () => run('--alter', ...entity, '--add-config', values.join(',')))
    const described = (name: string, of: readonly string[], accepted: (text: string) => boolean) =>
      seen.settles(name, () => run('--describe', ...of), accepted)
    await described('describe', entity, text => values.every(value => text.includes(value)))
    for (const value of ['share.session.timeout.ms=1', 'share.auto.offset.reset=never', 'share.nothing=1'])
      await seen.step(`refuse ${value}`, () => run('--alter', ...entity, '--add-config', value))
    await seen.step('delete', () => run('--alter', ...entity, '--delete-config', 'share.session.timeout.ms'))
    await described(
      'describe all groups',
      ['--entity-type', 'groups'],
      text => text.includes('share.isolation.level') && !text.includes('share.session.timeout.ms'),
    )
  },
}

export const shareGroupScenarios: readonly Scenario[] = [
  life,
  acknowledgements,
  topicsThatAppear,
  otherTypes,
  tool,
  configs,
]
