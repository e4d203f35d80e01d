/** An incremental fetch session (KIP-227): the partitions that one client fetches over and over; kept by the session cache. */
import { type NamedPartition, partitionKey, SessionPartition, type WantedPartition } from './session-partition.ts'

/** The epoch after the highest is 1: 0 starts a session. */
const EPOCH_MAX = 2 ** 31 - 1

export const nextEpoch = (epoch: number): number => {
  if (epoch < 0) return -1
  return epoch === EPOCH_MAX ? 1 : epoch + 1
}

export class FetchSession {
  readonly id: number
  /** Of a follower: worth more than those of consumers. */
  readonly privileged: boolean
  readonly usesTopicIds: boolean
  readonly createdMs: number
  lastUsedMs: number
  /** What the next request must carry. */
  epoch = 1
  /** Size when it was last used, which is what evictions compare. */
  rankedSize: number
  /** In the order in which they are read: those that brought data last come last. */
  readonly #partitions = new Map<string, SessionPartition>()

  constructor(options: {
    id: number
    privileged: boolean
    usesTopicIds: boolean
    nowMs: number
    partitions: Iterable<SessionPartition>
  }) {
    this.id = options.id
    this.privileged = options.privileged
    this.usesTopicIds = options.usesTopicIds
    this.createdMs = options.nowMs
    this.lastUsedMs = options.nowMs
    for (const partition of options.partitions) this.#partitions.set(partitionKey(partition), partition)
    this.rankedSize = this.#partitions.size
  }

  get size(): number {
    return this.#partitions.size
  }

  get partitions(): IterableIterator<SessionPartition> {
    return this.#partitions.values()
  }

  /** Takes over what a request changes: new partitions come last, those known keep their place. */
  update(wanted: ReadonlyMap<string, WantedPartition>, forgotten: Iterable<NamedPartition>): void {
    for (const [key, one] of wanted) {
      const known = this.#partitions.get(key)
      if (known) known.asked = one.asked
      else this.#partitions.set(key, new SessionPartition(one))
    }
    for (const one of forgotten) this.#partitions.delete(partitionKey(one))
  }

  /** Lets a partition that brought data wait until the others had their turn. */
  moveToEnd(partition: SessionPartition): void {
    const key = partitionKey(partition)
    if (!this.#partitions.delete(key)) return
    this.#partitions.set(key, partition)
  }
}
