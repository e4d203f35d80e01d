/** Port: the file operations that the log needs. `node-file-system.ts` is the disk, `fakes/memory-file-system.ts` the one of tests. */

import { systemCode } from './log-error.ts'

/** One file that stays usable by its path; nothing is opened before the first operation. Errors carry the system's `code`. */
export interface LogFile {
  readonly path: string
  /**
   * Fills `buffer` from `position` on; resolves to the bytes read, fewer only at the end of the file. `expect`: the bytes were
   * written lately, so the system probably has them in its cache.
   */
  read(buffer: Buffer, position: number, expect?: 'cached'): Promise<number>
  /** Writes the buffers one behind the other from `position` on, in few calls to the system. On failure a part may be there. */
  write(buffers: readonly Buffer[], position: number): Promise<void>
  truncate(sizeBytes: number): Promise<void>
  /**
   * Resolves when contents and size are durable (fdatasync). The name is durable after `syncDirectory`. Calls may overlap: each
   * of them learns of bytes that the system could not write, unless one that began earlier does.
   */
  sync(): Promise<void>
  /** Waits for running operations. Later ones are refused. */
  close(): Promise<void>
}

export interface FileSystem {
  /** False while syncs keep its threads busy: another one would only wait. */
  readonly takesMoreSyncs?: boolean
  /** A handle of an existing file. Operations reject with ENOENT if there is none. */
  file(path: string): LogFile
  /** Creates an empty file, or empties an existing one. */
  create(path: string): Promise<LogFile>
  /** The whole file. Rejects with ENOENT if there is none. */
  readFile(path: string): Promise<Buffer>
  /** Size in bytes, undefined if there is no such file. */
  sizeOf(path: string): Promise<number | undefined>
  /** Names in a directory, undefined if there is no such directory. */
  list(directory: string): Promise<string[] | undefined>
  /** Replaces an existing file of that name. Also renames directories; open handles below are closed by the caller first. */
  rename(from: string, to: string): Promise<void>
  /** Removes a file; does nothing if there is none. */
  remove(path: string): Promise<void>
  /** Creates the directory and those above it, durably. */
  createDirectory(path: string): Promise<void>
  /** Removes a directory and all in it; does nothing if there is none. */
  removeDirectory(path: string): Promise<void>
  /** Makes the names in a directory durable: created, renamed and removed files. */
  syncDirectory(path: string): Promise<void>
}

/** Replaces a small file so that after a crash either the old or the new contents are there, durably. */
export async function saveFile(fs: FileSystem, path: string, contents: Buffer | string): Promise<void> {
  const temporary = `${path}.tmp`
  const file = await fs.create(temporary)
  try {
    await file.write([Buffer.isBuffer(contents) ? contents : Buffer.from(contents, 'utf8')], 0)
    await file.sync()
  } finally {
    await file.close()
  }
  await fs.rename(temporary, path)
  await fs.syncDirectory(path.slice(0, path.lastIndexOf('/')))
}

/** A small text file, undefined if there is none. */
export async function loadText(fs: FileSystem, path: string): Promise<string | undefined> {
  try {
    return (await fs.readFile(path)).toString('utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}
