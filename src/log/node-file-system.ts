/** The real disk behind the FileSystem port, with a bounded number of open files; made once per node. */
import * as fs from 'node:fs'
import * as promises from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Clock, systemClock } from '../core/clock.ts'
import { CallingThread } from './calling-thread.ts'
import type { FileSystem, LogFile } from './file-system.ts'
import { systemCode } from './log-error.ts'
import { OpenFiles, type Reopenable } from './open-files.ts'

/** Files kept open at once by default; a log has three to four, and only those in use need one. */
const OPEN_FILES_MAX = 2000
/** With so many under way none is begun early: it would keep a thread from other work. */
const SYNCS_MAX = 4
/** Larger writes are done in pieces: the system takes larger pages for them, and filling those costs several times the time. */
const WRITE_BYTES_MAX = 512 * 1024

/** Reads up to this size run in the calling thread while `blocking`. */
const BLOCKING_READ_BYTES_MAX = 16 * 1024

/** The disk of this machine. */
export interface NodeFileSystem extends FileSystem {
  /**
   * While true, small reads and questions run in the calling thread. For the start of a node, which asks thousands of them:
   * handing each to another thread costs many times what the system needs for it, and nobody waits for anything else.
   */
  blocking: boolean
}

/** Files beyond `openFilesMax` are closed, least recently used first, and opened again when needed. */
export function nodeFileSystem(options: { openFilesMax?: number; clock?: Clock } = {}): NodeFileSystem {
  const shared: Shared = {
    open: new OpenFiles(options.openFilesMax ?? OPEN_FILES_MAX),
    callingThread: new CallingThread(options.clock ?? systemClock),
    blocking: false,
    syncs: 0,
  }
  return {
    get takesMoreSyncs() {
      return shared.syncs < SYNCS_MAX
    },
    get blocking() {
      return shared.blocking
    },
    set blocking(blocking: boolean) {
      shared.blocking = blocking
    },
    file: path => new NodeFile(path, shared),
    async create(path) {
      const file = new NodeFile(path, shared)
      await file.create()
      return file
    },
    readFile: async path => (shared.blocking ? fs.readFileSync(path) : await promises.readFile(path)),
    async sizeOf(path) {
      // An error is expensive to make.
      if (shared.blocking) return fs.statSync(path, { throwIfNoEntry: false })?.size
      return (await present(() => promises.stat(path)))?.size
    },
    list: path => present(async () => (shared.blocking ? fs.readdirSync(path) : await promises.readdir(path))),
    rename: (from, to) => promises.rename(from, to),
    remove: path => promises.rm(path, { force: true }),
    async createDirectory(path) {
      const first = await promises.mkdir(path, { recursive: true })
      if (first === undefined) return
      for (let created = path; created.length >= first.length; created = dirname(created)) {
        await syncDirectory(dirname(created))
      }
    },
    removeDirectory: path => promises.rm(path, { recursive: true, force: true }),
    syncDirectory,
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await promises.open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

async function present<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** What the files of one file system share. */
interface Shared {
  readonly open: OpenFiles
  readonly callingThread: CallingThread
  blocking: boolean
  /** Under way. */
  syncs: number
}

class NodeFile implements LogFile, Reopenable {
  readonly path: string
  listed = false
  older: Reopenable | undefined
  newer: Reopenable | undefined
  readonly #shared: Shared
  #descriptor: number | undefined
  #opening: Promise<number> | undefined
  #users = 0
  /** Runs on the descriptor that the other operations use. */
  #syncing: Promise<void> | undefined
  #closed = false
  #whenIdle: (() => void) | undefined

  constructor(path: string, shared: Shared) {
    this.path = path
    this.#shared = shared
  }

  get idle(): boolean {
    return this.#users === 0
  }

  create(): Promise<void> {
    return this.#use(async () => {}, fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_TRUNC)
  }

  read(buffer: Buffer, position: number, expect?: 'cached'): Promise<number> {
    return this.#use(async descriptor => {
      let done = 0
      while (done < buffer.length) {
        const rest = done === 0 ? buffer : buffer.subarray(done)
        const readNow = () => fs.readSync(descriptor, rest, 0, rest.length, position + done)
        let count: number
        if (expect && this.#shared.callingThread.allows(rest.length)) count = this.#shared.callingThread.run(readNow)
        else if (this.#blocks(rest)) count = readNow()
        else count = await readSome(descriptor, rest, position + done)
        if (count === 0) break
        done += count
      }
      return done
    })
  }

  write(buffers: readonly Buffer[], position: number): Promise<void> {
    return this.#use(descriptor => {
      if (!this.#shared.callingThread.allows(bytesOf(buffers))) return writeAll(descriptor, buffers, position)
      const written = this.#shared.callingThread.run(() => writeNow(descriptor, buffers, position))
      const rest = afterBytes(buffers, written)
      return rest.length > 0 ? writeAll(descriptor, rest, position + written) : DONE
    })
  }

  truncate(sizeBytes: number): Promise<void> {
    return this.#use(descriptor => settle(done => fs.ftruncate(descriptor, sizeBytes, done)))
  }

  /** The system tells a failure once per descriptor: syncs that overlap would hide it from each other. */
  sync(): Promise<void> {
    return this.#use(async descriptor => {
      while (this.#syncing) {
        const own = this.#openAgain()
        if (own !== undefined) return await this.#sync(own).finally(() => fs.closeSync(own))
        await this.#syncing.catch(() => {})
      }
      this.#syncing = this.#sync(descriptor).finally(() => {
        this.#syncing = undefined
      })
      await this.#syncing
    })
  }

  async #sync(descriptor: number): Promise<void> {
    this.#shared.syncs++
    try {
      await settle(done => fs.fdatasync(descriptor, done))
    } finally {
      this.#shared.syncs--
    }
  }

  /** A descriptor more, undefined if there is none to be had. */
  #openAgain(): number | undefined {
    try {
      return fs.openSync(this.path, 'r')
    } catch {
      return undefined
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    if (this.#users > 0) {
      await new Promise<void>(resolve => {
        this.#whenIdle = resolve
      })
    }
    this.#shared.open.forget(this)
    this.closeDescriptor()
  }

  /** Gives the descriptor back; the next operation opens the file again. Never waits: the system only drops a reference. */
  closeDescriptor(): void {
    if (this.#descriptor === undefined) return
    fs.closeSync(this.#descriptor)
    this.#descriptor = undefined
  }

  async #use<T>(operation: (descriptor: number) => Promise<T>, flags: number = fs.constants.O_RDWR): Promise<T> {
    if (this.#closed) throw Object.assign(new Error(`${this.path} is closed`), { code: 'EBADF' })
    this.#users++
    try {
      if (this.#descriptor === undefined) await this.#openOnce(flags)
      this.#shared.open.touch(this)
      return await operation(this.#descriptor as number)
    } finally {
      this.#users--
      if (this.#users === 0) this.#whenIdle?.()
    }
  }

  #blocks(buffer: Buffer): boolean {
    return this.#shared.blocking && buffer.length <= BLOCKING_READ_BYTES_MAX
  }

  /** Concurrent first uses share one descriptor. */
  async #openOnce(flags: number): Promise<void> {
    this.#opening ??= this.#openWithin(flags)
    try {
      this.#descriptor = await this.#opening
    } finally {
      this.#opening = undefined
    }
  }

  /** Sockets share the process's descriptors: when those run out, files that are not in use give theirs. */
  async #openWithin(flags: number): Promise<number> {
    for (;;) {
      try {
        return this.#shared.blocking ? fs.openSync(this.path, flags, 0o644) : await openFile(this.path, flags)
      } catch (error) {
        if (systemCode(error) !== 'EMFILE' || !this.#shared.open.closeOne()) throw error
      }
    }
  }
}

const DONE = Promise.resolve()

const openFile = (path: string, flags: number): Promise<number> =>
  new Promise((resolve, reject) =>
    fs.open(path, flags, 0o644, (error, descriptor) => (error ? reject(error) : resolve(descriptor))),
  )

const settle = (start: (done: (error: Error | null) => void) => void): Promise<void> =>
  new Promise((resolve, reject) => start(error => (error ? reject(error) : resolve())))

const readSome = (descriptor: number, buffer: Buffer, position: number): Promise<number> =>
  new Promise((resolve, reject) =>
    fs.read(descriptor, buffer, 0, buffer.length, position, (error, count) => (error ? reject(error) : resolve(count))),
  )

const writeSome = (descriptor: number, buffers: readonly Buffer[], position: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const done = (error: Error | null, written: number) => (error ? reject(error) : resolve(written))
    const only = buffers.length === 1 ? buffers[0] : undefined
    if (only) fs.write(descriptor, only, 0, Math.min(only.length, WRITE_BYTES_MAX), position, done)
    else fs.writev(descriptor, buffers, position, done)
  })

const bytesOf = (buffers: readonly Buffer[]): number => buffers.reduce((sum, buffer) => sum + buffer.length, 0)

async function writeAll(descriptor: number, buffers: readonly Buffer[], position: number): Promise<void> {
  let rest = buffers
  let at = position
  while (rest.length > 0) {
    const written = await writeSome(descriptor, rest, at)
    at += written
    rest = afterBytes(rest, written)
  }
}

function writeNow(descriptor: number, buffers: readonly Buffer[], position: number): number {
  const only = buffers.length === 1 ? buffers[0] : undefined
  return only ? fs.writeSync(descriptor, only, 0, only.length, position) : fs.writevSync(descriptor, buffers, position)
}

/** What is left to write after the system took `bytes`. */
function afterBytes(buffers: readonly Buffer[], bytes: number): readonly Buffer[] {
  let skipped = 0
  for (const [index, buffer] of buffers.entries()) {
    if (skipped + buffer.length > bytes) return [buffer.subarray(bytes - skipped), ...buffers.slice(index + 1)]
    skipped += buffer.length
  }
  return []
}
