// The TypeScript end of the resident Java driver: compiles test/java once, starts it, sends commands; used by suites.
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cached } from '../cache.ts'
import { classArchive, quickJvm } from '../kafka/class-archive.ts'
import { type KafkaVersion, kafkaJars, kafkaStreamsJars } from '../kafka/jars.ts'

const sourceFolder = fileURLToPath(new URL('.', import.meta.url))

/** A command failed in Java. */
export class JavaError extends Error {
  /** Simple name of the Java exception, e.g. `PolicyViolationException`. */
  readonly javaClass: string

  constructor(message: string, javaClass: string, stack: string) {
    super(`${message}\n${stack}`)
    this.name = 'JavaError'
    this.javaClass = javaClass
  }
}

interface Pending {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

interface Answer {
  readonly id: number
  readonly result?: unknown
  readonly error?: string
  readonly errorClass?: string
  readonly stack?: string
}

/** One resident Java process with the jars of one Kafka version. Commands may be in flight side by side. */
export class JavaDriver {
  readonly version: KafkaVersion
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #pending = new Map<number, Pending>()
  #lastId = 0
  #noise = ''

  private constructor(version: KafkaVersion, child: ChildProcessByStdio<Writable, Readable, Readable>) {
    this.version = version
    this.#child = child
    onLines(child.stdout, line => this.#settle(JSON.parse(line)))
    child.stderr.on('data', (chunk: Buffer) => {
      this.#noise = (this.#noise + chunk.toString()).slice(-16_384)
    })
    child.stdin.on('error', () => {})
    child.once('close', () => this.#failAll())
  }

  /** Compiles the commands if their sources changed, and starts the process. `heapMb` is its -Xmx (default 1024). */
  static async start({ version, heapMb = 1024 }: { version: KafkaVersion; heapMb?: number }): Promise<JavaDriver> {
    const jars = await kafkaJars(version)
    const classes = await driverClasses(version)
    // The charset must not depend on the locale of whoever runs the tests.
    const properties = ['-Dfile.encoding=UTF-8', '-Dorg.slf4j.simpleLogger.defaultLogLevel=error']
    const quick = [...quickJvm, ...(await classArchive(version)), ...properties]
    // The archive is one of the jars: they come first.
    const classPath = ['-cp', `${join(jars, '*')}:${classes}`]
    const child = spawn('java', [`-Xmx${heapMb}m`, ...quick, ...classPath, 'lockstep.Driver'], {
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const driver = new JavaDriver(version, child)
    await once(child, 'spawn')
    return driver
  }

  /** What the driver wrote to standard error lately. */
  get output(): string {
    return this.#noise
  }

  /** Runs a command; rejects with JavaError when it throws. The caller names the type that the command answers. */
  call<Result = unknown>(command: string, args: object = {}): Promise<Result> {
    this.#lastId += 1
    const id = this.#lastId
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve: result => resolve(result as Result), reject })
      this.#child.stdin.write(`${JSON.stringify({ id, command, args })}\n`)
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) this.#failAll()
    })
  }

  /** The process stands still: its connections stay open, it sends nothing, until `thaw`. */
  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  /** Lets a frozen process go on. */
  thaw(): void {
    this.#child.kill('SIGCONT')
  }

  /** Ends the process. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'close')
  }

  #settle(answer: Answer): void {
    const pending = this.#pending.get(answer.id)
    this.#pending.delete(answer.id)
    if (answer.error === undefined) pending?.resolve(answer.result)
    else pending?.reject(new JavaError(answer.error, answer.errorClass ?? '', answer.stack ?? ''))
  }

  #failAll(): void {
    for (const { reject } of this.#pending.values()) reject(new Error(`the Java driver ended:\n${this.#noise}`))
    this.#pending.clear()
  }
}

/** Splits at line feeds only: node:readline also splits at U+2028, which may stand in JSON strings as it is. */
function onLines(stream: Readable, take: (line: string) => void): void {
  let parts: Buffer[] = []
  stream.on('data', (chunk: Buffer) => {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      parts.push(chunk.subarray(start, end))
      take(Buffer.concat(parts).toString())
      parts = []
      start = end + 1
    }
    parts.push(chunk.subarray(start))
  })
}

/** Folder with the compiled classes; `kafka-4/` holds commands that need classes which 3.9 and 4.1 do not have. */
export async function driverClasses(version: KafkaVersion): Promise<string> {
  const jars = await kafkaJars(version)
  const folders = version === '4.3.1' ? ['.', 'kafka-4'] : ['.']
  const sources = (await Promise.all(folders.map(folder => javaFiles(join(sourceFolder, folder))))).flat().sort()
  return compiled(version, sources, join(jars, '*'))
}

/** Class path of the Kafka Streams applications in `streams/`. */
export async function streamsClassPath(version: KafkaVersion): Promise<string> {
  const jars = `${join(await kafkaJars(version), '*')}:${join(await kafkaStreamsJars(version), '*')}`
  const classes = await compiled(version, await javaFiles(join(sourceFolder, 'streams')), jars)
  return `${classes}:${jars}`
}

/** Folder with the classes of these sources. */
async function compiled(version: KafkaVersion, sources: readonly string[], classPath: string): Promise<string> {
  const hash = createHash('sha256')
  for (const source of sources) hash.update(source).update(await readFile(source))
  return cached(`java/${version}-${hash.digest('hex').slice(0, 16)}`, async folder => {
    const options = ['-g', '-nowarn', '-proc:none', '-encoding', 'UTF-8', '--release', '17']
    const places = ['-cp', classPath, '-d', folder]
    await promisify(execFile)('javac', [...options, ...places, ...sources], { maxBuffer: 16 << 20 })
  })
}

async function javaFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter(name => name.endsWith('.java')).map(name => join(folder, name))
}
