/** Groups that change protocol again and again while members of both come, go and are killed, on a node that crashes: no partition is owned twice, and in the end all are assigned equally. */
import { test } from 'node:test'
import fc from 'fast-check'
import { type Random, seededRandom } from '../../core/random.ts'
import { ClassicConsumer } from '../fakes/classic-consumer.ts'
import { ConsumerClient } from '../fakes/consumer-client.ts'
import { GroupBench } from '../fakes/group-bench.ts'

const MEMBERS = 4
const STEPS = 50
const PARTITIONS = 7

type Client = ClassicConsumer | ConsumerClient

class Storm {
  readonly random: Random
  bench: GroupBench
  clients: Client[] = []
  readonly #dead = new Set<Client>()

  constructor(bench: GroupBench, random: Random) {
    this.bench = bench
    this.random = random
  }

  async act(client: Client): Promise<void> {
    if (client instanceof ConsumerClient) await client.beat()
    else client.act()
    await this.bench.settle()
  }

  async step(): Promise<void> {
    const chance = this.random()
    const client = this.clients[Math.floor(this.random() * this.clients.length)]
    if (!client || (chance < 0.15 && this.clients.length < MEMBERS)) this.come()
    else if (chance < 0.2) await this.leave(client)
    else if (chance < 0.22) {
      this.clients = this.clients.filter(other => other !== client)
      this.#dead.add(client)
    } else if (chance < 0.35) await this.bench.clock.advance(1 + Math.floor(this.random() * 4000))
    else if (chance > 0.98) await this.crash()
    else await this.act(client)
    await this.bench.settle()
    this.check()
  }

  come(): void {
    const isClassic = this.random() < 0.5
    const { bench } = this
    this.clients.push(isClassic ? new ClassicConsumer(bench, 'wide') : new ConsumerClient(bench, { topics: ['wide'] }))
  }

  async leave(client: Client): Promise<void> {
    this.clients = this.clients.filter(other => other !== client)
    await client.leave()
  }

  async crash(): Promise<void> {
    const dying = this.bench.node.groups
    this.bench = await this.bench.crash(this.random)
    await dying.close()
    for (const client of this.clients) client.bench = this.bench
    await this.bench.settle()
  }

  check(): void {
    const owners = new Set<string>()
    const nowMs = this.bench.clock.monotonicMs()
    for (const client of [...this.clients, ...this.#dead]) {
      const sessionMs = client instanceof ClassicConsumer ? 30_000 : 45_000
      if (nowMs - client.heardMs >= sessionMs) continue
      for (const place of client.owned) {
        if (owners.has(place)) throw new Error(`${place} is owned by two members`)
        owners.add(place)
      }
    }
  }

  /** Until nobody has to do anything any more. */
  async settleDown(): Promise<void> {
    for (let turn = 0; turn < 60; turn++) {
      for (const client of this.clients) {
        await this.act(client)
        this.check()
      }
      await this.bench.clock.advance(turn < 30 ? 3000 : 500)
    }
  }

  checkBalance(): void {
    const loads = this.clients.map(({ owned }) => owned.size)
    if (loads.length === 0) return
    const total = loads.reduce((sum, load) => sum + load, 0)
    if (total !== PARTITIONS || Math.max(...loads) - Math.min(...loads) > 1)
      throw new Error(`${PARTITIONS} partitions are shared as ${loads.join()}`)
  }
}

async function run(seed: number): Promise<void> {
  const bench = await GroupBench.start({ file: { 'group.consumer.assignment.interval.ms': '0' } })
  await bench.node.createTopic('wide', { partitions: PARTITIONS })
  const storm = new Storm(bench, seededRandom(seed))
  for (let count = 0; count < STEPS; count++) await storm.step()
  await storm.settleDown()
  storm.checkBalance()
  await storm.bench.close()
}

test('while groups change protocol under their members, no partition is owned twice, and all are assigned equally in the end', async () => {
  await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000_000 }), run), { numRuns: 5 })
})
