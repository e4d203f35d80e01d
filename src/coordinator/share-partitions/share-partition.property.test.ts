/** Members of a share group in a seeded loop of fetches, acknowledgements, passing time and crashes: no record is lost, none is in two hands. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { seededRandom } from '../../core/random.ts'
import { ShareBench } from './fakes/share-bench.ts'
import type { RecordEvent } from './record-state.ts'

const LOCK_MS = 15_000
const COUNT_MAX = 4
const MEMBERS = ['a', 'b', 'c']

/** What is known of one record. */
interface Known {
  /** Who holds it, in this life of the node. */
  holder?: { readonly memberId: string; readonly untilMs: number }
  /** Deliveries that the group must remember: told before something about them was made durable. */
  remembered: number
  delivered: number
  done?: 'accepted' | 'rejected'
}

class Run {
  readonly known = new Map<number, Known>()
  readonly bench: ShareBench
  readonly random: () => number
  #produced = 0

  constructor(bench: ShareBench, random: () => number) {
    this.bench = bench
    this.random = random
  }

  static async start(seed: number): Promise<Run> {
    const file = {
      'group.share.delivery.count.limit': String(COUNT_MAX),
      'group.share.record.lock.duration.ms': String(LOCK_MS),
      'share.coordinator.snapshot.update.records.per.snapshot': '5',
    }
    return new Run(await ShareBench.start(0, file), seededRandom(seed))
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit)
  }

  member(): string {
    return MEMBERS[this.below(MEMBERS.length)] ?? 'a'
  }

  async produce(): Promise<void> {
    const count = 1 + this.below(6)
    await this.bench.produce(Array.from({ length: count }, () => `v${this.#produced++}`))
  }

  async fetch(memberId = this.member(), recordsMax = 1 + this.below(8)): Promise<number> {
    const mode = this.below(2) === 0 ? 'batch_optimized' : 'record_limit'
    const { acquired } = await this.bench.fetch(memberId, { recordsMax, mode, batchSize: 1 + this.below(5) })
    const nowMs = this.bench.clock.monotonicMs()
    let count = 0
    for (const { firstOffset, lastOffset, deliveryCount } of acquired)
      for (let offset = firstOffset; offset <= lastOffset; offset++) {
        count++
        const record = this.known.get(offset) ?? { remembered: 0, delivered: 0 }
        assert(!record.done, `${offset} is given out after it was ${record.done}`)
        assert(!record.holder || record.holder.untilMs <= nowMs, `${offset} is given to ${memberId}, held by another`)
        assert(deliveryCount <= COUNT_MAX, `${offset} is delivered ${deliveryCount} times`)
        assert(deliveryCount > record.remembered, `the count of ${offset} is ${deliveryCount} again`)
        assert(deliveryCount <= record.delivered + 1, `the count of ${offset} is ahead: ${deliveryCount}`)
        this.known.set(offset, {
          holder: { memberId, untilMs: nowMs + LOCK_MS },
          remembered: record.remembered,
          delivered: record.delivered + 1,
        })
      }
    if (mode === 'record_limit') assert(count <= recordsMax)
    return count
  }

  async acknowledge(event: RecordEvent): Promise<void> {
    const memberId = this.member()
    const nowMs = this.bench.clock.monotonicMs()
    const holds = (offset: number) => {
      const { holder } = this.known.get(offset) ?? {}
      return holder?.memberId === memberId && holder.untilMs > nowMs
    }
    const held = [...this.known.keys()].filter(holds)
    const firstOffset = held[this.below(held.length)]
    if (firstOffset === undefined) return
    let lastOffset = firstOffset
    while (holds(lastOffset + 1) && this.random() < 0.7) lastOffset++
    assert.equal(await this.bench.say(memberId, event, [firstOffset, lastOffset]), 'NONE')
    for (let offset = firstOffset; offset <= lastOffset; offset++) {
      const { remembered, delivered } = this.known.get(offset) ?? { remembered: 0, delivered: 0 }
      if (event === 'renew') {
        const holder = { memberId, untilMs: nowMs + LOCK_MS }
        this.known.set(offset, { holder, remembered, delivered })
      } else if (event === 'release') this.known.set(offset, { remembered: Math.max(remembered, 1), delivered })
      else this.known.set(offset, { remembered, delivered, done: event === 'accept' ? 'accepted' : 'rejected' })
    }
  }

  async crash(): Promise<void> {
    await this.bench.crash(this.random)
    for (const record of this.known.values()) delete record.holder
  }

  /** One member accepts all there is; then nothing may be missing. */
  async drain(): Promise<void> {
    for (let idle = 0; idle < 3; ) {
      if ((await this.fetch('a', 100)) === 0) idle++
      await this.bench.clock.advance(idle > 0 ? LOCK_MS : 0)
      if (idle === 0) await this.acceptAll('a')
    }
    for (let offset = 0; offset < this.#produced; offset++) {
      const record = this.known.get(offset)
      const isDone = record?.done !== undefined || (record?.delivered ?? 0) >= COUNT_MAX
      assert(isDone, `${offset} is lost: ${JSON.stringify(record)}`)
    }
    assert.equal((await this.bench.open()).inFlight.startOffset, this.#produced)
  }

  async acceptAll(memberId: string): Promise<void> {
    for (const [offset, record] of this.known) {
      if (record.holder?.memberId !== memberId || record.done) continue
      if (record.holder.untilMs <= this.bench.clock.monotonicMs()) continue
      assert.equal(await this.bench.say(memberId, 'accept', [offset, offset]), 'NONE')
      record.done = 'accepted'
    }
  }
}

const steps: readonly ((run: Run) => Promise<unknown>)[] = [
  run => run.produce(),
  run => run.fetch(),
  run => run.fetch(),
  run => run.acknowledge('accept'),
  run => run.acknowledge('accept'),
  run => run.acknowledge('release'),
  run => run.acknowledge('renew'),
  run => run.acknowledge('reject'),
  run => run.bench.clock.advance(run.below(LOCK_MS)),
  run => (run.below(4) === 0 ? run.crash() : Promise.resolve()),
]

test('whatever members do and whenever the node dies, no record is lost or in two hands, and counts are kept', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), async seed => {
      const run = await Run.start(seed)
      for (let step = 0; step < 50; step++) await steps[run.below(steps.length)]?.(run)
      await run.drain()
      await run.bench.close()
    }),
    { numRuns: 12 },
  )
})
