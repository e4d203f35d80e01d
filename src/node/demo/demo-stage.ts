/** Where a demo plays: its folder, its nodes, its terminal and its end; made by run-demo, used by the scenes. */
import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, systemClock } from '../../core/clock.ts'
import { type Random, systemRandom } from '../../core/random.ts'
import { DemoError } from './demo-error.ts'
import type { DemoIo } from './live-view.ts'
import { type ClusterToJoin, NodeProcess } from './node-process.ts'

/** Their data goes anyway: nodes that take longer to end are killed. */
const STOP_GRACE_MS = 1000

export class DemoStage {
  readonly io: DemoIo
  readonly clock: Clock = systemClock
  readonly random: Random = systemRandom
  /** The script that has the `server` command. */
  readonly entry: string
  /** Everything that the demo writes is below it. */
  readonly folder: string
  readonly #end = new AbortController()
  readonly #starts: Promise<NodeProcess>[] = []
  readonly #removeWithUs = () => rmSync(this.folder, { recursive: true, force: true })

  private constructor(io: DemoIo, { entry, folder }: Pick<DemoStage, 'entry' | 'folder'>) {
    this.io = io
    this.folder = folder
    this.entry = entry
    process.once('exit', this.#removeWithUs)
  }

  /** `entry` as below. */
  static async set(io: DemoIo, entry: string): Promise<DemoStage> {
    return new DemoStage(io, { entry, folder: await mkdtemp(join(tmpdir(), 'lockstep-demo-')) })
  }

  /** Aborts when the demo is to end. */
  get signal(): AbortSignal {
    return this.#end.signal
  }

  /** Makes everything that waits stop waiting. */
  end(): void {
    this.#end.abort()
  }

  /** Starts a node with fresh data and waits until it is ready. */
  startNode(name: string, nodeId: number, joins?: ClusterToJoin): Promise<NodeProcess> {
    const { folder, entry, clock, signal } = this
    const start = NodeProcess.start({ name, nodeId, folder, entry, clock, signal, ...(joins ? { joins } : {}) })
    this.#starts.push(start)
    return start
  }

  /** Ends the nodes that still run and removes the folder, or keeps it for a look at logs and data. */
  async close({ keepFolder }: { keepFolder: boolean }): Promise<void> {
    this.end()
    const started = await Promise.allSettled(this.#starts)
    await Promise.all(
      started.map(result => result.status === 'fulfilled' && result.value.stop(this.clock, STOP_GRACE_MS)),
    )
    process.off('exit', this.#removeWithUs)
    if (!keepFolder) await rm(this.folder, { recursive: true, force: true })
  }
}

/** Never resolves; rejects when a node ends that nobody ended. */
export async function unexpectedEnd(node: NodeProcess): Promise<never> {
  const reason = await node.ended
  if (node.endExpected) return new Promise(() => {})
  throw new DemoError(`node ${node.name} has ended (${reason}):\n${await node.logTail()}`)
}
