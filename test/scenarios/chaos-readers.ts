// Clients of every kind that read the same topics, each in a group of its own, while everything around them dies and comes back; used by the suite of chaos.
import { deepStrictEqual, ok } from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { followInPython } from '../clients/confluent.ts'
import { type Follower, type Following, Seen } from '../clients/follower.ts'
import { followWithKafkaJs } from '../clients/kafkajs.ts'
import { followWithPlatformatic } from '../clients/platformatic.ts'
import { eventually } from '../eventually.ts'
import type { JavaDriver } from '../java/driver.ts'
import { crashTopics } from './crash-load.ts'
import type { TopicSide } from './topic-side.ts'

/** One group. */
interface Reader {
  readonly name: string
  readonly topics: readonly string[]
  readonly seen: () => Promise<Seen>
  /** How often the application had to open its client anew, since it had given up. */
  readonly reopened: number
  /** Has it open its client anew; Java goes on by itself. */
  readonly reopen?: () => void
  readonly close: () => Promise<void>
}

/** A client that is given nothing for so long, though there is something, hangs: whoever runs it would open it anew. */
const HANGS_MS = 30_000

/** Who reads, beside Java. */
const others: readonly {
  readonly name: string
  /** It reads only what has no transactions. */
  readonly plainOnly?: boolean
  readonly follow: (of: Following, seen: Seen) => Promise<Follower>
}[] = [
  { name: 'confluent-kafka', follow: followInPython },
  // 2.2.4 leaves out an aborted transaction only if transactions end in the order in which they began.
  { name: 'KafkaJS', plainOnly: true, follow: followWithKafkaJs },
  // 2.12.1 does only if an answer has no other one of the same producer, and has its end.
  { name: 'platformatic', plainOnly: true, follow: followWithPlatformatic },
]

/** All of them. */
export class ChaosReaders {
  readonly #readers: readonly Reader[]

  private constructor(readers: readonly Reader[]) {
    this.#readers = readers
  }

  static async start(driver: JavaDriver, bootstrap: string): Promise<ChaosReaders> {
    const readers: Reader[] = []
    for (const protocol of ['classic', 'consumer']) {
      const of = { bootstrap, topics: crashTopics.all, group: `java-${protocol}` }
      readers.push(await JavaReader.start(driver, { ...of, protocol }))
    }
    for (const { name, plainOnly, follow } of others) {
      const topics = plainOnly ? [crashTopics.plain] : crashTopics.all
      const of = { bootstrap, topics, group: `group-of-${name}` }
      readers.push(new PersistentReader(name, { of, follow }))
    }
    return new ChaosReaders(readers)
  }

  /** Waits until each has read all that is there of its topics; nobody saw a record elsewhere. */
  async haveAll(side: TopicSide): Promise<void> {
    const expected = new Map<string, string>()
    for (const topic of crashTopics.all) {
      const read = await side.consume(topic, { isolation: 'read_committed', content: true })
      for (const [partition, { records }] of Object.entries(read))
        for (const row of records) expected.set(`${topic}-${partition}:${row[0]}`, String(row[7]))
    }
    for (const reader of this.#readers) {
      let [count, sinceMs] = [0, performance.now()]
      await eventually(
        async () => {
          const { name, topics: mine } = reader
          const { values, shifted } = await reader.seen()
          if (values.size > count) [count, sinceMs] = [values.size, performance.now()]
          deepStrictEqual(shifted, [], `${name} was given two records at one place`)
          const wanted = [...expected].filter(([place]) => mine.some(topic => place.startsWith(`${topic}-`)))
          const missing = wanted.filter(([place]) => !values.has(place)).map(([place]) => place)
          if (missing.length > 0 && performance.now() - sinceMs > HANGS_MS) {
            reader.reopen?.()
            sinceMs = performance.now()
          }
          ok(
            missing.length === 0,
            `${name} misses ${missing.length} of ${wanted.length} records: ${missing.slice(0, 5)}`,
          )
          const strange = [...values].filter(([place, value]) => expected.get(place) !== value)
          deepStrictEqual(strange.slice(0, 5), [], `${name} was given ${strange.length} records that are not there`)
        },
        { timeoutMs: 120_000, intervalMs: 500 },
      )
    }
  }

  /** In words. */
  async figures(): Promise<string> {
    const rows = this.#readers.map(async reader => {
      const { values, repeats } = await reader.seen()
      const { name, reopened } = reader
      return `${name} ${values.size} records, ${repeats} again, opened anew ${reopened} times`
    })
    return (await Promise.all(rows)).join('; ')
  }

  async close(): Promise<void> {
    await Promise.all(this.#readers.map(reader => reader.close()))
  }
}

/** So long a share group may take over everything. */
const SHARED_MS = 120_000

/** A Java share group that begins to read after the promote is given every record of a topic, at its offset. */
export async function isShared(side: TopicSide, topic: string): Promise<void> {
  const { driver, bootstrap } = side
  const read = await side.consume(topic)
  const expected = Object.entries(read).flatMap(([partition, { records }]) =>
    records.map(([offset]) => `${topic}-${partition}:${offset}`),
  )
  const [group, id] = ['sharing', 'sharing']
  const ops = [['SET', 'share.auto.offset.reset', 'earliest']]
  await driver.call('admin-topics', { bootstrap, op: 'alter', type: 'group', name: group, ops })
  await driver.call('share-consumer', { id, op: 'open', bootstrap, properties: { 'group.id': group } })
  await driver.call('share-consumer', { id, op: 'subscribe', topics: [topic] })
  const given = new Set<string>()
  const beganMs = performance.now()
  while (given.size < expected.length && performance.now() - beganMs < SHARED_MS) {
    const asked = { id, op: 'take', count: expected.length - given.size, seconds: 10 }
    const rows = await driver.call<readonly (readonly [place: string, offset: number])[]>('share-consumer', asked)
    for (const [place, offset] of rows) given.add(`${place}:${offset}`)
  }
  await driver.call('share-consumer', { id, op: 'close' })
  deepStrictEqual([...given].sort(), expected.sort())
}

/** A Java consumer goes on by itself; being told that its offset is out of range would end it. */
class JavaReader implements Reader {
  readonly name: string
  readonly topics: readonly string[]
  readonly reopened = 0
  readonly #driver: JavaDriver
  readonly #seen = new Seen()

  private constructor(driver: JavaDriver, { group, topics }: Following) {
    this.name = group
    this.topics = topics
    this.#driver = driver
  }

  static async start(driver: JavaDriver, of: Following & { readonly protocol: string }): Promise<JavaReader> {
    const reader = new JavaReader(driver, of)
    const properties = {
      'group.id': of.group,
      'group.protocol': of.protocol,
      'isolation.level': 'read_committed',
      'auto.offset.reset': 'none',
      'enable.auto.commit': 'true',
      'auto.commit.interval.ms': '500',
      'request.timeout.ms': '5000',
    }
    await reader.#ask('open', { bootstrap: of.bootstrap, properties })
    const partitions = of.topics.flatMap(topic =>
      Array.from({ length: crashTopics.partitions }, (_, index) => `${topic}-${index}`),
    )
    const offsets = Object.fromEntries(partitions.map(partition => [partition, 0]))
    await eventually(() => reader.#ask('commit', { offsets }))
    await reader.#ask('subscribe', { topics: of.topics })
    return reader
  }

  async seen(): Promise<Seen> {
    for (const [partition, offset, , value] of await this.#ask<[string, number, string, string][]>('take'))
      this.#seen.add(partition, offset, value)
    const { failure } = await this.#ask<{ readonly failure?: unknown }>('state')
    deepStrictEqual(failure, undefined, `${this.name} could not go on`)
    return this.#seen
  }

  async close(): Promise<void> {
    await this.#ask('close', { seconds: 1 })
  }

  #ask<T>(op: string, args: object = {}): Promise<T> {
    return this.#driver.call<T>('consumer', { id: this.name, op, ...args })
  }
}

/** An application that opens its client anew when it has given up. */
class PersistentReader implements Reader {
  readonly name: string
  readonly topics: readonly string[]
  reopened = 0
  readonly #seen = new Seen()
  readonly #open: () => Promise<Follower>
  readonly #running: Promise<void>
  #letGo = Promise.withResolvers<void>()
  #stopping = false

  constructor(
    name: string,
    { of, follow }: { of: Following; follow: (of: Following, seen: Seen) => Promise<Follower> },
  ) {
    this.name = name
    this.topics = of.topics
    this.#open = () => follow(of, this.#seen)
    this.#running = this.#run()
  }

  async seen(): Promise<Seen> {
    return this.#seen
  }

  reopen(): void {
    this.#letGo.resolve()
  }

  async close(): Promise<void> {
    this.#stopping = true
    this.#letGo.resolve()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      const opening = this.#open()
      const isOver = opening.then(({ ended }) => ended)
      await Promise.race([isOver, this.#letGo.promise]).catch(() => {})
      // One that cannot be opened or closed, since nobody answers it, is left alone.
      const closing = opening.then(follower => follower.close())
      await Promise.race([closing, delay(10_000)]).catch(() => {})
      if (this.#stopping) return
      this.#letGo = Promise.withResolvers<void>()
      this.reopened++
      await delay(500)
    }
  }
}
