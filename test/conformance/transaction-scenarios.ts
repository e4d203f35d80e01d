// Transactional Java producers: commits, aborts, fencing, offsets, time-outs; run by the conformance suite of transactions.
import type { Scenario } from './scenario.ts'
import type { Side } from './side.ts'

const value = (text: string) => [{ key: 'k', value: text }]

/** A producer that is ready for transactions. */
async function transactional(side: Side, id: string, properties: Record<string, string> = {}): Promise<void> {
  await side.producer(id, 'open', { properties: { 'transactional.id': id, ...properties } })
  await side.producer(id, 'init')
}

/** What a reader sees of a partition, by isolation level, up to the end that it is told of. */
async function contents(side: Side, topic: string, isolation: string): Promise<unknown> {
  const read = await side.java<Record<string, { end: number; records: unknown[][] }>>('consume', {
    topic,
    isolation,
    content: true,
  })
  return Object.values(read).map(({ end, records }) => ({ end, values: records.map(row => [row[0], row[7]]) }))
}

const outcomes: Scenario = {
  name: 'commits are visible, aborts are not, and open transactions hold readers back',
  async run(side, seen) {
    await side.createTopics({ name: 'outcomes' }, { name: 'outcomes-b', partitions: 2 })
    const send = (text: string, topic = 'outcomes', partition = 0) =>
      side.producer('outcomes', 'send', { topic, partition, records: value(text) })
    const both = async (when: string) => {
      for (const isolation of ['read_committed', 'read_uncommitted'])
        await seen.step(`${isolation} ${when}`, () => contents(side, 'outcomes', isolation))
    }
    await transactional(side, 'outcomes')
    await side.producer('outcomes', 'begin')
    await seen.step('send', () => send('committed'))
    await seen.step('send elsewhere', () => send('committed', 'outcomes-b', 1))
    await both('while open')
    await seen.step('listed', () => side.transactions('list', { pattern: 'outcomes' }))
    await seen.step('described', () => side.transactions('describe', { ids: ['outcomes', 'nobody'] }))
    await seen.step('producers', () => side.transactions('producers', { partition: 'outcomes-0' }).then(withoutIds))
    await seen.step('commit', () => side.producer('outcomes', 'commit'))
    await side.ended('outcomes')
    await both('after the commit')
    await side.producer('outcomes', 'begin')
    await send('aborted')
    await seen.step('abort', () => side.producer('outcomes', 'abort'))
    await side.producer('outcomes', 'begin')
    await seen.step('commit nothing', () => side.producer('outcomes', 'commit'))
    await seen.step('commit again', () => side.producer('outcomes', 'commit'))
    await side.producer('outcomes', 'begin')
    await send('last')
    await side.producer('outcomes', 'commit')
    await side.ended('outcomes')
    await both('at the end')
    await seen.step('the other topic', () => contents(side, 'outcomes-b', 'read_committed'))
    await seen.step('described at the end', () => side.transactions('describe', { ids: ['outcomes'] }))
    await seen.step('producers at the end', () =>
      side.transactions('producers', { partition: 'outcomes-0' }).then(withoutIds),
    )
    await side.producer('outcomes', 'close')
  },
}

/** Producer ids are chance. */
const withoutIds = (rows: unknown): unknown =>
  JSON.parse(JSON.stringify(rows), (key, part: unknown) => (key === 'producerId' ? undefined : part))

const fencing: Scenario = {
  name: 'a producer is fenced by the next one of its id, by an administrator, and may not use what is not its own',
  async run(side, seen) {
    await side.createTopics({ name: 'fenced' })
    const send = (id: string, text: string) => side.producer(id, 'send', { topic: 'fenced', records: value(text) })
    const open = async (id: string) => {
      await side.producer(id, 'open', { properties: { 'transactional.id': 'fenced' } })
      await side.producer(id, 'init')
      await side.producer(id, 'begin')
    }
    await open('fenced-1')
    await seen.step('first sends', () => send('fenced-1', 'first'))
    await open('fenced-2')
    await seen.step('second sends', () => send('fenced-2', 'second'))
    await seen.step('first sends when fenced', () => send('fenced-1', 'too late'))
    await seen.step('first commits when fenced', () => side.producer('fenced-1', 'commit'))
    await seen.step('first aborts when fenced', () => side.producer('fenced-1', 'abort'))
    await seen.step('second commits', () => side.producer('fenced-2', 'commit'))
    await side.producer('fenced-2', 'begin')
    await send('fenced-2', 'third')
    await seen.step('fence', () => side.transactions('fence', { ids: ['fenced', 'fenced-new'] }))
    await seen.step('second commits when fenced', () => side.producer('fenced-2', 'commit'))
    await open('fenced-3')
    await send('fenced-3', 'fourth')
    await seen.step('terminate', () => side.transactions('terminate', { txn: 'fenced' }))
    await seen.step('third commits when terminated', () => side.producer('fenced-3', 'commit'))
    await seen.step('terminate nobody', () => side.transactions('terminate', { txn: 'fenced-nobody' }))
    await seen.step('committed', () => contents(side, 'fenced', 'read_committed'))
    for (const id of ['fenced-1', 'fenced-2', 'fenced-3']) await side.producer(id, 'close')
  },
}

const offsetsInTransactions: Scenario = {
  name: 'offsets are committed with transactions, by members of their generation only',
  async run(side, seen) {
    await side.createTopics({ name: 'source', partitions: 2 }, { name: 'target' })
    await side.write('source', 10, { partition: 0 })
    const consumer = await side.consumer('source', { 'group.id': 'sourced', 'isolation.level': 'read_committed' })
    await consumer.subscribe('source')
    await consumer.takeUntil(10)
    await transactional(side, 'sourced')
    const offsets = (offset: number, args: object) =>
      side.producer('sourced', 'offsets', { offsets: { 'source-0': offset }, ...args })
    const committed = () => side.groups('offsets', { group: 'sourced' })
    const member = { consumer: `${side.name}/source` }
    await side.producer('sourced', 'begin')
    await side.producer('sourced', 'send', { topic: 'target', records: value('five') })
    await seen.step('send offsets', () => offsets(5, member))
    await seen.step('pending', committed)
    await seen.step('stable', () =>
      side.groups('offsets', {
        group: 'sourced',
        stable: true,
        admin: { 'default.api.timeout.ms': '2000', 'request.timeout.ms': '1500' },
      }),
    )
    await seen.step('commit', () => side.producer('sourced', 'commit'))
    await seen.settles('committed', committed, found => Object.keys(found as object).length > 0)
    await side.producer('sourced', 'begin')
    await seen.step('send more', () => offsets(7, member))
    await seen.step('abort', () => side.producer('sourced', 'abort'))
    await seen.step('still', committed)
    await side.producer('sourced', 'begin')
    await seen.step('a wrong generation', () => offsets(8, { group: 'sourced', member: 'nobody', generation: 3 }))
    await seen.step('abort then', () => side.producer('sourced', 'abort'))
    await side.producer('sourced', 'begin')
    await seen.step('without a member', () => offsets(9, { group: 'sourced' }))
    await seen.step('commit then', () => side.producer('sourced', 'commit'))
    await seen.settles('in the end', committed, found => JSON.stringify(found).includes('[9'))
    await side.producer('sourced', 'begin')
    await seen.step('another group', () => offsets(1, { group: 'sourced-new' }))
    await side.producer('sourced', 'commit')
    await seen.settles(
      'the other group',
      () => side.groups('offsets', { group: 'sourced-new' }),
      found => Object.keys(found as object).length > 0,
    )
    await seen.step('delete it', () => side.groups('delete', { groups: ['sourced-new'] }))
    await consumer.close()
    await side.producer('sourced', 'close')
  },
}

const timeouts: Scenario = {
  name: 'a transaction that takes too long is aborted',
  async run(side, seen) {
    await side.createTopics({ name: 'late' })
    await seen.step('longer than allowed', () =>
      transactional(side, 'late-long', { 'transaction.timeout.ms': '900001' }),
    )
    await side.producer('late-long', 'close')
    await transactional(side, 'late', { 'transaction.timeout.ms': '8000' })
    await side.producer('late', 'begin')
    await side.producer('late', 'send', { topic: 'late', records: value('too slow') })
    await seen.settles(
      'aborted by the coordinator',
      () => side.transactions<string[][]>('list', { pattern: 'late' }),
      found => found[0]?.[1] === 'CompleteAbort',
    )
    await seen.step('commit', () => side.producer('late', 'commit'))
    await seen.step('abort', () => side.producer('late', 'abort'))
    await seen.step('begin', () => side.producer('late', 'begin'))
    await seen.step('visible', () => contents(side, 'late', 'read_committed'))
    await seen.step('by state', async () => ({
      ongoing: await side.transactions('list', { states: ['Ongoing'], pattern: 'late' }),
      aborted: await side.transactions('list', { states: ['CompleteAbort'], pattern: 'late' }),
      bad: await side.transactions('list', { pattern: '(' }),
      long: await side.transactions('list', { durationMs: 600_000, pattern: 'late' }),
    }))
    await side.producer('late', 'close')
  },
}

const misuse: Scenario = {
  name: 'producers that do what transactions forbid',
  async run(side, seen) {
    await side.createTopics({ name: 'misused' })
    await side.producer('misused', 'open', { properties: { 'transactional.id': 'misused', 'max.block.ms': '15000' } })
    await seen.step('begin before init', () => side.producer('misused', 'begin'))
    await seen.step('init', () => side.producer('misused', 'init'))
    await seen.step('send outside', () => side.producer('misused', 'send', { topic: 'misused', records: value('x') }))
    await seen.step('begin', () => side.producer('misused', 'begin'))
    await seen.step('begin twice', () => side.producer('misused', 'begin'))
    await seen.step('send to no topic', () =>
      side.producer('misused', 'send', { topic: 'nobody', records: value('x') }),
    )
    await seen.step('commit after a failed send', () => side.producer('misused', 'commit'))
    await seen.step('abort after it', () => side.producer('misused', 'abort'))
    await side.producer('misused', 'begin')
    await seen.step('go on', () => side.producer('misused', 'send', { topic: 'misused', records: value('y') }))
    await seen.step('commit', () => side.producer('misused', 'commit'))
    await side.producer('misused', 'close')
    await seen.step('two-phase commit', () =>
      transactional(side, 'two-phase', { 'transaction.two.phase.commit.enable': 'true' }),
    )
    await seen.step('abort what is not open', () =>
      side.transactions('abort', { partition: 'misused-0', producerId: 77, epoch: 0, coordinatorEpoch: 0 }),
    )
    await seen.step('producers of no partition', () =>
      side.transactions('producers', {
        partition: 'nobody-0',
        admin: { 'default.api.timeout.ms': '3000', 'request.timeout.ms': '2500' },
      }),
    )
    await side.ended('misused')
    await seen.step('content', () => contents(side, 'misused', 'read_committed'))
  },
}

const copying: Scenario = {
  name: 'reading, writing and committing in transactions, with aborts, copies each record once',
  async run(side, seen) {
    await side.createTopics({ name: 'copied', partitions: 3 }, { name: 'copy', partitions: 3 })
    for (const partition of [0, 1, 2]) await side.write('copied', 20, { partition })
    const consumer = await side.consumer('copied', { 'group.id': 'copied', 'isolation.level': 'read_committed' })
    await consumer.subscribe('copied')
    const rows = await consumer.takeUntil(60)
    await transactional(side, 'copier')
    let round = 0
    for (let at = 0; at < 20; round++) {
      const portion = rows.filter(([, offset]) => offset >= at && offset < at + 5)
      await side.producer('copier', 'begin')
      const records = portion.map(([partition, offset, key]) => ({ key, value: `${partition}@${offset}` }))
      await side.producer('copier', 'send', { topic: 'copy', records })
      const offsets = Object.fromEntries([0, 1, 2].map(partition => [`copied-${partition}`, at + 5]))
      await side.producer('copier', 'offsets', { offsets, consumer: `${side.name}/copied` })
      const aborts = round % 3 === 1
      await side.producer('copier', aborts ? 'abort' : 'commit')
      if (!aborts) at += 5
    }
    await side.ended('copier')
    const read = await side.java<Record<string, { records: unknown[][] }>>('consume', {
      topic: 'copy',
      isolation: 'read_committed',
      content: true,
    })
    const values = Object.values(read).flatMap(({ records }) => records.map(row => String(row[7])))
    seen.note('copied', values.toSorted())
    await seen.settles(
      'offsets',
      () => side.groups('offsets', { group: 'copied' }),
      found => JSON.stringify(found).split('[20').length === 4,
    )
    await consumer.close()
    await side.producer('copier', 'close')
  },
}

export const transactionScenarios: readonly Scenario[] = [
  outcomes,
  fencing,
  offsetsInTransactions,
  timeouts,
  misuse,
  copying,
]
