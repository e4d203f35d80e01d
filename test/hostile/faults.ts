// A node whose disk a test can fill, whose clock it can set and in which it can cause a bug; used by the suite of faults.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LockstepNode } from '../lockstep-process.ts'

const injection = fileURLToPath(new URL('fault-injection.ts', import.meta.url))

export class FaultyNode {
  readonly node: LockstepNode
  readonly #folder: string

  private constructor(node: LockstepNode, folder: string) {
    this.node = node
    this.#folder = folder
  }

  static async start(properties: Readonly<Record<string, string>> = {}): Promise<FaultyNode> {
    const folder = await mkdtemp(join(tmpdir(), 'lockstep-faults-'))
    const env = { LOCKSTEP_FAULTS: folder, NODE_OPTIONS: `--import=${injection}` }
    return new FaultyNode(await LockstepNode.start({ properties, env }), folder)
  }

  get port(): number {
    return Number(this.node.bootstrap.split(':').at(-1))
  }

  /** Nothing can be written to files until `freeDisk`. */
  async fillDisk(): Promise<void> {
    await writeFile(join(this.#folder, 'disk-full'), '')
  }

  async freeDisk(): Promise<void> {
    await rm(join(this.#folder, 'disk-full'), { force: true })
  }

  /** Sets the node's wall clock wrong by so much. */
  async setClock(wrongByMs: number): Promise<void> {
    await writeFile(join(this.#folder, 'clock'), String(wrongByMs))
  }

  /** Throws an error in the node's process that nobody catches. */
  async causeBug(where: 'callback' | 'promise'): Promise<void> {
    if (where === 'promise') await writeFile(join(this.#folder, 'promise'), '')
    if (this.node.pid !== undefined) process.kill(this.node.pid, 'SIGUSR2')
  }

  async close(): Promise<void> {
    await this.node.close()
    await rm(this.#folder, { recursive: true, force: true })
  }
}
