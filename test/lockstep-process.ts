// A Lockstep node as a process of its own (standalone unless its properties say otherwise): started from a properties file, waited for, killed, restarted.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repositoryRoot } from './cache.ts'
import { type RunningProcess, startProcess } from './child-process.ts'
import { eventually } from './eventually.ts'
import { freePorts } from './free-port.ts'
import { writeProperties } from './properties-file.ts'
import { RestClient } from './rest-client.ts'

/** Where Node keeps compiled sources: stripping types takes a second of each start otherwise. */
const compileCache = join(repositoryRoot, '.cache/compiled')

/** Which node to start. */
export interface LockstepOptions {
  /** Extra or changed properties of the configuration file. */
  readonly properties?: Readonly<Record<string, string>>
  /** Ports of further listeners, by name. */
  readonly listeners?: Readonly<Record<string, number>>
  /** Environment variables added to those of the test process. */
  readonly env?: Readonly<Record<string, string>>
  /** A data directory of another node to go on with, and its cluster's id; it is not removed. */
  readonly data?: { readonly directory: string; readonly clusterId: string }
  /** Of the cluster that it joins; default: a new one. */
  readonly clusterId?: string
  /** How long a start may take; default 90 s. */
  readonly patienceMs?: number
}

/** A node that can be stopped, killed and started again with the same data and ports. */
export class LockstepNode {
  readonly clusterId: string
  /** `host:port` for Kafka clients. */
  readonly bootstrap: string
  /** Client of its REST listener, rooted at `/kafka/v3/clusters/{cluster_id}`. */
  readonly rest: RestClient
  /** Its log directory (`TOPIC-PARTITION` folders in it). */
  readonly dataDirectory: string
  readonly #folder: string
  readonly #env: Readonly<Record<string, string>>
  readonly #patienceMs: number
  #process: RunningProcess | undefined

  private constructor(
    place: Pick<LockstepOptions, 'data' | 'env' | 'clusterId' | 'patienceMs'> & {
      folder: string
      ports: readonly number[]
    },
  ) {
    const [kafkaPort, restPort] = place.ports
    this.clusterId = place.data?.clusterId ?? place.clusterId ?? randomBytes(16).toString('base64url')
    this.bootstrap = `127.0.0.1:${kafkaPort}`
    this.rest = new RestClient(`http://127.0.0.1:${restPort}`, this.clusterId)
    this.#folder = place.folder
    this.#env = place.env ?? {}
    this.#patienceMs = place.patienceMs ?? 90_000
    this.dataDirectory = place.data?.directory ?? join(place.folder, 'data')
  }

  /** Starts a node with fresh data and waits until it is ready. */
  static async start({ properties = {}, listeners = {}, ...options }: LockstepOptions = {}): Promise<LockstepNode> {
    const folder = await mkdtemp(join(tmpdir(), 'lockstep-node-'))
    const node = new LockstepNode({ folder, ports: await freePorts(2), ...options })
    const further = Object.entries(listeners).map(([name, port]) => `${name}://127.0.0.1:${port}`)
    const all = [`PLAINTEXT://${node.bootstrap}`, ...further].join(',')
    await node.#writeProperties({ listeners: all, ...properties })
    try {
      await node.start()
    } catch (error) {
      await node.close()
      throw error
    }
    return node
  }

  /** What it printed lately. */
  get output(): string {
    return this.#process?.output() ?? ''
  }

  /** Process id while it runs. */
  get pid(): number | undefined {
    return this.#process?.alive() ? this.#process.pid : undefined
  }

  /** Starts the process (again) and waits until /readyz says that it is ready. */
  async start(): Promise<void> {
    const entry = join(repositoryRoot, 'src/bin/lockstep.ts')
    const child = await startProcess(process.execPath, [entry, 'server', '--config', this.#configFile], {
      cwd: this.#folder,
      env: { NODE_COMPILE_CACHE: compileCache, ...process.env, ...this.#env },
    })
    this.#process = child
    const ended = () => new Error(`the Lockstep node ended while starting:\n${child.output()}`)
    const told = (problem: string) => new Error(`${problem}\n${child.output().slice(-4_000)}`)
    await eventually(
      async () => {
        if (!child.alive()) return
        const { status, body } = await this.rest.request('GET', '/readyz').catch(error => {
          throw told(`/readyz: ${error.message}`)
        })
        if (status !== 200) throw told(`/readyz: ${status} ${JSON.stringify(body)}`)
      },
      { timeoutMs: this.#patienceMs },
    )
    if (!child.alive()) throw ended()
  }

  /** Clean shutdown. */
  async stop(): Promise<void> {
    await this.#process?.stop(30_000)
  }

  /** kill -9. */
  async kill(): Promise<void> {
    await this.#process?.kill()
  }

  /** Stops the process without ending it: connections stay open and nothing is answered, until `thaw`. */
  freeze(): void {
    if (this.pid !== undefined) process.kill(this.pid, 'SIGSTOP')
  }

  /** Lets a frozen process go on. */
  thaw(): void {
    if (this.pid !== undefined) process.kill(this.pid, 'SIGCONT')
  }

  /** kill -9 and a start. */
  async crash(): Promise<void> {
    await this.kill()
    await this.start()
  }

  /** Ends the process and removes its files. */
  async close(): Promise<void> {
    await this.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }

  get #configFile(): string {
    return join(this.#folder, 'server.properties')
  }

  async #writeProperties(overrides: Readonly<Record<string, string>>): Promise<void> {
    const properties = {
      'process.roles': 'broker,controller',
      'node.id': '1',
      'cluster.id': this.clusterId,
      'log.dirs': this.dataDirectory,
      'rest.listeners': this.rest.origin,
      ...overrides,
    }
    await writeProperties(this.#configFile, properties)
  }
}
