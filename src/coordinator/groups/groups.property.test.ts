/** Random clients in groups on a node that crashes and whose disk fails: nobody waits for ever, no commit is lost, no generation has two assignments. */
import { test } from 'node:test'
import fc from 'fast-check'
import { ManualClock } from '../../core/clock.ts'
import type { Random } from '../../core/random.ts'
import { seededRandom } from '../../core/random.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { GroupBench, type Member, memberOf } from '../fakes/group-bench.ts'

const STEPS = 40
const CLIENTS = 4
/** Longer than any wait of a group can be. */
const LONG_MS = 400_000

/** What one run has seen. */
class World {
  bench: GroupBench
  readonly random: Random
  /** Assignment texts seen, by member and generation: all of one leader's sync. */
  readonly #assignments = new Map<number, string>()
  /** Last acknowledged offset, and later ones whose fate is not known. */
  acknowledged = -1
  readonly uncertain = new Set<number>()
  open = 0
  #offset = 0

  constructor(bench: GroupBench, random: Random) {
    this.bench = bench
    this.random = random
  }

  nextOffset(): number {
    return this.#offset++
  }

  sawAssignment(generation: number, text: string): void {
    const before = this.#assignments.get(generation) ?? text
    if (before !== text) throw new Error(`generation ${generation} has the assignments ${before} and ${text}`)
    this.#assignments.set(generation, text)
  }
}

/** A client as real ones are: joins, syncs, heartbeats, commits, starts again where it is told to. */
class Client {
  readonly #name: string
  readonly #world: World
  #member: Member | undefined
  #busy = false
  #syncs = 0

  constructor(name: string, world: World) {
    this.#name = name
    this.#world = world
  }

  /** Begins the next thing it would do, unless it waits for an answer. */
  act(): void {
    if (this.#busy) return
    this.#busy = true
    this.#world.open++
    void this.#next().finally(() => {
      this.#busy = false
      this.#world.open--
    })
  }

  async #next(): Promise<void> {
    const { bench, random } = this.#world
    const member = this.#member
    const chance = random()
    if (!member || chance < 0.15) return await this.#join(bench)
    if (chance < 0.6) return this.#react(bench.heartbeat(member))
    if (chance < 0.9) return await this.#commit(bench, member)
    this.#member = undefined
    await bench.leave(member)
  }

  #react(code: string): void {
    if (code === 'UNKNOWN_MEMBER_ID' || code === 'ILLEGAL_GENERATION') this.#member = undefined
  }

  async #join(bench: GroupBench): Promise<void> {
    const memberId = this.#member?.memberId ?? ''
    const change = { client: this.#name, memberId, sessionTimeoutMs: 30_000, rebalanceTimeoutMs: 20_000 }
    const metadata = `${this.#name}${this.#world.random() < 0.3 ? 'x' : ''}`
    const answer = await bench.join({ ...change, metadata })
    if (answer.errorCode !== ErrorCode.NONE) {
      this.#member = undefined
      return
    }
    this.#member = memberOf(answer)
    const isLeader = answer.leader === answer.memberId
    const text = `${this.#name} ${answer.generationId} ${this.#syncs++}`
    const given = isLeader ? Object.fromEntries(answer.members.map(({ memberId }) => [memberId, text])) : {}
    const assignment = await bench.sync(this.#member, given)
    if (/^\w+ \d+ \d+$/.test(assignment)) this.#world.sawAssignment(answer.generationId, assignment)
    else this.#react(assignment)
  }

  async #commit(bench: GroupBench, member: Member): Promise<void> {
    const offset = this.#world.nextOffset()
    this.#world.uncertain.add(offset)
    const code = await bench.commit(offset, member)
    if (code === 'NONE') this.#world.acknowledged = Math.max(this.#world.acknowledged, offset)
    else this.#react(code)
  }
}

async function checkOffset(world: World): Promise<void> {
  const found = await world.bench.committed()
  if (typeof found === 'string') throw new Error(`the offset cannot be fetched: ${found}`)
  if (found < world.acknowledged && !world.uncertain.has(found))
    throw new Error(`offset ${found}, ${world.acknowledged} was acknowledged`)
}

async function run(seed: number): Promise<void> {
  const random = seededRandom(seed)
  const clock = new ManualClock()
  const world = new World(await GroupBench.start({ clock }), random)
  const clients = Array.from({ length: CLIENTS }, (_, index) => new Client(`c${index}`, world))
  for (let step = 0; step < STEPS; step++) {
    for (const client of clients) if (random() < 0.7) client.act()
    const chance = random()
    if (chance < 0.1) failDisk(world)
    if (chance < 0.2) await clock.advance(1 + Math.floor(random() * 25_000))
    else await world.bench.settle()
    if (chance > 0.95) await crash(world, clock)
  }
  world.bench.fs.failWhen = () => undefined
  for (let turn = 0; turn < 3 && world.open > 0; turn++) await clock.advance(LONG_MS)
  if (world.open > 0) throw new Error(`${world.open} requests were never answered`)
  await world.bench.settle()
  await checkOffset(world)
  await crash(world, clock)
  await checkOffset(world)
  await world.bench.close()
}

function failDisk({ bench, random }: World): void {
  let failures = 1 + Math.floor(random() * 3)
  bench.fs.failWhen = ({ name, path }) =>
    path.includes('__consumer_offsets') && (name === 'sync' || name === 'write') && failures-- > 0
      ? new Error('no disk')
      : undefined
}

/** Answers of the node that died never come: its waiting requests are answered by its end, as by closed connections. */
async function crash(world: World, clock: ManualClock): Promise<void> {
  const { bench, random } = world
  bench.fs.failWhen = () => undefined
  const dying = bench.node.groups
  world.bench = await bench.crash(random)
  await dying.close()
  await clock.advance(60_000)
  await world.bench.settle()
}

test('whatever clients, crashes and the disk do, everybody is answered, commits stay, and a generation has one assignment', async () => {
  await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000_000 }), run), { numRuns: 6 })
})
