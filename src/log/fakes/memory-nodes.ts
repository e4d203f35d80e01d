/** Files and directories of the in-memory file system, each with what is durable and what a crash may lose. */
import type { Random } from '../../core/random.ts'

type PendingWrite = { readonly position: number; readonly bytes: Buffer } | { readonly truncateTo: number }

/** Disks write whole sectors. */
const SECTOR_BYTES = 512

/** A file's contents now, and the changes since the last sync. */
export class MemoryInode {
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0
  #durable: Buffer = Buffer.alloc(0)
  #pending: PendingWrite[] = []
  /** Changes ever. */
  #changes = 0

  /** What was changed up to now, for a sync that ends later. */
  get mark(): number {
    return this.#changes
  }

  get contents(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  write(bytes: Buffer, position: number): void {
    this.#changes++
    this.#pending.push({ position, bytes: Buffer.from(bytes) })
    this.#put(bytes, position)
  }

  truncate(length: number): void {
    this.#changes++
    this.#pending.push({ truncateTo: length })
    this.#resize(length)
  }

  /** Makes the changes before the mark durable; default: all. */
  sync(mark = this.#changes): void {
    const later = this.#pending.splice(Math.max(0, this.#pending.length - (this.#changes - mark)))
    if (later.length === 0) this.#durable = Buffer.from(this.contents)
    else if (this.#pending.length > 0) this.#durable = this.#durableWith(this.#pending)
    this.#pending = later
  }

  #durableWith(changes: readonly PendingWrite[]): Buffer {
    const inode = new MemoryInode()
    inode.#put(this.#durable, 0)
    inode.#apply(changes)
    return Buffer.from(inode.contents)
  }

  #apply(changes: readonly PendingWrite[]): void {
    for (const change of changes) {
      if ('truncateTo' in change) this.#resize(change.truncateTo)
      else this.#put(change.bytes, change.position)
    }
  }

  /** A prefix of the unsynced changes is on disk, of the rest some sectors (the file may have grown by zeros), or nothing. */
  crash(random: Random): void {
    const pending = this.#pending
    this.#bytes = Buffer.from(this.#durable)
    this.#length = this.#durable.length
    const whole = Math.floor(random() * (pending.length + 1))
    this.#apply(pending.slice(0, whole))
    const kept = random() < 0.5 ? 0 : random()
    for (const change of pending.slice(whole)) if (!('truncateTo' in change) && kept > 0) this.#tear(change, random)
    this.sync()
  }

  #tear({ position, bytes }: { position: number; bytes: Buffer }, random: Random): void {
    if (random() < 0.5) return
    if (this.#length < position + bytes.length) this.#resize(position + Math.ceil(bytes.length * random()))
    for (let at = 0; at < bytes.length; at += SECTOR_BYTES) {
      const sector = bytes.subarray(at, at + SECTOR_BYTES)
      if (random() < 0.5 && position + at + sector.length <= this.#length) this.#put(sector, position + at)
    }
  }

  #put(bytes: Buffer, position: number): void {
    if (position + bytes.length > this.#length) this.#resize(position + bytes.length)
    bytes.copy(this.#bytes, position)
  }

  #resize(length: number): void {
    if (length > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(length, this.#bytes.length * 2))
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    } else if (length > this.#length) {
      this.#bytes.fill(0, this.#length, length)
    }
    this.#length = length
  }
}

type Node = MemoryInode | MemoryDirectory
type Change = readonly (readonly [name: string, node: Node | undefined])[]

/** Names now, and the changes since the last sync. */
export class MemoryDirectory {
  #entries = new Map<string, Node>()
  #durable = new Map<string, Node>()
  #pending: Change[] = []

  entry(name: string): Node | undefined {
    return this.#entries.get(name)
  }

  names(): string[] {
    return [...this.#entries.keys()]
  }

  /** One atomic change of names. */
  change(change: Change): void {
    this.#pending.push(change)
    applyChange(this.#entries, change)
  }

  sync(): void {
    this.#durable = new Map(this.#entries)
    this.#pending = []
  }

  /** A journalled file system: a prefix of the unsynced changes survives. */
  crash(random: Random): void {
    const survivors = this.#pending.slice(0, Math.floor(random() * (this.#pending.length + 1)))
    this.#entries = this.#durable
    for (const change of survivors) applyChange(this.#entries, change)
    this.sync()
    for (const node of this.#entries.values()) node.crash(random)
  }
}

function applyChange(entries: Map<string, Node>, change: Change): void {
  for (const [name, node] of change) {
    if (node) entries.set(name, node)
    else entries.delete(name)
  }
}
