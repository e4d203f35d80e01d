/** Storms of consumers that come, go, are killed and lose answers, on a node that crashes: no partition is owned twice, and when it is quiet everything is assigned equally. */
import { test } from 'node:test'
import fc from 'fast-check'
import { ManualClock } from '../../core/clock.ts'
import { type Random, seededRandom } from '../../core/random.ts'
import { ConsumerClient } from '../fakes/consumer-client.ts'
import { GroupBench } from '../fakes/group-bench.ts'

interface Size {
  readonly members: number
  readonly steps: number
  readonly partitions: number
}

const SESSION_MS = 45_000

class Storm {
  readonly random: Random
  readonly clock = new ManualClock()
  clients: ConsumerClient[] = []
  bench: GroupBench
  acknowledged = -1
  readonly size: Size
  readonly #dead = new Set<ConsumerClient>()

  constructor(bench: GroupBench, random: Random, size: Size) {
    this.bench = bench
    this.size = size
    this.clock = bench.clock
    this.random = random
  }

  pick(): ConsumerClient | undefined {
    return this.clients[Math.floor(this.random() * this.clients.length)]
  }

  come(): void {
    if (this.clients.length >= this.size.members) return
    const chance = this.random()
    const options = { topics: chance < 0.3 ? ['t', 'wide'] : ['wide'] }
    this.clients.push(new ConsumerClient(this.bench, chance > 0.8 ? { topics: [], regex: 'wi.*' } : options))
  }

  /** It stops without a word; its partitions are its own until its session ends. */
  kill(client: ConsumerClient): void {
    this.clients = this.clients.filter(other => other !== client)
    this.#dead.add(client)
  }

  /** Nobody owns what somebody else owns; who was silent for a session has nothing, without knowing. */
  check(): void {
    const owners = new Map<string, ConsumerClient>()
    const nowMs = this.clock.monotonicMs()
    const heard = [...this.clients, ...this.#dead].filter(({ heardMs }) => nowMs - heardMs < SESSION_MS)
    for (const client of heard)
      for (const place of client.owned) {
        if (owners.has(place)) throw new Error(`${place} is owned by two members`)
        owners.set(place, client)
      }
  }

  async crash(): Promise<void> {
    const dying = this.bench.node.groups
    this.bench = await this.bench.crash(this.random)
    await dying.close()
    for (const client of this.clients) client.bench = this.bench
  }
}

async function step(storm: Storm): Promise<void> {
  const chance = storm.random()
  const client = storm.pick()
  if (!client || chance < 0.15) return storm.come()
  if (chance < 0.2) {
    storm.clients = storm.clients.filter(other => other !== client)
    await client.leave()
  } else if (chance < 0.25) storm.kill(client)
  else if (chance < 0.3) await storm.clock.advance(1 + Math.floor(storm.random() * 9000))
  else if (chance < 0.4) await client.loseAnswer()
  else if (chance < 0.45) {
    const offset = storm.acknowledged + 1
    const place = [...client.owned][0]
    if (place && (await client.commit(offset, { partition: 0 })) === 'NONE') storm.acknowledged = offset
  } else if (chance > 0.98) await storm.crash()
  else await client.beat()
}

async function settleDown(storm: Storm): Promise<void> {
  for (let turn = 0; turn < 25; turn++) {
    await storm.clock.advance(5000)
    for (const client of storm.clients) {
      await client.beat()
      storm.check()
    }
  }
}

function checkBalance({ clients, size: { partitions } }: Storm): void {
  if (clients.length === 0) return
  const counts = clients.map(client => client.partitions.filter(place => place.startsWith('wide')).length)
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total !== partitions) throw new Error(`${total} of ${partitions} partitions are assigned`)
  const loads = clients.filter(({ options }) => options.topics?.length !== 2).map(({ owned }) => owned.size)
  if (loads.length > 0 && Math.max(...loads) - Math.min(...loads) > 1)
    throw new Error(`loads of members that subscribe alike: ${loads.join()}`)
}

async function run(seed: number, size: Size): Promise<void> {
  const bench = await GroupBench.start({ file: { 'group.consumer.assignment.interval.ms': '1000' } })
  const storm = new Storm(bench, seededRandom(seed), size)
  await bench.node.createTopic('wide', { partitions: size.partitions })
  for (let count = 0; count < size.steps; count++) {
    await step(storm)
    storm.check()
  }
  await settleDown(storm)
  checkBalance(storm)
  const committed = await storm.bench.committed()
  if (typeof committed === 'string' || committed < storm.acknowledged)
    throw new Error(`offset ${committed}, ${storm.acknowledged} was acknowledged`)
  const before = storm.clients.map(({ partitions }) => partitions.join())
  await storm.crash()
  for (const client of storm.clients) await client.beat()
  const after = storm.clients.map(({ partitions }) => partitions.join())
  if (before.join(';') !== after.join(';')) throw new Error(`a restart moves partitions: ${before} and ${after}`)
  await storm.bench.close()
}

test('whatever members and crashes do, no partition is owned twice, and all are assigned equally in the end', async () => {
  const size = { members: 8, steps: 60, partitions: 11 }
  const seed = fc.integer({ min: 1, max: 1_000_000_000 })
  await fc.assert(
    fc.asyncProperty(seed, seed => run(seed, size)),
    { numRuns: 6 },
  )
})

test('a storm of fifty members ends as one of a few', async () => {
  await run(50, { members: 50, steps: 400, partitions: 120 })
})
