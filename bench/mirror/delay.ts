/** How long a record takes from the source to the mirror at a moderate rate: a paced producer, and a consumer that long-polls. */
import { setTimeout as pause } from 'node:timers/promises'
import { batchesIn } from '../../src/protocol/batches/batch-iteration.ts'
import { buildBatch } from '../../src/protocol/batches/build-batch.ts'
import { recordsOf } from '../../src/protocol/batches/records-of.ts'
import { eventually } from '../../test/eventually.ts'
import { RECORD_BYTES } from './backlog.ts'
import { ClusterClient } from './cluster-client.ts'

/** Delays in ms from the moment at which the record was sent to the source. */
export interface Delays {
  readonly p50: number
  readonly p99: number
  readonly records: number
  /** The same records, from the moment at which the first reader had them: what the source itself takes is left out. */
  readonly behindFirst: Percentiles
}

interface Percentiles {
  readonly p50: number
  readonly p99: number
}

/** When a record was seen, by when it was sent, which no two have in common. */
type Sightings = Map<number, number>

export interface DelayPlan {
  readonly topic: string
  readonly partitions: number
  readonly recordsPerSecond: number
  readonly seconds: number
  /** Where to read: the source itself, and each mirror. */
  readonly readers: readonly DelayReader[]
}

export interface DelayReader {
  readonly bootstrap: string
  readonly topic: string
  /** Reads the replicas that this broker has, leader or not; default: it leads all partitions. */
  readonly replicasOf?: number
}

/** The first records find connections and code cold. */
const UNCOUNTED_SECONDS = 2
const DRAIN_MS = 2000

/** One record per batch, round robin over the partitions. Answers the delays seen by each reader. The topic exists. */
export async function measureDelays(source: string, plan: DelayPlan): Promise<Delays[]> {
  const producer = await ClusterClient.connect(source)
  const stop = new AbortController()
  const readers = await Promise.all(
    plan.readers.map(async reader => ({ ...reader, client: await ClusterClient.connect(reader.bootstrap) })),
  )
  const seen: Promise<Sightings>[] = []
  try {
    const partitions = Array.from({ length: plan.partitions }, (_, partition) => partition)
    await producer.produce(
      plan.topic,
      partitions.map(partition => ({ partition, records: stampedBatch(false) })),
    )
    for (const reader of readers) {
      const wanted = await untilCopied(reader.client, reader, plan.partitions)
      const positions = Array.from({ length: plan.partitions }, (_, index) => (wanted.has(index) ? 0 : undefined))
      seen.push(readUntil(reader.client, { topic: reader.topic, positions }, stop.signal))
    }
    await producePaced(producer, plan)
    await pause(DRAIN_MS)
  } finally {
    stop.abort()
    await Promise.all([producer, ...readers.map(reader => reader.client)].map(client => client.close()))
  }
  const sightings = await Promise.all(seen)
  return sightings.map(one => summarise(one, sightings[0] ?? one))
}

/** Until the reader's topic exists and each of its partitions has something. Answers those. */
function untilCopied(client: ClusterClient, reader: DelayReader, partitions: number): Promise<Set<number>> {
  const { topic, replicasOf } = reader
  return eventually(
    async () => {
      const wanted = new Set(Array.from({ length: partitions }, (_, partition) => partition))
      if (replicasOf !== undefined) {
        const replicas = await client.replicasOf(topic)
        if (replicas.length < partitions) throw new Error(`${topic} is not there`)
        for (const [partition, brokers] of replicas.entries())
          if (!brokers.includes(replicasOf)) wanted.delete(partition)
      }
      const ends = await (replicasOf === undefined
        ? client.endOffsets(topic, partitions)
        : client.replicaEnds(topic, partitions))
      if ([...wanted].some(partition => ends[partition] === 0)) throw new Error(`${topic} is not copied: ${ends}`)
      return wanted
    },
    { timeoutMs: 120_000 },
  )
}

async function producePaced(producer: ClusterClient, plan: DelayPlan): Promise<void> {
  const { topic, partitions, recordsPerSecond, seconds } = plan
  const beganMs = performance.now()
  const total = (seconds + UNCOUNTED_SECONDS) * recordsPerSecond
  const acknowledged: Promise<void>[] = []
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - beganMs) * recordsPerSecond) / 1000))
    for (; sent < due; sent++) {
      const records = stampedBatch(sent >= UNCOUNTED_SECONDS * recordsPerSecond)
      acknowledged.push(producer.produce(topic, [{ partition: sent % partitions, records }]))
    }
    await pause(1)
  }
  await Promise.all(acknowledged)
}

/** The value begins with the monotonic time of sending, 0 for a record that does not count. */
function stampedBatch(counts: boolean): Buffer {
  const value = Buffer.alloc(RECORD_BYTES)
  value.writeDoubleBE(counts ? performance.now() : 0)
  return buildBatch({ records: [{ timestamp: BigInt(Date.now()), key: null, value }] })
}

async function readUntil(
  client: ClusterClient,
  { topic, positions }: { readonly topic: string; readonly positions: (number | undefined)[] },
  signal: AbortSignal,
): Promise<Sightings> {
  const sightings: Sightings = new Map()
  while (!signal.aborted) {
    const answers = await client.fetch(topic, positions).catch(error => {
      if (signal.aborted) return []
      throw error
    })
    const nowMs = performance.now()
    for (const { partition, records } of answers) {
      for (const header of batchesIn(records)) {
        positions[partition] = header.lastOffset + 1
        for (const { value } of recordsOf(records, header)) {
          const sentMs = value?.readDoubleBE(0) ?? 0
          if (sentMs > 0) sightings.set(sentMs, nowMs)
        }
      }
    }
  }
  return sightings
}

function summarise(sightings: Sightings, first: Sightings): Delays {
  const delays = [...sightings].map(([sentMs, seenMs]) => seenMs - sentMs)
  const behind = [...sightings].map(([sentMs, seenMs]) => seenMs - (first.get(sentMs) ?? seenMs))
  return { ...percentiles(delays), records: delays.length, behindFirst: percentiles(behind) }
}

function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}
