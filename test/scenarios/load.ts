// Producers that write to a source without pause, chosen by a seed: the load under which nodes are killed; used by suites and the soak.
import type { Random } from '../../src/core/random.ts'
import { integerBelow, pick } from './chance.ts'
import type { ProduceArgs, TopicSide } from './topic-side.ts'

/** What the load does beside plain and transactional producing. */
export interface LoadOptions {
  readonly topics: readonly string[]
  readonly partitions: number
  readonly random: Random
  /** Now and then records are deleted. */
  readonly deletes?: boolean
}

const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const

/** A broker that does not answer is soon given up, a record is not. */
export const patient = { 'request.timeout.ms': '3000', 'delivery.timeout.ms': '180000', 'max.block.ms': '180000' }

/** Runs until `stop`, which throws what a producer threw. */
export class Load {
  readonly #source: TopicSide
  readonly #options: LoadOptions
  readonly #open = new Set<string>()
  #stopping = false
  #transactions = 0
  #records = 0
  readonly #running: Promise<void>

  constructor(source: TopicSide, options: LoadOptions) {
    this.#source = source
    this.#options = options
    this.#running = this.#run()
    this.#running.catch(() => {})
  }

  /** Records acknowledged so far. */
  get records(): number {
    return this.#records
  }

  /** Ends what is open and waits. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#running
  }

  async #run(): Promise<void> {
    const { random, deletes = false } = this.#options
    while (!this.#stopping) {
      const dice = random()
      if (deletes && dice < 0.1) await this.#delete()
      else if (dice < 0.6) await this.#produce({})
      else await this.#transaction()
    }
    for (const id of this.#open) await this.#source.endTransaction(id, 'commit')
  }

  async #produce(args: ProduceArgs): Promise<void> {
    const { topics, partitions, random } = this.#options
    const count = 1 + integerBelow(200, random)
    const generate = { count, valueBytes: integerBelow(1_500, random), keys: 20, seed: integerBelow(1_000_000, random) }
    const batch = 1 + integerBelow(50, random)
    const partition = integerBelow(partitions, random)
    await this.#source.produce(pick(topics, random), {
      properties: patient,
      codec: pick(codecs, random),
      partition,
      batch,
      generate,
      ...args,
    })
    this.#records += count
  }

  /** Begins one, or ends one that was left open. */
  async #transaction(): Promise<void> {
    const { random } = this.#options
    const [open] = this.#open
    if (open !== undefined && random() < 0.5) {
      this.#open.delete(open)
      await this.#source.endTransaction(open, pick(['commit', 'abort'] as const, random))
      return
    }
    this.#transactions += 1
    const id = `load-${this.#transactions}`
    const end = pick(['commit', 'abort', 'open'] as const, random)
    await this.#produce({ transaction: { id, end } })
    if (end === 'open') this.#open.add(id)
  }

  /** A part of what a partition has, in the middle of whatever batch is there. */
  async #delete(): Promise<void> {
    const { topics, random } = this.#options
    const topic = pick(topics, random)
    const { partitions } = await this.#source.describe(topic)
    const { partition, logStart, highWatermark } = pick(partitions, random)
    const before = logStart + integerBelow(1 + Math.floor((highWatermark - logStart) / 2), random)
    await this.#source.deleteRecords(topic, { [partition]: before })
  }
}
