// The TypeScript end of the rehearsal's producers and of the comparison with what they were promised (RehearsalLoadCommand.java).
import { javaProperties } from '../clients/client-security.ts'
import type { Visible } from './deliveries.ts'
import type { PlannedProducer } from './plan.ts'
import type { RehearsalWorld } from './rehearsal-world.ts'

/** What a session of producers was promised so far; times in milliseconds since 1970, 0 for none. */
export interface Promised {
  readonly records: number
  readonly transactions: Readonly<Partial<Record<'OPEN' | 'COMMITTED' | 'ABORTED' | 'UNKNOWN', number>>>
  readonly firstAckMs: number
  readonly lastAckMs: number
}

/** A topic against one session's ledger. `compacted` counts what a later record of its key, or a deletion, took away. */
export interface TopicCheck {
  readonly promised: number
  readonly lost: number
  readonly compacted: number
  readonly wrong: number
  /** When the oldest of the lost records was promised. */
  readonly firstLostMs?: number
}

/** A cluster against the ledgers; see RehearsalCheck.java. */
export interface Check {
  readonly sessions: Readonly<Record<string, Readonly<Record<string, TopicCheck>>>>
  readonly transactions: Readonly<
    Record<string, Readonly<Partial<Record<'whole' | 'lost' | 'torn' | 'notCommitted', number>>>>
  >
  readonly uncommitted: number
  readonly repeated: number
  readonly unacknowledged: number
  readonly visible: Visible
  readonly ends: Readonly<Record<string, number>>
  readonly examples: readonly string[]
}

/** What `check` is to know beside topics and sessions. */
export interface CheckOptions {
  readonly topics: readonly string[]
  readonly compacted: readonly string[]
  readonly sessions: readonly string[]
  /** The session that wrote where the check reads. */
  readonly own: string
  readonly starts?: Readonly<Record<string, number>>
  readonly ends?: Readonly<Record<string, number>>
}

/** All producers of a rehearsal. */
export class Producers {
  readonly #world: RehearsalWorld
  readonly #seed: number

  constructor(world: RehearsalWorld, seed: number) {
    this.#world = world
    this.#seed = seed
  }

  start(session: string, producers: readonly PlannedProducer[], at: { readonly secure: string }): Promise<Promised> {
    const properties = javaProperties(this.#world.security('app'))
    return this.#ask('start', { session, producers, properties, bootstrap: at.secure, seed: this.#seed })
  }

  /** Resolves when producers with a number of records have written them. */
  finished = (session: string): Promise<Promised> => this.#ask('await', { session })
  summary = (session: string): Promise<Promised> => this.#ask('summary', { session })
  stop = (session: string): Promise<Promised> => this.#ask('stop', { session })
  /** The cluster is gone. */
  abandon = (session: string): Promise<Promised> => this.#ask('abandon', { session })

  /** Reads everything that is visible there. */
  check(at: { readonly bootstrap: string }, options: CheckOptions): Promise<Check> {
    return this.#world.driver.call<Check>('rehearsal-load', { op: 'check', bootstrap: at.bootstrap, ...options })
  }

  #ask(op: string, args: object): Promise<Promised> {
    return this.#world.driver.call<Promised>('rehearsal-load', { op, ...args })
  }
}
