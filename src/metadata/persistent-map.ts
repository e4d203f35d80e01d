/** A map whose changed copy costs a fraction of its size: the metadata image keeps topics in it, so that one leader change among 10 000 topics does not copy 10 000 entries. */

const SHARDS = 256

/**
 * An immutable map with string keys, split into shards; `edit()` copies only the shards it touches.
 * Iteration order is by shard, not by insertion: sort where order matters.
 */
export class PersistentMap<K extends string, V> implements ReadonlyMap<K, V> {
  readonly #shards: readonly ReadonlyMap<K, V>[]
  readonly size: number

  private constructor(shards: readonly ReadonlyMap<K, V>[], size: number) {
    this.#shards = shards
    this.size = size
  }

  static empty<K extends string, V>(): PersistentMap<K, V> {
    return new PersistentMap<K, V>(new Array<ReadonlyMap<K, V>>(SHARDS).fill(new Map()), 0)
  }

  get(key: K): V | undefined {
    return this.#shards[shardOf(key)]?.get(key)
  }

  has(key: K): boolean {
    return this.#shards[shardOf(key)]?.has(key) === true
  }

  *entries(): MapIterator<[K, V]> {
    for (const shard of this.#shards) yield* shard
  }

  *keys(): MapIterator<K> {
    for (const shard of this.#shards) yield* shard.keys()
  }

  *values(): MapIterator<V> {
    for (const shard of this.#shards) yield* shard.values()
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries()
  }

  forEach(action: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this) action(value, key, this)
  }

  /** An editor of a copy; this map stays as it is. */
  edit(): PersistentMapEditor<K, V> {
    return new PersistentMapEditor(this, this.#shards.slice(), (shards, size) => new PersistentMap(shards, size))
  }
}

/** Collects changes to one PersistentMap; `finish` gives the new map. Used by one owner, then dropped. */
export class PersistentMapEditor<K extends string, V> {
  readonly #base: PersistentMap<K, V>
  readonly #shards: ReadonlyMap<K, V>[]
  readonly #build: (shards: readonly ReadonlyMap<K, V>[], size: number) => PersistentMap<K, V>
  readonly #owned = new Map<number, Map<K, V>>()
  #size: number

  constructor(
    base: PersistentMap<K, V>,
    shards: ReadonlyMap<K, V>[],
    build: (shards: readonly ReadonlyMap<K, V>[], size: number) => PersistentMap<K, V>,
  ) {
    this.#base = base
    this.#shards = shards
    this.#build = build
    this.#size = base.size
  }

  get(key: K): V | undefined {
    return this.#shards[shardOf(key)]?.get(key)
  }

  set(key: K, value: V): void {
    const shard = this.#own(shardOf(key))
    if (!shard.has(key)) this.#size++
    shard.set(key, value)
  }

  delete(key: K): void {
    if (this.#own(shardOf(key)).delete(key)) this.#size--
  }

  /** The changed map, or the unchanged one if nothing was touched. */
  finish(): PersistentMap<K, V> {
    return this.#owned.size === 0 ? this.#base : this.#build(this.#shards, this.#size)
  }

  #own(index: number): Map<K, V> {
    const owned = this.#owned.get(index)
    if (owned) return owned
    const copy = new Map(this.#shards[index])
    this.#owned.set(index, copy)
    this.#shards[index] = copy
    return copy
  }
}

/** FNV-1a over the UTF-16 units, folded to one shard index. */
function shardOf(key: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 16)) & (SHARDS - 1)
}
