// Groups of confluent-kafka (librdkafka): a resident Python process that is asked line by line; used by the rehearsals.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { librdkafkaProperties } from '../clients/client-security.ts'
import { python } from '../clients/confluent.ts'
import type { Deliveries } from './deliveries.ts'
import type { ClientPlace, GroupClients, ReadingGroup } from './group-clients.ts'

const script = fileURLToPath(new URL('librdkafka_groups.py', import.meta.url))

export class LibrdkafkaGroups implements GroupClients {
  readonly name = 'librdkafka'
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #waiting: { resolve: (answer: Deliveries) => void; reject: (error: Error) => void }[] = []
  #noise = ''

  private constructor(child: ChildProcessByStdio<Writable, Readable, Readable>) {
    this.#child = child
    createInterface({ input: child.stdout }).on('line', line => this.#waiting.shift()?.resolve(JSON.parse(line)))
    child.stderr.on('data', (chunk: Buffer) => {
      this.#noise = (this.#noise + chunk.toString()).slice(-8_192)
    })
    child.stdin.on('error', () => {})
    child.once('close', () => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error(`Python ended:\n${this.#noise}`))
    })
    process.on('exit', this.#end)
  }

  static async open(): Promise<LibrdkafkaGroups> {
    const child = spawn(await python(), ['-u', script], { stdio: ['pipe', 'pipe', 'pipe'] })
    const clients = new LibrdkafkaGroups(child)
    await once(child, 'spawn')
    return clients
  }

  async start(session: string, groups: readonly ReadingGroup[], at: ClientPlace): Promise<void> {
    const { bootstrap, security } = at
    await this.#ask({ op: 'start', session, groups, bootstrap, config: librdkafkaProperties(security) })
  }

  progress = (session: string): Promise<Deliveries> => this.#ask({ op: 'progress', session })
  stop = (session: string): Promise<Deliveries> => this.#ask({ op: 'stop', session })

  async close(): Promise<void> {
    process.off('exit', this.#end)
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#end()
    await once(this.#child, 'close')
  }

  readonly #end = () => {
    this.#child.kill('SIGKILL')
  }

  #ask(request: object): Promise<Deliveries> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#child.stdin.write(`${JSON.stringify(request)}\n`)
      if (this.#child.exitCode !== null) reject(new Error(`Python ended:\n${this.#noise}`))
    })
  }
}
