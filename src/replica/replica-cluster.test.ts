/** Leading and following together, under kills, lost answers and changes of leader: what was acknowledged stays, and replicas agree below the high watermark. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../core/clock.ts'
import { type Random, seededRandom } from '../core/random.ts'
import { batchesIn } from '../protocol/batches/batch-iteration.ts'
import { appendFromClient } from './append-from-client.ts'
import { data } from './fakes/fetches.ts'
import { ReplicaCluster } from './fakes/replica-cluster.ts'
import { Partition } from './partition.ts'
import type { Replica } from './replica.ts'

const BROKERS = [1, 2, 3]

/** Base offset, epoch and CRC of every batch below `end`. */
async function contentsOf(replica: Replica, end: number): Promise<string[]> {
  const lines: string[] = []
  for (let offset = replica.log.logStartOffset; offset < end; ) {
    const found = await replica.log.read({ offset, maxBytes: 1 << 20, maxOffset: end, minOneBatch: true })
    ok(found.kind === 'batches')
    if (found.records.length === 0) break
    for (const { baseOffset, lastOffset, leaderEpoch, crc } of batchesIn(found.records))
      lines.push(`${baseOffset}-${lastOffset} ${leaderEpoch} ${crc}`)
    offset = found.nextOffset
  }
  return lines
}

class Run {
  readonly clock = new ManualClock()
  readonly random: Random
  readonly cluster: ReplicaCluster
  /** Batches that were acknowledged with acks=all: last offset and value. */
  readonly acknowledged: { readonly offset: number; readonly crc: number }[] = []
  readonly #marks = new Map<Replica, number>()
  readonly #pending = new Set<Promise<void>>()
  #count = 0

  constructor(seed: number) {
    this.random = seededRandom(seed)
    this.cluster = new ReplicaCluster({ clock: this.clock, random: this.random, brokers: BROKERS })
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.random() * items.length)]
  }

  get leader(): Partition | undefined {
    const replica = this.cluster.replica(this.cluster.partition.leader)
    return replica instanceof Partition ? replica : undefined
  }

  produce(): void {
    const { leader, cluster } = this
    const replicas = cluster.replicas(cluster.partition.leader)
    if (!leader || !replicas) return
    const records = data(1 + Math.floor(this.random() * 50), {
      records: [{ timestamp: BigInt(this.clock.nowMs()), key: null, value: Buffer.from(`record ${this.#count++}`) }],
    })
    const request = { records, acks: -1, timeoutMs: 60_000, produceVersion: 13, refusal: () => undefined } as const
    const crc = records.readUInt32BE(17)
    const done: Promise<void> = appendFromClient(leader, request, replicas).then(({ errorCode, baseOffset }) => {
      if (errorCode === 0) this.acknowledged.push({ offset: baseOffset, crc })
      this.#pending.delete(done)
    })
    this.#pending.add(done)
  }

  /** The high watermark of a replica that lives on never goes back. */
  watchHighWatermarks(): void {
    for (const id of this.cluster.running) {
      const replica = this.cluster.replica(id)
      if (!replica) continue
      const { highWatermark } = replica
      ok(highWatermark >= (this.#marks.get(replica) ?? 0), `the high watermark of broker ${id} went back`)
      ok(highWatermark >= replica.log.logStartOffset && highWatermark <= replica.log.logEndOffset)
      this.#marks.set(replica, highWatermark)
    }
  }

  async step(): Promise<void> {
    const { cluster } = this
    const what = this.random()
    if (what < 0.6) for (let i = 0; i < 3; i++) this.produce()
    else if (what < 0.7) {
      const victim = this.pick(cluster.running)
      // With two dead of three nobody could tell what was lost from what was never acknowledged.
      if (victim && cluster.running.length === BROKERS.length)
        await cluster.kill(victim, this.random() < 0.5 ? 'machine' : 'process')
    } else if (what < 0.85) {
      const dead = BROKERS.filter(id => !cluster.running.includes(id))
      const back = this.pick(dead)
      if (back) await cluster.start(back)
    } else if (what < 0.9) await cluster.electPreferred()
    await this.clock.advance(Math.floor(this.random() * 400))
    this.watchHighWatermarks()
  }

  async settle(): Promise<void> {
    for (const id of BROKERS) if (!this.cluster.running.includes(id)) await this.cluster.start(id)
    for (let i = 0; i < 40 && this.cluster.partition.isr.length < BROKERS.length; i++) await this.clock.advance(1000)
    await this.clock.advance(5000)
  }
}

async function assertAgreement(run: Run): Promise<void> {
  const { cluster, leader } = run
  deepStrictEqual([...cluster.partition.isr].sort(), BROKERS)
  ok(leader)
  strictEqual(leader.highWatermark, leader.log.logEndOffset)
  const contents = await contentsOf(leader, leader.highWatermark)
  for (const id of BROKERS) {
    const replica = cluster.replica(id)
    ok(replica)
    strictEqual(replica.highWatermark, leader.highWatermark, `broker ${id} knows the high watermark`)
    deepStrictEqual(await contentsOf(replica, leader.highWatermark), contents, `broker ${id}`)
  }
  const crcs = new Map(contents.map(line => [Number(line.split('-')[0]), Number(line.split(' ').at(-1))]))
  for (const { offset, crc } of run.acknowledged) strictEqual(crcs.get(offset), crc, `the record at ${offset} is there`)
}

for (const seed of [1, 2, 3, 4, 5, 6])
  test(`three replicas lose nothing that was acknowledged, whoever dies (seed ${seed})`, async () => {
    const run = new Run(seed)
    for (const id of BROKERS) await run.cluster.start(id)
    for (let i = 0; i < 60; i++) await run.step()
    await run.settle()
    ok(run.acknowledged.length > 10, `${run.acknowledged.length} acknowledged`)
    await assertAgreement(run)
    await run.cluster.close()
  })
