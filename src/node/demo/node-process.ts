/** A Lockstep node of the demo as a child process: fresh data, free ports, its own properties file; started by the demo's scenes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type Clock, sleep } from '../../core/clock.ts'
import { randomUuid } from '../../core/uuid.ts'
import { DemoError } from './demo-error.ts'
import { NodeRest } from './node-rest.ts'

export interface NodePlace {
  /** For people, and the name of its folder. */
  readonly name: string
  readonly nodeId: number
  /** The demo's folder. */
  readonly folder: string
  /** The script that has the `server` command. */
  readonly entry: string
  readonly clock: Clock
  /** Gives up waiting for the start. */
  readonly signal: AbortSignal
  /** Of a node that joins a cluster: which one, and how. */
  readonly joins?: ClusterToJoin
}

/** A cluster of Apache Kafka. */
export interface ClusterToJoin {
  readonly clusterId: string
  /** Added to those of the node's file. */
  readonly properties: Readonly<Record<string, string>>
}

const READY_TIMEOUT_MS = 120_000
const READY_POLL_MS = 50
/** Another process may take a port between our look and the node's. */
const START_ATTEMPTS_MAX = 3
const LOG_TAIL_CHARS = 2000

export class NodeProcess {
  readonly name: string
  readonly clusterId: string
  /** `host:port` for Kafka clients. */
  readonly kafka: string
  readonly rest: NodeRest
  readonly pid: number
  /** Partition folders `TOPIC-N` are in it. */
  readonly dataDirectory: string
  readonly #child: ChildProcess
  readonly #logFile: string
  readonly #ended: Promise<string>
  #expectedEnd = false

  private constructor(layout: NodeLayout, child: ChildProcess) {
    this.name = layout.name
    this.clusterId = layout.clusterId
    this.kafka = `127.0.0.1:${layout.kafkaPort}`
    this.rest = new NodeRest(`http://127.0.0.1:${layout.restPort}`, layout.clusterId)
    this.pid = child.pid ?? 0
    this.dataDirectory = layout.dataDirectory
    this.#child = child
    this.#logFile = layout.logFile
    this.#ended = new Promise(resolve => {
      child.once('error', error => resolve(error.message))
      child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`))
    })
    const killWithUs = () => child.kill('SIGKILL')
    process.once('exit', killWithUs)
    void this.#ended.then(() => process.off('exit', killWithUs))
  }

  /** Starts a node and waits until it is ready. Throws DemoError with the end of its log, or the signal's reason. */
  static async start(place: NodePlace): Promise<NodeProcess> {
    for (let attempt = 1; ; attempt++) {
      const layout = await layOut(place)
      const log = await open(layout.logFile, 'w')
      const child = spawn(process.execPath, [place.entry, 'server', '--config', layout.configFile], {
        cwd: layout.folder,
        stdio: ['ignore', log.fd, log.fd],
      })
      const node = new NodeProcess(layout, child)
      await log.close()
      try {
        await node.#ready(place)
        return node
      } catch (error) {
        await node.kill()
        if (attempt === START_ATTEMPTS_MAX || !(await node.#log()).includes('EADDRINUSE')) throw error
      }
    }
  }

  /** Resolves with what ended the process, e.g. `signal SIGKILL`. */
  get ended(): Promise<string> {
    return this.#ended
  }

  /** The process was ended by the demo itself. */
  get endExpected(): boolean {
    return this.#expectedEnd
  }

  /** kill -9, and waits for the end. */
  async kill(): Promise<void> {
    this.#expectedEnd = true
    this.#child.kill('SIGKILL')
    await this.#ended
  }

  /** A graceful end, or kill -9 after `graceMs`. */
  async stop(clock: Clock, graceMs: number): Promise<void> {
    this.#expectedEnd = true
    this.#child.kill('SIGTERM')
    const timer = clock.after(graceMs, () => this.#child.kill('SIGKILL'))
    await this.#ended
    timer.cancel()
  }

  /** The end of its log, for error messages. */
  async logTail(): Promise<string> {
    return (await this.#log()).slice(-LOG_TAIL_CHARS).trim()
  }

  #log(): Promise<string> {
    return readFile(this.#logFile, 'utf8').catch(() => '')
  }

  async #ready({ clock, signal }: NodePlace): Promise<void> {
    const deadlineMs = clock.monotonicMs() + READY_TIMEOUT_MS
    let end: string | undefined
    void this.#ended.then(reason => {
      end = reason
    })
    let reasons: readonly string[] = ['REST does not answer']
    for (;;) {
      signal.throwIfAborted()
      if (end !== undefined)
        throw new DemoError(`node ${this.name} ended while starting (${end}):\n${await this.logTail()}`)
      reasons = (await this.rest.notReadyReasons()) ?? reasons
      if (reasons.length === 0) return
      if (clock.monotonicMs() > deadlineMs)
        throw new DemoError(
          `node ${this.name} is not ready after ${READY_TIMEOUT_MS / 1000} s: ${reasons.join('; ')}\n${await this.logTail()}`,
        )
      await sleep(clock, READY_POLL_MS, signal)
    }
  }
}

interface NodeLayout {
  readonly name: string
  readonly clusterId: string
  readonly kafkaPort: number
  readonly restPort: number
  readonly folder: string
  readonly configFile: string
  readonly logFile: string
  readonly dataDirectory: string
}

async function layOut({ name, nodeId, folder, joins }: NodePlace): Promise<NodeLayout> {
  const own = join(folder, name)
  await mkdir(own, { recursive: true })
  const [kafkaPort = 0, restPort = 0] = await freePorts(2)
  const layout = {
    name,
    clusterId: joins?.clusterId ?? randomUuid(),
    kafkaPort,
    restPort,
    folder: own,
    configFile: join(own, 'server.properties'),
    logFile: join(own, 'node.log'),
    dataDirectory: join(own, 'data'),
  }
  const properties = {
    'node.id': String(nodeId),
    'cluster.id': layout.clusterId,
    listeners: `PLAINTEXT://127.0.0.1:${kafkaPort}`,
    'rest.listeners': `http://127.0.0.1:${restPort}`,
    'log.dirs': layout.dataDirectory,
    ...joins?.properties,
  }
  const lines = Object.entries(properties).map(([key, value]) => `${key}=${escapeValue(value)}\n`)
  await writeFile(layout.configFile, lines.join(''))
  return layout
}

/** A backslash is an escape in properties files. */
const escapeValue = (value: string) => value.replaceAll('\\', '\\\\')

/** Ports of 127.0.0.1 that were free a moment ago. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  try {
    return await Promise.all(
      servers.map(async server => {
        server.listen(0, '127.0.0.1')
        await once(server, 'listening')
        const address = server.address()
        return address === null || typeof address === 'string' ? 0 : address.port
      }),
    )
  } finally {
    await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
  }
}
