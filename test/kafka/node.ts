// One process of a real Kafka cluster; made by cluster.ts, used by suites to kill, stop and restart single nodes.
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type RunningProcess, runTool, startProcess } from '../child-process.ts'
import { eventually } from '../eventually.ts'
import { tryConnect } from '../free-port.ts'
import { writeProperties } from '../properties-file.ts'
import { quickJvm } from './class-archive.ts'
import type { KafkaVersion } from './jars.ts'

/** What cluster.ts decides for a node. */
export interface NodePlan {
  readonly id: number
  /** The client listener's port of a broker, the controller listener's port of a controller. */
  readonly port: number
  readonly isBroker: boolean
  /** Instead of one of its own. */
  readonly dataDirectory: string | undefined
  readonly properties: Readonly<Record<string, string>>
}

/** What is the same for every node of a cluster. */
export interface ClusterPlan {
  readonly version: KafkaVersion
  readonly jars: string
  /** Arguments with which its JVMs start quickly (class-archive.ts). */
  readonly archive: readonly string[]
  /** Folder with further classes, for plugins of brokers. */
  readonly plugins: string | undefined
  /** Of the nodes, in place of those that start quickly. */
  readonly jvmArguments: readonly string[] | undefined
  /** Further arguments of `kafka-storage format`, for a voter of the quorum or another node. */
  readonly format: (isVoter: boolean) => readonly string[]
  readonly clusterId: string
  readonly folder: string
  readonly controllerPorts: readonly number[]
  /** Where brokers reach the controllers when they are to hear late of metadata: a port, and the controller's own. */
  readonly latePorts: readonly (readonly [port: number, to: number])[]
  readonly nodes: readonly NodePlan[]
}

/** A node that can be started, stopped, killed and started again with the same data. */
export class KafkaNode {
  readonly id: number
  readonly isBroker: boolean
  /** `host:port` that it listens on. */
  readonly address: string
  /** Its log directory (`TOPIC-PARTITION` folders in it). */
  readonly dataDirectory: string
  readonly #plan: NodePlan
  readonly #cluster: ClusterPlan
  readonly #folder: string
  #process: RunningProcess | undefined

  constructor(plan: NodePlan, cluster: ClusterPlan) {
    this.id = plan.id
    this.isBroker = plan.isBroker
    this.address = `127.0.0.1:${plan.port}`
    this.#plan = plan
    this.#cluster = cluster
    this.#folder = join(cluster.folder, `node-${plan.id}`)
    this.dataDirectory = plan.dataDirectory ?? join(this.#folder, 'data')
  }

  /** `host:port` of one of its listeners. */
  addressOf(listener: string): string {
    const [, address] = new RegExp(`${listener}://([^,]+)`).exec(this.#plan.properties['listeners'] ?? '') ?? []
    if (address === undefined) throw new Error(`node ${this.id} has no listener ${listener}`)
    return address
  }

  /** Process id while it runs. */
  get pid(): number | undefined {
    return this.#process?.alive() ? this.#process.pid : undefined
  }

  /** The last lines that it printed. */
  get output(): string {
    return this.#process?.output() ?? ''
  }

  /** Starts the process (formatting the directory the first time) and waits until it listens. */
  async start(): Promise<void> {
    const file = await this.#writeProperties()
    if (!existsSync(join(this.dataDirectory, 'meta.properties'))) await this.#format(file)
    const child = await startProcess('java', [...this.#serverArguments, 'kafka.Kafka', file], { cwd: this.#folder })
    this.#process = child
    await eventually(
      async () => {
        if (child.alive()) await tryConnect(this.#plan.port)
      },
      { timeoutMs: 120_000, intervalMs: 100 },
    )
    if (!child.alive()) throw new Error(`Kafka node ${this.id} ended while starting:\n${child.output()}`)
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

  async #writeProperties(): Promise<string> {
    await mkdir(this.#folder, { recursive: true })
    const file = join(this.#folder, 'server.properties')
    const properties = { ...this.#plan.properties, 'node.id': String(this.id), 'log.dirs': this.dataDirectory }
    await writeProperties(file, properties)
    return file
  }

  async #format(file: string): Promise<void> {
    const args = [
      ...this.#javaArguments('128m'),
      'kafka.tools.StorageTool',
      'format',
      '-t',
      this.#cluster.clusterId,
      '-c',
      file,
      ...this.#cluster.format(/controller/.test(this.#plan.properties['process.roles'] ?? '')),
    ]
    const { status, stdout, stderr } = await runTool('java', args)
    if (status !== 0) throw new Error(`formatting Kafka node ${this.id} failed:\n${stdout}${stderr}`)
  }

  get #serverArguments(): string[] {
    const { jvmArguments } = this.#cluster
    return jvmArguments ? [...jvmArguments, ...this.#classPath] : this.#javaArguments('512m')
  }

  #javaArguments(heap: string): string[] {
    const quiet = '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'
    return [`-Xmx${heap}`, ...quickJvm, ...this.#cluster.archive, quiet, ...this.#classPath]
  }

  get #classPath(): string[] {
    const { jars, plugins } = this.#cluster
    return ['-cp', [join(jars, '*'), ...(plugins ? [plugins] : [])].join(':')]
  }
}
