/** The snapshot files (`OFFSET-EPOCH.checkpoint`) in the directory of the metadata log: found, loaded, saved and removed. Owned by MetadataLog. */
import { join } from 'node:path'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { FileSystem, LogFile } from '../../log/file-system.ts'
import { readSnapshot, type SnapshotContents } from '../snapshot-batches.ts'

/** What a snapshot covers: the log up to `offset` (exclusive), whose last record is of `epoch`. */
export interface SnapshotId {
  readonly offset: number
  readonly epoch: number
}

const FILE = /^(\d{20})-(\d{10})\.checkpoint(\.part|\.deleted)?$/

/** `00000000000000000062-0000000001.checkpoint` */
const fileName = ({ offset, epoch }: SnapshotId): string =>
  `${String(offset).padStart(20, '0')}-${String(epoch).padStart(10, '0')}.checkpoint`

export class MetadataSnapshots {
  readonly #fs: FileSystem
  readonly #directory: string
  readonly #logger: Logger
  /** The oldest first. */
  #ids: SnapshotId[]

  private constructor(place: { fs: FileSystem; directory: string; logger: Logger }, ids: SnapshotId[]) {
    this.#fs = place.fs
    this.#directory = place.directory
    this.#logger = place.logger
    this.#ids = ids
  }

  /** Lists what is there; left-overs of interrupted writes and removals go. */
  static async open(place: { fs: FileSystem; directory: string; logger: Logger }): Promise<MetadataSnapshots> {
    const { fs, directory } = place
    const ids: SnapshotId[] = []
    for (const name of (await fs.list(directory)) ?? []) {
      const [, offset, epoch, leftOver] = FILE.exec(name) ?? []
      if (offset === undefined) continue
      if (leftOver) await fs.remove(join(directory, name))
      else ids.push({ offset: Number(offset), epoch: Number(epoch) })
    }
    ids.sort((a, b) => a.offset - b.offset || a.epoch - b.epoch)
    return new MetadataSnapshots(place, ids)
  }

  /** Those that are whole as far as it is known, the oldest first. */
  get ids(): readonly SnapshotId[] {
    return this.#ids
  }

  /** The newest one that is whole; undefined if there is none. Damaged ones stay on disk and are not counted any more. */
  async loadNewest(): Promise<{ id: SnapshotId; contents: SnapshotContents } | undefined> {
    for (let id = this.#ids.at(-1); id !== undefined; id = this.#ids.at(-1)) {
      const contents = await this.#load(id)
      if (contents) return { id, contents }
      this.#ids = this.#ids.slice(0, -1)
    }
    return undefined
  }

  /** Writes a snapshot so that a crash leaves either nothing of that name or all of it, durably. False if `cancelled` said so. */
  async save(id: SnapshotId, batches: Iterable<Buffer>, cancelled: () => boolean): Promise<boolean> {
    const path = this.#path(id)
    const partial = `${path}.part`
    const file = await this.#fs.create(partial)
    try {
      const complete = await writeAll(file, batches, cancelled)
      if (complete) await file.sync()
      await file.close()
      if (!complete) {
        await this.#fs.remove(partial)
        return false
      }
      await this.#fs.rename(partial, path)
      await this.#fs.syncDirectory(this.#directory)
    } catch (error) {
      await file.close()
      await this.#fs.remove(partial).catch(() => {})
      throw error
    }
    this.#ids = [...this.#ids.filter(other => other.offset !== id.offset || other.epoch !== id.epoch), id]
    return true
  }

  async sizeBytes(id: SnapshotId): Promise<number> {
    return (await this.#fs.sizeOf(this.#path(id))) ?? 0
  }

  /** Timestamp (ms) of the last record that it covers; undefined if the file is not readable. */
  async lastContainedTimestamp(id: SnapshotId): Promise<bigint | undefined> {
    return (await this.#load(id))?.lastContainedTimestamp
  }

  /** Removes the snapshots that end below `offset`. */
  async removeBelow(offset: number): Promise<void> {
    for (const id of this.#ids.filter(candidate => candidate.offset < offset)) {
      this.#ids = this.#ids.filter(other => other !== id)
      await this.#fs.remove(this.#path(id))
    }
  }

  async #load(id: SnapshotId): Promise<SnapshotContents | undefined> {
    const path = this.#path(id)
    try {
      return readSnapshot(await this.#fs.readFile(path))
    } catch (error) {
      this.#logger.warn('a metadata snapshot cannot be used', { path, reason: messageOf(error) })
      return undefined
    }
  }

  #path(id: SnapshotId): string {
    return join(this.#directory, fileName(id))
  }
}

/** A batch at a time: other work of the node goes on between. */
async function writeAll(file: LogFile, batches: Iterable<Buffer>, cancelled: () => boolean): Promise<boolean> {
  let position = 0
  for (const batch of batches) {
    if (cancelled()) return false
    await file.write([batch], position)
    position += batch.length
  }
  return true
}
