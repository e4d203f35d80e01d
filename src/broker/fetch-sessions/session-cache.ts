/** The fetch sessions of a node: so many slots, and Kafka's rules for who must make room (KIP-227); the Fetch handler owns one through the broker. */
import type { Clock } from '../../core/clock.ts'
import type { Random } from '../../core/random.ts'
import { FetchSession } from './fetch-session.ts'
import type { SessionPartition } from './session-partition.ts'

/** A session unused for so long gives way to any other; one younger than this is protected. */
const EVICTION_MS = 120_000
const SESSION_ID_MAX = 2 ** 31 - 1

export interface SessionCacheOptions {
  /** `max.incremental.fetch.session.cache.slots` */
  readonly slots: number
  readonly clock: Clock
  readonly random: Random
}

/** What a client that wants a session has to offer. */
export interface NewSession {
  readonly privileged: boolean
  readonly usesTopicIds: boolean
  readonly partitions: readonly SessionPartition[]
}

export class SessionCache {
  readonly #options: SessionCacheOptions
  /** The least recently used first. */
  readonly #sessions = new Map<number, FetchSession>()

  constructor(options: SessionCacheOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#sessions.size
  }

  find(id: number): FetchSession | undefined {
    return this.#sessions.get(id)
  }

  /** Makes a session if there is a free slot or a session worth less; undefined if not: the client goes on without. */
  create(wanted: NewSession): FetchSession | undefined {
    const nowMs = this.#options.clock.monotonicMs()
    if (this.#sessions.size >= this.#options.slots && !this.#makeRoom(wanted, nowMs)) return undefined
    const session = new FetchSession({ ...wanted, id: this.#newId(), nowMs })
    this.#sessions.set(session.id, session)
    return session
  }

  /** The session is used now. */
  touch(session: FetchSession): void {
    session.lastUsedMs = this.#options.clock.monotonicMs()
    session.rankedSize = session.size
    this.#sessions.delete(session.id)
    this.#sessions.set(session.id, session)
  }

  remove(id: number): void {
    this.#sessions.delete(id)
  }

  #makeRoom(wanted: NewSession, nowMs: number): boolean {
    const [oldest] = this.#sessions.values()
    if (oldest && nowMs - oldest.lastUsedMs > EVICTION_MS) return this.#sessions.delete(oldest.id)
    // Only a linear search: it happens when a new client meets a full cache, not with every fetch.
    let victim: FetchSession | undefined
    for (const session of this.#sessions.values()) {
      const isOld = nowMs - session.createdMs > EVICTION_MS
      const mayGo = isOld || (wanted.privileged && !session.privileged)
      if (mayGo && (!victim || isWorthLess(session, victim))) victim = session
    }
    const offer = { privileged: wanted.privileged, rankedSize: wanted.partitions.length }
    if (!victim || !isWorthLess(victim, offer)) return false
    return this.#sessions.delete(victim.id)
  }

  #newId(): number {
    for (;;) {
      const id = 1 + Math.floor(this.#options.random() * SESSION_ID_MAX)
      if (!this.#sessions.has(id)) return id
    }
  }
}

type Worth = Pick<FetchSession, 'privileged' | 'rankedSize'>

/** Followers before consumers, then the larger. */
const isWorthLess = (a: Worth, b: Worth): boolean =>
  a.privileged === b.privileged ? a.rankedSize < b.rankedSize : !a.privileged
