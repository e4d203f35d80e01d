// Many topics that are mirrored between two nodes and change roles by one command, with what that took; used by a suite and by bench/.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { eventually } from '../eventually.ts'
import { peakWhile } from '../hostile/node-memory.ts'
import { ManyPartitions } from './many-partitions.ts'
import type { MirrorData } from './mirror-link.ts'
import { type Peer, type PeersWorld, startPeersWorld } from './peers-world.ts'

const patience = { timeoutMs: 300_000, intervalMs: 100 }

/** Mirrors created at the same time. */
const parallel = 16

/** What a reverse of all topics took. */
export interface ReversedFigures {
  /** From the command until every mirror is writable, and until every old source follows. */
  readonly writableMs: number
  readonly followedMs: number
  /** How long nobody could write a topic; ascending. */
  readonly windowsMs: readonly number[]
  /** Largest resident memory of both nodes meanwhile; index 0 = the old mirror's. */
  readonly memoryMib: readonly number[]
}

interface ReversedMirror extends MirrorData {
  readonly reversal: { readonly read_only_ms: number | null } | null
}

export class ManyReversed {
  readonly world: PeersWorld
  readonly #plan: { readonly prefix: string; readonly topics: number; readonly partitions: number }

  private constructor(world: PeersWorld, topics: number) {
    this.world = world
    this.#plan = { prefix: 'many', topics, partitions: 1 }
  }

  /** East has the topics, with some records each; west mirrors them, and has everything. */
  static async start(topics: number): Promise<ManyReversed> {
    const many = new ManyReversed(await startPeersWorld({ 'metadata.max.age.ms': '1000' }), topics)
    try {
      await many.#mirrorAll()
    } catch (error) {
      await many.close()
      throw error
    }
    return many
  }

  close(): Promise<void> {
    return this.world.close()
  }

  /** `records` of 100 bytes into every topic of that side. */
  produce(peer: Peer, records: number): Promise<void> {
    return this.#with(peer, client => client.produce(records))
  }

  /** All topics by one command; resolves when all have changed roles. */
  async reverse(mirror: Peer, source: Peer): Promise<ReversedFigures> {
    // Each half looks at the other one now and then; before that there is nothing to reverse to.
    await eventually(
      () => mirror.link.must('reverse-and-start-mirror?validate_only=true', { pattern: 'many-.*' }),
      patience,
    )
    const [memory, [sourceMemory, times]] = await peakWhile(mirror.node.pid, () =>
      peakWhile(source.node.pid, async () => {
        const beganMs = performance.now()
        await mirror.link.must('reverse-and-start-mirror', { pattern: 'many-.*' })
        await this.#all(mirror, 'STOPPED')
        const writableMs = performance.now() - beganMs
        await this.#all(source, 'ACTIVE')
        return { writableMs, followedMs: performance.now() - beganMs }
      }),
    )
    const mirrors = (await mirrorsOf(source)) as ReversedMirror[]
    const windowsMs = mirrors.map(({ reversal }) => reversal?.read_only_ms ?? Number.NaN).sort((a, b) => a - b)
    return { ...times, windowsMs, memoryMib: [memory, sourceMemory] }
  }

  /** Both sides end where the other one does, and somewhere. */
  async inStep(): Promise<void> {
    const { east, west } = this.world
    await eventually(async () => {
      const [here, there] = await Promise.all(
        [east, west].map(peer => this.#with(peer, async client => [...(await client.ends())].sort())),
      )
      strictEqual(here?.length, this.#plan.topics)
      deepStrictEqual(here, there)
    }, patience)
  }

  async #mirrorAll(): Promise<void> {
    const { east, west } = this.world
    await this.#with(east, client => client.create())
    await eventually(() => this.#with(east, client => client.ends()), patience)
    await this.produce(east, 5)
    const names = Array.from({ length: this.#plan.topics }, (_, index) => `many-${index}`)
    const workers = Array.from({ length: parallel }, async () => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) await west.link.mirror(name)
    })
    await Promise.all(workers)
    await this.inStep()
  }

  async #all(peer: Peer, status: string): Promise<void> {
    await eventually(async () => {
      const others = (await mirrorsOf(peer)).filter(({ mirror_status: of }) => of !== status)
      strictEqual(others.length, 0, `${others.length} are not ${status}: ${others[0]?.reason}`)
      strictEqual((await mirrorsOf(peer)).length, this.#plan.topics)
    }, patience)
  }

  async #with<T>({ node }: Peer, work: (client: ManyPartitions) => Promise<T>): Promise<T> {
    const client = await ManyPartitions.connect(node.bootstrap, this.#plan)
    try {
      return await work(client)
    } finally {
      await client.close()
    }
  }
}

async function mirrorsOf({ node }: Peer): Promise<readonly MirrorData[]> {
  return ((await node.rest.call('GET', '/links/twin/mirrors')) as { readonly data: MirrorData[] }).data
}
