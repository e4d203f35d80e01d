// Files in memory of which some stop answering: a disk that hangs under one partition.
import { MemoryFileSystem } from '../../src/log/fakes/memory-file-system.ts'
import type { LogFile } from '../../src/log/file-system.ts'

export class StallableFileSystem extends MemoryFileSystem {
  #stalled: { readonly prefix: string; readonly over: Promise<void> } | undefined

  /** Writes and syncs below the prefix do not end before the returned function is called. */
  stall(prefix: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#stalled = { prefix, over: promise }
    return () => {
      this.#stalled = undefined
      resolve()
    }
  }

  override file(path: string): LogFile {
    return this.#watched(super.file(path))
  }

  override async create(path: string): Promise<LogFile> {
    return this.#watched(await super.create(path))
  }

  #watched(file: LogFile): LogFile {
    const wait = async () => {
      if (this.#stalled && file.path.startsWith(this.#stalled.prefix)) await this.#stalled.over
    }
    return {
      path: file.path,
      read: (buffer, position) => file.read(buffer, position),
      write: async (buffers, position) => {
        await wait()
        await file.write(buffers, position)
      },
      truncate: sizeBytes => file.truncate(sizeBytes),
      sync: async () => {
        await wait()
        await file.sync()
      },
      close: () => file.close(),
    }
  }
}
