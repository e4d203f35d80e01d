// Kafka's tools for groups, transactions and ACLs: what they print and do; run by the suite of the clients' tools.
import type { Scenario } from './scenario.ts'
import type { Side } from './side.ts'
import { printedBy } from './tool-output.ts'

const BOOTSTRAP = ['--bootstrap-server', '{bootstrap}']
const GROUPS = 'org.apache.kafka.tools.consumer.group.ConsumerGroupCommand'
const TRANSACTIONS = 'org.apache.kafka.tools.TransactionsCommand'
const ACLS = 'org.apache.kafka.tools.AclCommand'

/** Columns are as wide as what is in them, and member ids are chance. */
const columns = (text: string): string =>
  text.replaceAll(/-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '-UUID').replaceAll(/[ \t]+/g, ' ')

const consumerGroups: Scenario = {
  name: 'kafka-consumer-groups and kafka-groups',
  async run(side, seen) {
    const tool = async (...args: string[]) => columns(await printedBy(side, GROUPS, [...BOOTSTRAP, ...args]))
    const group = ['--group', 'tool-group']
    await side.createTopics({ name: 'grouped', partitions: 2 })
    await side.write('grouped', 10, { partition: 0 })
    const member = await side.consumer('tool-member', { 'group.id': 'tool-group', 'client.id': 'tool-client' })
    await member.subscribe('grouped')
    await member.takeUntil(10)
    await member.run('commit', { offsets: { 'grouped-0': 4 } })
    await seen.step('list', () => tool('--list', '--state', '--type'))
    await seen.step('list by state', () => tool('--list', '--state', 'Empty'))
    for (const what of ['--offsets', '--members', '--state'])
      await seen.step(`describe ${what}`, () => tool('--describe', ...group, what))
    await seen.step('describe verbosely', () => tool('--describe', ...group, '--members', '--verbose'))
    await seen.step('describe nobody', () => tool('--describe', '--group', 'tool-nobody'))
    const reset = (...args: string[]) => tool('--reset-offsets', ...group, '--topic', 'grouped', ...args)
    await seen.step('reset with a member', () => reset('--to-earliest', '--execute'))
    await seen.step('delete with a member', () => tool('--delete', ...group))
    await member.close()
    for (const to of [['--to-earliest'], ['--to-latest'], ['--shift-by', '-2'], ['--to-offset', '7'], ['--to-current']])
      await seen.step(`reset ${to.join(' ')}`, () => reset(...to, '--execute'))
    await seen.step('reset by time', () => reset('--to-datetime', '2020-01-01T00:00:00.000', '--dry-run'))
    await seen.step('export', () => reset('--to-current', '--export'))
    await seen.step('describe when empty', () => tool('--describe', ...group))
    await seen.step('delete offsets', () => tool('--delete-offsets', ...group, '--topic', 'grouped:1'))
    await seen.step('delete', () => tool('--delete', ...group))
    await seen.step('delete again', () => tool('--delete', ...group))
    await seen.step('kafka-groups', async () =>
      columns(await printedBy(side, 'org.apache.kafka.tools.GroupsCommand', [...BOOTSTRAP, '--list'])),
    )
  },
}

/** Ids, times and how long ago something was. */
const withoutNumbers = (text: string): string => columns(text).replaceAll(/\b\d{2,}\b/g, 'N')

async function openTransaction(side: Side, id: string, topic: string): Promise<void> {
  await side.producer(id, 'open', { properties: { 'transactional.id': id } })
  await side.producer(id, 'init')
  await side.producer(id, 'begin')
  await side.producer(id, 'send', { topic, partition: 0, records: [{ value: 'x' }] })
}

const transactions: Scenario = {
  name: 'kafka-transactions',
  async run(side, seen) {
    const tool = async (...args: string[]) =>
      withoutNumbers(await printedBy(side, TRANSACTIONS, [...BOOTSTRAP, ...args]))
    await side.createTopics({ name: 'tool-transactions' })
    await openTransaction(side, 'tool-txn', 'tool-transactions')
    // An id has as many digits as it happens to have.
    const shapes = async (...args: string[]) => (await tool(...args)).replaceAll(/ \d\b/g, ' N')
    await seen.step('list', () => shapes('list'))
    await seen.step('list by pattern', () => shapes('list', '--transactional-id-pattern', 'tool-.*'))
    await seen.step('describe', () => shapes('describe', '--transactional-id', 'tool-txn'))
    await seen.step('describe nobody', () => tool('describe', '--transactional-id', 'tool-nobody'))
    const place = ['--topic', 'tool-transactions', '--partition', '0']
    await seen.step('producers', () => shapes('describe-producers', ...place))
    await seen.step('hanging', () => shapes('find-hanging', '--broker-id', '1', '--max-transaction-timeout', '1'))
    await seen.step('abort by offset', () => tool('abort', ...place, '--start-offset', '0'))
    await seen.step('abort nothing', () => tool('abort', ...place, '--start-offset', '7'))
    await seen.step('producers afterwards', () => shapes('describe-producers', ...place))
    await openTransaction(side, 'tool-txn-2', 'tool-transactions')
    await seen.step('terminate', () => tool('forceTerminateTransaction', '--transactionalId', 'tool-txn-2'))
    await seen.step('terminate nobody', () => tool('forceTerminateTransaction', '--transactionalId', 'tool-nobody'))
    await seen.settles(
      'list afterwards',
      () => shapes('list', '--transactional-id-pattern', 'tool-txn-2'),
      text => text.includes('Empty'),
    )
    await side.producer('tool-txn-2', 'close')
    await side.producer('tool-txn', 'close')
  },
}

const acls: Scenario = {
  name: 'kafka-acls',
  async run(side, seen) {
    const tool = (...args: string[]) => printedBy(side, ACLS, [...BOOTSTRAP, ...args])
    // What there is after a change is what the broker has heard of by then.
    const change = async (...args: string[]) => (await tool(...args)).match(/^(status .*|.*Exception)$/gm)
    const topic = ['--topic', 'tool-acls']
    const list = (name: string, ofWhom: RegExp, ...args: string[]) =>
      seen.settles(
        name,
        () => tool('--list', ...args),
        text => ofWhom.test(text),
      )
    await seen.step('list none', () => tool('--list', ...topic))
    await seen.step('add', () => change('--add', '--allow-principal', 'User:alice', '--operation', 'Read', ...topic))
    await seen.step('add for a producer', () =>
      change('--add', '--allow-principal', 'User:bob', '--producer', ...topic, '--transactional-id', 'tool-acls'),
    )
    await seen.step('add for a consumer', () =>
      change('--add', '--allow-principal', 'User:carol', '--consumer', ...topic, '--group', 'tool-acls-group'),
    )
    await seen.step('deny with a prefix', () =>
      change(
        ...['--add', '--deny-principal', 'User:dave', '--deny-host', '10.1.2.3', '--operation', 'All'],
        ...['--topic', 'tool-', '--resource-pattern-type', 'prefixed'],
      ),
    )
    await list('list what matches', /dave/, ...topic, '--resource-pattern-type', 'match')
    await list('list', /carol/, ...topic)
    await list('list a principal', /carol/, '--principal', 'User:carol')
    await seen.step('remove one', () =>
      change('--remove', '--force', '--allow-principal', 'User:alice', '--operation', 'Read', ...topic),
    )
    await seen.step('remove the rest', () => change('--remove', '--force', ...topic))
    await seen.step('bad principal', () => tool('--add', '--allow-principal', 'alice', '--operation', 'Read', ...topic))
    await seen.step('bad operation', () =>
      tool('--add', '--allow-principal', 'User:alice', '--operation', 'IdempotentWrite', ...topic),
    )
    await seen.settles(
      'list the end',
      () => tool('--list'),
      text => !/TOPIC, name=tool-acls,/.test(text),
    )
  },
}

export const groupToolScenarios: readonly Scenario[] = [consumerGroups, transactions, acls]
