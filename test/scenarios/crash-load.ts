// The workload of the crash suite and the check of its promises against what a node holds afterwards.
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { eventually } from '../eventually.ts'
import type { JavaDriver } from '../java/driver.ts'
import { TopicSide } from './topic-side.ts'

/** What CrashLedger.java holds. */
export interface Promises {
  /** `[value, partition, offset]` */
  readonly written: readonly (readonly [string, number, number])[]
  /** The values of each transaction. */
  readonly committed: readonly (readonly string[])[]
  readonly aborted: readonly (readonly string[])[]
  readonly unknown: readonly (readonly string[])[]
  readonly offsets: Offsets
}

interface Progress {
  readonly count: number
  readonly offsets: Offsets
}

/** By group and partition. */
type Offsets = Readonly<Record<string, Readonly<Record<string, number>>>>

interface Place {
  readonly bootstrap: string
  readonly dataDirectory: string
}

const plainTopic = 'plain'
const transactionTopic = 'transactions'
const partitions = 3
/** What it writes. */
export const crashTopics = { plain: plainTopic, all: [plainTopic, transactionTopic], partitions } as const

/** Clients that go on while their node dies and comes back. */
export class CrashLoad {
  readonly #driver: JavaDriver
  readonly #side: TopicSide
  /** The highest offsets that were seen committed, by group and partition. */
  #seen: Offsets = {}

  private constructor(driver: JavaDriver, side: TopicSide) {
    this.#driver = driver
    this.#side = side
  }

  static async start(driver: JavaDriver, node: Place, seed: number): Promise<CrashLoad> {
    const side = new TopicSide(driver, node)
    await side.createTopic(plainTopic, { partitions })
    await side.createTopic(transactionTopic, { partitions })
    const clients = { writers: 2, transactors: 2 }
    const { bootstrap } = node
    await driver.call('crash-load', {
      op: 'start',
      bootstrap,
      seed,
      partitions,
      plainTopic,
      transactionTopic,
      ...clients,
    })
    return new CrashLoad(driver, side)
  }

  /** How many promises there are so far, and the offsets among them. */
  progress(): Promise<Progress> {
    return this.#driver.call<Progress>('crash-load', { op: 'progress' })
  }

  /** Keeps the clients from beginning anything new; what they wait for may still come. */
  async pause(): Promise<void> {
    await this.#driver.call('crash-load', { op: 'pause' })
  }

  async resume(): Promise<void> {
    await this.#driver.call('crash-load', { op: 'resume' })
  }

  /** Ends the clients and gives everything that was promised. */
  stop(): Promise<Promises> {
    return this.#driver.call<Promises>('crash-load', { op: 'stop' })
  }

  /**
   * Committed offsets are not below what is acknowledged, nor below what was seen before. Offsets of a transaction are
   * there a moment after its commit is acknowledged, when its markers are written.
   */
  async checkOffsets(): Promise<void> {
    const { offsets: promised } = await this.progress()
    const seen: Record<string, Record<string, number>> = {}
    for (const [group, acknowledged] of Object.entries(promised)) {
      const wanted = { ...this.#seen[group], ...acknowledged }
      const attempt = async () => {
        const found = await this.#committed(group)
        for (const [partition, offset] of Object.entries(wanted))
          ok((found[partition] ?? -1) >= offset, `${group} ${partition}: ${found[partition]} is below ${offset}`)
        return found
      }
      seen[group] = await (group.endsWith('-group') ? eventually(attempt, { timeoutMs: 90_000 }) : attempt())
    }
    this.#seen = seen
  }

  /** Everything that was acknowledged is there once and in order; of transactions only what was, or may have been, committed. */
  async check(promises: Promises): Promise<void> {
    await this.checkOffsets()
    await this.checkRecords(this.#side, promises)
  }

  /** The same of records alone, at whoever has copies of the topics. */
  async checkRecords(side: TopicSide, promises: Promises): Promise<void> {
    checkWritten(await valuesOf(side, plainTopic), promises)
    checkTransactions(await valuesOf(side, transactionTopic), promises)
  }

  async #committed(group: string): Promise<Record<string, number>> {
    const asked = { op: 'offsets', bootstrap: this.#side.bootstrap, group }
    const found = await this.#driver.call<Record<string, [number]>>('admin-groups', asked)
    // A failure is a value, too.
    ok(!('error' in found), JSON.stringify(found))
    return Object.fromEntries(Object.entries(found).map(([partition, [offset]]) => [partition, offset]))
  }
}

interface Value {
  readonly partition: number
  readonly offset: number
  readonly value: string
}

async function valuesOf(side: TopicSide, topic: string): Promise<Value[]> {
  const read = await side.consume(topic, { isolation: 'read_committed', content: true })
  return Object.entries(read).flatMap(([partition, { records }]) =>
    records.map(row => ({ partition: Number(partition), offset: row[0], value: String(row[7]) })),
  )
}

function checkWritten(found: readonly Value[], { written }: Promises): void {
  const places = new Map(found.map(({ partition, offset, value }) => [value, [partition, offset]]))
  strictEqual(places.size, found.length, 'a record is there twice')
  const lost = written.filter(([value, ...place]) => places.get(value)?.join() !== place.join())
  deepStrictEqual(lost, [], 'acknowledged records are not where they were said to be')
  const last = new Map<string, number>()
  for (const { value } of found) {
    const [writer, partition, number] = value.split('-')
    const stream = `${writer}-${partition}`
    ok(Number(number) > (last.get(stream) ?? -1), `${value} is out of order`)
    last.set(stream, Number(number))
  }
}

function checkTransactions(values: readonly Value[], { committed, aborted, unknown }: Promises): void {
  const found = values.map(({ value }) => value)
  const visible = new Set(found)
  strictEqual(visible.size, found.length, 'a record is there twice')
  const lost = committed.flat().filter(value => !visible.has(value))
  deepStrictEqual(lost, [], 'records of committed transactions are not visible')
  const wrong = aborted.flat().filter(value => visible.has(value))
  deepStrictEqual(wrong, [], 'records of aborted transactions are visible')
  const torn = unknown.filter(values => {
    const there = values.filter(value => visible.has(value)).length
    return there > 0 && there < values.length
  })
  deepStrictEqual(torn, [], 'transactions are visible in part')
  const known = new Set([committed, aborted, unknown].flat(2))
  const strange = found.filter(value => !known.has(value))
  deepStrictEqual(strange, [], 'nobody wrote these')
}
