// Clients of three kinds that write to one of two clusters and read from it in groups, with ledgers of what was acknowledged and what was read; used by the suite of the whole way back.
import { deepStrictEqual, ok } from 'node:assert/strict'
import type { ClientRecord } from '../clients/client-record.ts'
import { confluentTransactions, confluentWriter } from '../clients/confluent.ts'
import { confluentGroupReader, type GroupReader, kafkaJsGroupReader } from '../clients/group-reader.ts'
import { kafkaJsTransactions, kafkaJsWriter } from '../clients/kafkajs.ts'
import { eventually } from '../eventually.ts'
import type { JavaDriver } from '../java/driver.ts'
import type { Site } from './failback-site.ts'
import type { VisibleRecord } from './peers-world.ts'

const partitions = [0, 1]

const recordsOf = (values: readonly string[]): ClientRecord[] =>
  values.map(value => ({ key: null, value, headers: [], timestamp: 1_700_000_000_000 }))

const numbered = (name: string, count = 8): string[] => Array.from({ length: count }, (_, index) => `${name} ${index}`)

/** Groups that read mirrors have names that begin so. */
export const MIRROR_GROUPS = 'of-mirrors-'

export class FailbackLoad {
  readonly #driver: JavaDriver
  readonly #topic: string
  /** Acknowledged, and committed where they belong to transactions. */
  readonly acknowledged: string[] = []
  /** In transactions that were aborted. */
  readonly aborted: string[] = []
  /** Ids of transactions that were left open. */
  readonly #open: string[] = []
  /** `partition:offset` that each group has read, where what it read is still there. */
  readonly #seen = new Map<string, Set<string>>()
  readonly #groups: Readonly<Record<string, GroupReader['read']>>
  /** Of a group that reads mirrors, wherever one is. */
  readonly mirrorGroup: string

  constructor(driver: JavaDriver, topic: string) {
    this.#driver = driver
    this.#topic = topic
    this.mirrorGroup = `${MIRROR_GROUPS}${topic}`
    this.#groups = {
      [`${topic}-java`]: reading => this.#readWithJava(reading),
      [`${topic}-librdkafka`]: confluentGroupReader.read,
      [`${topic}-kafkajs`]: kafkaJsGroupReader.read,
    }
  }

  /** Every kind of client writes, plainly, idempotently and in transactions; resolves when all is acknowledged. */
  async write({ bootstrap, side }: Site, phase: string): Promise<void> {
    const topic = this.#topic
    const java = partitions.map(async partition => {
      const of = (name: string) => recordsOf(this.#acknowledge(`${phase} java ${name} ${partition}`))
      await side.produce(topic, { partition, codec: 'gzip', acks: 'all', idempotent: true, records: of('idempotent') })
      const transaction = { id: `java-${partition}`, end: 'commit' } as const
      await side.produce(topic, { partition, records: of('committed'), transaction })
      const records = recordsOf(this.#abort(`${phase} java aborted ${partition}`))
      await side.produce(topic, { partition, records, transaction: { ...transaction, end: 'abort' } })
    })
    const others = [
      { name: 'librdkafka', writer: confluentWriter, transactions: confluentTransactions, idempotent: true },
      { name: 'kafkajs', writer: kafkaJsWriter, transactions: kafkaJsTransactions, idempotent: false },
    ].map(async ({ name, writer, transactions, idempotent }) => {
      const records = recordsOf(this.#acknowledge(`${phase} ${name}`))
      await writer.write({ bootstrap, topic, codec: 'gzip', acks: 'all', idempotent, records })
      const ends = [
        { values: this.#acknowledge(`${phase} ${name} committed`), commit: true },
        { values: this.#abort(`${phase} ${name} aborted`), commit: false },
      ]
      await transactions.write({ bootstrap, topic, transactionalId: name, transactions: ends })
    })
    await Promise.all([...java, ...others])
  }

  /** A transaction that nobody ends; `name` is once for each. */
  async leaveOpen({ side }: Site, name: string, partition: number): Promise<void> {
    const id = this.#openId(name)
    const records = recordsOf(this.#abort(`open ${name}`))
    const properties = { 'transaction.timeout.ms': '30000' }
    await side.produce(this.#topic, { partition, records, transaction: { id, end: 'open' }, properties })
    this.#open.push(id)
  }

  /** Its producers find that their transactions are over. */
  async close({ side }: Site): Promise<void> {
    await Promise.all(this.#open.map(id => side.endTransaction(id, 'abort').catch(() => {})))
  }

  /** Each group reads so many records more, and commits them. */
  async read(site: Site, count: number): Promise<void> {
    await Promise.all(Object.keys(this.#groups).map(group => this.#readAs(group, site, count)))
  }

  /** The same for the group that reads mirrors. */
  async readMirror(site: Site, count: number): Promise<void> {
    await this.#readAs(this.mirrorGroup, site, count)
  }

  /** Both sides have the same offsets of these groups. */
  async groupsInStep(sites: readonly Site[], groups: readonly string[] = Object.keys(this.#groups)): Promise<void> {
    await eventually(async () => {
      for (const group of groups) {
        const [here, there] = await Promise.all(sites.map(site => this.#committed(site, group)))
        ok(Object.keys(here ?? {}).length > 0, group)
        deepStrictEqual(here, there, group)
      }
    })
  }

  /** Every group reads what is left, also the one that reads the mirror; throws if it passes over a record that it has not seen. */
  async readAll(site: Site, mirror: Site): Promise<void> {
    const visible = await visibleRecords(site, this.#topic)
    await Promise.all([
      ...Object.keys(this.#groups).map(group => this.#readRest(site, group, visible)),
      this.#readRest(mirror, this.mirrorGroup, visible),
    ])
  }

  async #readRest(site: Site, group: string, visible: readonly VisibleRecord[]): Promise<void> {
    const topic = this.#topic
    // What is read twice counts twice for whoever reads so many.
    await eventually(async () => {
      const seen = this.#seenBy(group)
      const committed = await this.#committed(site, group)
      const endOf = (partition: number) => committed[`${topic}-${partition}`] ?? 0
      const skipped = visible.filter(
        ({ partition, offset }) => offset < endOf(partition) && !seen.has(`${partition}:${offset}`),
      )
      deepStrictEqual(skipped, [], `${group} skipped records`)
      const left = visible.filter(({ partition, offset }) => offset >= endOf(partition)).length
      if (left === 0) return
      await this.#readAs(group, site, left)
      throw new Error(`${group} may have something left`)
    })
  }

  async #readAs(group: string, { bootstrap }: Site, count: number): Promise<void> {
    const read = this.#groups[group] ?? (reading => this.#readWithJava(reading))
    const seen = this.#seenBy(group)
    for (const place of await read({ bootstrap, topic: this.#topic, group, count, commitEvery: 100 })) seen.add(place)
  }

  #seenBy(group: string): Set<string> {
    const seen = this.#seen.get(group) ?? new Set()
    this.#seen.set(group, seen)
    return seen
  }

  #openId(name: string): string {
    return `${this.#topic}-${name}-open`
  }

  async #committed({ bootstrap }: Site, group: string): Promise<Record<string, number>> {
    const args = { op: 'offsets', bootstrap, group }
    const found = await this.#driver.call<Record<string, [number]>>('admin-groups', args)
    // A failure is a value, too.
    ok(!('error' in found), JSON.stringify(found))
    return Object.fromEntries(Object.entries(found).map(([partition, [offset]]) => [partition, offset]))
  }

  async #readWithJava({ bootstrap, topic, group, count }: Parameters<GroupReader['read']>[0]): Promise<string[]> {
    const id = group
    const ask = <T>(op: string, args: object = {}) => this.#driver.call<T>('consumer', { id, op, ...args })
    const properties = { 'group.id': group, 'isolation.level': 'read_committed' }
    await ask('open', { bootstrap, properties })
    const seen: string[] = []
    const take = async () => {
      for (const [of, offset] of await ask<[string, number][]>('take'))
        seen.push(`${of.slice(topic.length + 1)}:${offset}`)
    }
    try {
      await ask('subscribe', { topics: [topic] })
      await eventually(async () => {
        await take()
        ok(seen.length >= count, `${seen.length} of ${count} records`)
      })
      await ask('pollable', { on: false })
      await take()
      await ask('commit')
    } finally {
      await ask('close')
    }
    return seen
  }

  #acknowledge(name: string): string[] {
    const values = numbered(name)
    this.acknowledged.push(...values)
    return values
  }

  #abort(name: string): string[] {
    const values = numbered(name)
    this.aborted.push(...values)
    return values
  }
}

/** All records that consumers of committed records read. */
export async function visibleRecords({ side }: Site, topic: string): Promise<VisibleRecord[]> {
  const read = await side.consume(topic, { isolation: 'read_committed', content: true })
  return Object.entries(read).flatMap(([partition, { records }]) =>
    records.map(row => ({ partition: Number(partition), offset: row[0], value: String(row[7]) })),
  )
}
