/** A bash that runs the command blocks of a document one after the other, as a reader would in one terminal; the suites of documents and runbooks own one for each. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { repositoryRoot } from '../cache.ts'
import type { Block } from './command-blocks.ts'

export interface BlockResult {
  /** The first command that failed, empty if none did. */
  readonly failed: string
  readonly output: string
}

const mark = '@@ended@@'

export class DocumentShell {
  readonly #child: ChildProcessWithoutNullStreams
  #output = ''
  #wake = Promise.withResolvers<void>()

  private constructor(cwd: string, env: NodeJS.ProcessEnv) {
    // A process group of its own: what a block leaves running ends with the shell.
    this.#child = spawn('bash', ['--norc'], { cwd, env, detached: true })
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString()
        this.#wake.resolve()
      })
    this.#child.once('close', () => this.#wake.resolve())
    this.#child.stdin.on('error', () => {})
    this.#child.stdin.write(`exec 2>&1; set -o pipefail; trap '__failed="\${__failed:-$BASH_COMMAND}"' ERR\n`)
  }

  /** Rejects when the shell ends before the block does. */
  async run(block: Block): Promise<BlockResult> {
    this.#output = ''
    const text = block.flags.includes('background') ? `{ ${block.text}\n} > /dev/null &` : block.text
    this.#child.stdin.write(`__failed=\n${text}\nprintf '\\n${mark}%s\\n' "$__failed"\n`)
    for (;;) {
      const [, output, failed] = new RegExp(`^([^]*)\n${mark}(.*)\n`).exec(this.#output) ?? []
      if (output !== undefined) return { failed: failed ?? '', output }
      if (this.#child.exitCode !== null) throw new Error(`the shell ended: ${this.#output}`)
      this.#wake = Promise.withResolvers()
      await this.#wake.promise
    }
  }

  /** In which `lockstep` is the command line of this clone; `env` is added to the environment. */
  static async open(folder: string, env: NodeJS.ProcessEnv): Promise<DocumentShell> {
    const launcher = join(folder, 'lockstep')
    const entry = join(repositoryRoot, 'src/bin/lockstep.ts')
    await writeFile(launcher, `#!/bin/sh\nexec '${process.execPath}' '${entry}' "$@"\n`)
    await chmod(launcher, 0o755)
    const cache = { NODE_COMPILE_CACHE: join(repositoryRoot, '.cache/compiled') }
    const path = { PATH: `${folder}:${process.env['PATH']}`, HOME: folder }
    return new DocumentShell(folder, { ...process.env, ...cache, ...path, ...env })
  }

  async close(): Promise<void> {
    if (this.#child.pid === undefined || this.#child.exitCode !== null) return
    const ended = once(this.#child, 'close')
    process.kill(-this.#child.pid, 'SIGKILL')
    await ended
  }
}
