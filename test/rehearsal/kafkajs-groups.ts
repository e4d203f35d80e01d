// Groups of KafkaJS, in this process; used by the rehearsals.
import { type Consumer, Kafka, logLevel } from 'kafkajs'
import { kafkaJsOptions } from '../clients/client-security.ts'
import '../clients/kafkajs-timers.ts'
import type { Deliveries, Place } from './deliveries.ts'
import type { ClientPlace, GroupClients, ReadingGroup } from './group-clients.ts'

interface OpenPlace {
  readonly runs: [number, number][]
  committed: number
  readonly firstMs: number
}

type Ledger = Map<string, Map<string, OpenPlace>>

interface Session {
  readonly ledger: Ledger
  readonly consumers: Consumer[]
  readonly failures: Error[]
  stopping: boolean
}

export class KafkaJsGroups implements GroupClients {
  readonly name = 'KafkaJS'
  readonly #sessions = new Map<string, Session>()

  async start(name: string, groups: readonly ReadingGroup[], at: ClientPlace): Promise<void> {
    const session: Session = { ledger: new Map(), consumers: [], failures: [], stopping: false }
    this.#sessions.set(name, session)
    await Promise.all(groups.map(group => this.#consume(session, group, at)))
  }

  async progress(name: string): Promise<Deliveries> {
    const { ledger, failures } = this.#session(name)
    if (failures[0]) throw failures[0]
    const places = (rows: Map<string, OpenPlace>): Record<string, Place> => Object.fromEntries(rows)
    return Object.fromEntries([...ledger].map(([group, rows]) => [group, places(rows)]))
  }

  async stop(name: string): Promise<Deliveries> {
    const session = this.#session(name)
    session.stopping = true
    await Promise.allSettled(session.consumers.splice(0).map(consumer => consumer.disconnect()))
    return this.progress(name)
  }

  async close(): Promise<void> {
    for (const name of this.#sessions.keys()) await this.stop(name).catch(() => {})
  }

  #session(name: string): Session {
    const found = this.#sessions.get(name)
    if (!found) throw new Error(`no session ${name}`)
    return found
  }

  async #consume(session: Session, group: ReadingGroup, at: ClientPlace): Promise<void> {
    const kafka = new Kafka({
      clientId: group.id,
      brokers: [at.bootstrap],
      logLevel: logLevel.NOTHING,
      ...kafkaJsOptions(at.security),
    })
    const consumer = kafka.consumer({
      groupId: group.id,
      maxWaitTimeInMs: 100,
      maxBytesPerPartition: 8_388_608,
      retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 5, restartOnFailure: async () => !session.stopping },
    })
    const places = new Map<string, OpenPlace>()
    session.ledger.set(group.id, places)
    session.consumers.push(consumer)
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      if (!session.stopping && !payload.restart) session.failures.push(payload.error)
    })
    await consumer.connect()
    await consumer.subscribe({ topics: [...group.topics], fromBeginning: true })
    let batches = 0
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: true,
      eachBatch: async ({ batch: { topic, partition, messages } }) => {
        for (const { offset } of messages) note(places, `${topic}-${partition}`, Number(offset))
        const last = messages.at(-1)
        if (!group.commits || last === undefined || ++batches % 3 !== 0) return
        const next = Number(last.offset) + 1
        await consumer.commitOffsets([{ topic, partition, offset: String(next) }])
        const place = places.get(`${topic}-${partition}`)
        if (place) place.committed = next
      },
    })
  }
}

function note(places: Map<string, OpenPlace>, partition: string, offset: number): void {
  const place: OpenPlace = places.get(partition) ?? { runs: [], committed: -1, firstMs: Date.now() }
  places.set(partition, place)
  const last = place.runs.at(-1)
  if (last !== undefined && last[1] + 1 === offset) last[1] = offset
  else place.runs.push([offset, offset])
}
