/** A file system in memory for tests: a crash loses or tears what was not synced, and any operation can be made to fail. */
import type { Random } from '../../core/random.ts'
import type { FileSystem, LogFile } from '../file-system.ts'
import { MemoryDirectory, MemoryInode } from './memory-nodes.ts'

/** An operation about to run, as `failWhen` sees it. */
export interface MemoryOperation {
  readonly name: 'create' | 'read' | 'write' | 'truncate' | 'sync' | 'list' | 'rename' | 'remove' | 'directory'
  readonly path: string
}

export class MemoryFileSystem implements FileSystem {
  /** Return an error to make the operation fail; a failing write may have written a part. */
  failWhen: (operation: MemoryOperation) => Error | undefined = () => undefined
  /** What a sync of a file waits for. It makes durable what was there when it was called. */
  syncWaits: () => Promise<void> | undefined = () => undefined
  /** Operations so far. */
  operations = 0
  /** fdatasync calls so far. */
  syncs = 0
  readonly #root = new MemoryDirectory()
  #era = 0

  /** Power loss: unsynced data and names are lost, kept or torn at random; every open handle is dead. */
  crash(random: Random): void {
    this.#era++
    this.#root.crash(random)
  }

  /** Process death: everything written survives; every open handle is dead. */
  kill(): void {
    this.#era++
  }

  file(path: string): LogFile {
    return this.#handle(path)
  }

  async create(path: string): Promise<LogFile> {
    await this.#enter('create', path)
    const [parent, name] = this.#parentOf(path)
    const existing = parent.entry(name)
    if (existing instanceof MemoryInode) existing.truncate(0)
    else parent.change([[name, new MemoryInode()]])
    return this.#handle(path)
  }

  async readFile(path: string): Promise<Buffer> {
    await this.#enter('read', path)
    return Buffer.from(this.#inode(path).contents)
  }

  async sizeOf(path: string): Promise<number | undefined> {
    await this.#enter('list', path)
    const node = this.#find(path)
    return node instanceof MemoryInode ? node.contents.length : undefined
  }

  async list(directory: string): Promise<string[] | undefined> {
    await this.#enter('list', directory)
    const node = this.#find(directory)
    return node instanceof MemoryDirectory ? node.names() : undefined
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#enter('rename', from)
    const [parent, name] = this.#parentOf(from)
    const [target, targetName] = this.#parentOf(to)
    if (parent !== target) throw systemError('EXDEV', `${from} and ${to} are in different directories`)
    const node = parent.entry(name)
    if (!node) throw systemError('ENOENT', from)
    parent.change([
      [targetName, node],
      [name, undefined],
    ])
  }

  async remove(path: string): Promise<void> {
    await this.#enter('remove', path)
    const [parent, name] = this.#parentOf(path)
    if (parent.entry(name)) parent.change([[name, undefined]])
  }

  async createDirectory(path: string): Promise<void> {
    await this.#enter('directory', path)
    let directory = this.#root
    for (const name of partsOf(path)) {
      const existing = directory.entry(name)
      if (existing instanceof MemoryInode) throw systemError('ENOTDIR', path)
      const next = existing ?? new MemoryDirectory()
      if (!existing) {
        directory.change([[name, next]])
        directory.sync()
      }
      directory = next
    }
  }

  removeDirectory(path: string): Promise<void> {
    return this.remove(path)
  }

  async syncDirectory(path: string): Promise<void> {
    await this.#enter('sync', path)
    const node = this.#find(path)
    if (!(node instanceof MemoryDirectory)) throw systemError('ENOENT', path)
    node.sync()
  }

  async #enter(name: MemoryOperation['name'], path: string): Promise<void> {
    this.operations++
    // Real operations never finish in the same turn.
    await Promise.resolve()
    const error = this.failWhen({ name, path })
    if (error) throw error
  }

  #handle(path: string): LogFile {
    const era = this.#era
    let closed = false
    const enter = async (name: MemoryOperation['name']) => {
      await this.#enter(name, path)
      if (closed || era !== this.#era) throw systemError('EBADF', path)
      return this.#inode(path)
    }
    return {
      path,
      read: async (buffer, position) => (await enter('read')).contents.copy(buffer, 0, position),
      write: async (buffers, position) => {
        const bytes = Buffer.concat(buffers)
        try {
          const inode = await enter('write')
          inode.write(bytes, position)
        } catch (error) {
          const node = this.#find(path)
          const part = bytes.subarray(0, bytes.length >> 1)
          if (node instanceof MemoryInode && era === this.#era && !closed) node.write(part, position)
          throw error
        }
      },
      truncate: async sizeBytes => (await enter('truncate')).truncate(sizeBytes),
      sync: async () => {
        this.syncs++
        const node = this.#find(path)
        const mark = node instanceof MemoryInode ? node.mark : undefined
        await this.syncWaits()
        const inode = await enter('sync')
        inode.sync(inode === node ? mark : undefined)
      },
      close: async () => {
        closed = true
      },
    }
  }

  #find(path: string): MemoryInode | MemoryDirectory | undefined {
    let node: MemoryInode | MemoryDirectory | undefined = this.#root
    for (const name of partsOf(path)) node = node instanceof MemoryDirectory ? node.entry(name) : undefined
    return node
  }

  #inode(path: string): MemoryInode {
    const node = this.#find(path)
    if (!(node instanceof MemoryInode)) throw systemError('ENOENT', path)
    return node
  }

  #parentOf(path: string): [MemoryDirectory, string] {
    const parts = partsOf(path)
    const name = parts.pop() ?? ''
    const parent = this.#find(parts.join('/'))
    if (!(parent instanceof MemoryDirectory)) throw systemError('ENOENT', path)
    return [parent, name]
  }
}

const partsOf = (path: string): string[] => path.split('/').filter(Boolean)

/** An error as the system gives it. */
export const systemError = (code: string, path: string): Error => Object.assign(new Error(`${code}: ${path}`), { code })
