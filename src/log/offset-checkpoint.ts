/** One checkpoint file of a data directory: an offset per partition; StoreCheckpoints has four of them. */
import { formatCheckpoint, parseCheckpoint } from './checkpoint-file.ts'
import { parsePartitionDirectory, partitionDirectoryName } from './file-names.ts'
import { type FileSystem, loadText, saveFile } from './file-system.ts'

/** Offsets by `topic-partition`. A damaged or missing file counts as empty: then more is verified than needed. */
export class OffsetCheckpoint {
  readonly #fs: FileSystem
  readonly #path: string
  readonly #offsets: Map<string, number>
  #changes = 0
  #savedChanges = 0
  #saving: Promise<void> | undefined

  private constructor(fs: FileSystem, path: string, offsets: Map<string, number>) {
    this.#fs = fs
    this.#path = path
    this.#offsets = offsets
  }

  static async load(fs: FileSystem, path: string): Promise<OffsetCheckpoint> {
    const lines = parseCheckpoint((await loadText(fs, path)) ?? '', 3) ?? []
    const offsets = new Map<string, number>()
    for (const [topic = '', partition, offset] of lines) {
      if (Number.isSafeInteger(Number(offset))) {
        offsets.set(partitionDirectoryName(topic, Number(partition)), Number(offset))
      }
    }
    return new OffsetCheckpoint(fs, path, offsets)
  }

  offset(name: string): number | undefined {
    return this.#offsets.get(name)
  }

  set(name: string, offset: number): void {
    if (this.#offsets.get(name) === offset) return
    this.#offsets.set(name, offset)
    this.#changes++
  }

  delete(name: string): void {
    if (this.#offsets.delete(name)) this.#changes++
  }

  /** Deletes what is not in `names`. */
  retain(names: ReadonlySet<string>): void {
    for (const name of this.#offsets.keys()) if (!names.has(name)) this.delete(name)
  }

  /** Resolves when everything set before the call is durable. Concurrent calls share a write. */
  async save(): Promise<void> {
    const wanted = this.#changes
    while (this.#savedChanges < wanted) {
      this.#saving ??= this.#write().finally(() => {
        this.#saving = undefined
      })
      await this.#saving
    }
  }

  async #write(): Promise<void> {
    const changes = this.#changes
    const lines = Array.from(this.#offsets, ([name, offset]) => {
      const { topic, partition } = parsePartitionDirectory(name) ?? { topic: name, partition: 0 }
      return `${topic} ${partition} ${offset}`
    })
    await saveFile(this.#fs, this.#path, formatCheckpoint(lines))
    this.#savedChanges = changes
  }
}
