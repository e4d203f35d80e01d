/** The fetchers of a node, one per broker that leads something followed here; ReplicaSet tells it what is followed. */
import type { FollowedPartition } from './followed-partition.ts'
import { type FetcherOptions, LeaderFetcher } from './leader-fetcher.ts'

export class ReplicaFetchers {
  readonly #options: FetcherOptions
  readonly #fetchers = new Map<number, LeaderFetcher>()
  readonly #leaders = new Map<FollowedPartition, number>()
  readonly #ending = new Set<Promise<void>>()
  #closed = false

  constructor(options: FetcherOptions) {
    this.#options = options
  }

  /** Fetches the partition from its leader of now on; from nobody if there is none. */
  follow(partition: FollowedPartition): void {
    const { leader } = partition
    if (this.#leaders.get(partition) !== leader) this.forget(partition)
    if (leader < 0 || this.#closed) return
    const fetcher = this.#fetchers.get(leader) ?? new LeaderFetcher(leader, this.#options)
    this.#fetchers.set(leader, fetcher)
    this.#leaders.set(partition, leader)
    fetcher.add(partition)
  }

  /** It is not fetched any more; an answer that is under way is dropped by its epoch, or because the replica has left. */
  forget(partition: FollowedPartition): void {
    const leader = this.#leaders.get(partition)
    if (leader === undefined) return
    this.#leaders.delete(partition)
    const fetcher = this.#fetchers.get(leader)
    fetcher?.remove(partition)
    if (!fetcher || fetcher.size > 0) return
    this.#fetchers.delete(leader)
    const ending: Promise<void> = fetcher.close().finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }

  /** Resolves when nothing is appended any more. */
  async close(): Promise<void> {
    this.#closed = true
    const running = [...this.#fetchers.values()].map(fetcher => fetcher.close())
    this.#fetchers.clear()
    this.#leaders.clear()
    await Promise.all([...running, ...this.#ending])
  }
}
