// Writers who try both clusters all the time and repeat nothing: what was acknowledged must be there in the end, which it is not if two copies took records at once.
import { setTimeout as delay } from 'node:timers/promises'
import { Kafka, logLevel, Partitioners, type Producer } from 'kafkajs'
import '../clients/kafkajs-timers.ts'

interface Place {
  readonly name: string
  readonly bootstrap: string
}

/** One writer at each place; a value is `name number`. */
export class WritersOfBoth {
  /** Values that were acknowledged, with where. */
  readonly acknowledged: { readonly value: string; readonly at: string }[] = []
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>[]

  constructor(places: readonly Place[], topic: string) {
    this.#running = places.map(place => this.#write(place, topic))
  }

  /** Whether that place has taken a record for either partition, which different brokers may lead, since so many were acknowledged. */
  hasTaken(place: string, since = 0): boolean {
    const numbers = this.acknowledged
      .slice(since)
      .flatMap(({ value, at }) => (at === place ? [Number(value.slice(place.length))] : []))
    return [0, 1].every(partition => numbers.some(number => number % 2 === partition))
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#running)
  }

  async #write({ name, bootstrap }: Place, topic: string): Promise<void> {
    const { signal } = this.#stopping
    let producer: Producer | undefined
    for (let number = 0; !signal.aborted; number++) {
      const value = `${name} ${number}`
      try {
        producer ??= await connected(bootstrap)
        await producer.send({ topic, acks: -1, messages: [{ partition: number % 2, value }] })
        this.acknowledged.push({ value, at: name })
      } catch {
        // Refused, or nobody there.
        await producer?.disconnect().catch(() => {})
        producer = undefined
        await delay(50, undefined, { signal }).catch(() => {})
      }
    }
    await producer?.disconnect().catch(() => {})
  }
}

async function connected(bootstrap: string): Promise<Producer> {
  const kafka = new Kafka({
    ...{ clientId: 'both', brokers: bootstrap.split(','), logLevel: logLevel.NOTHING, retry: { retries: 0 } },
    ...{ connectionTimeout: 2000, requestTimeout: 10_000 },
  })
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner, retry: { retries: 0 } })
  await producer.connect()
  return producer
}
