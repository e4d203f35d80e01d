// Consumers of three client libraries behind one port: they read as members of groups, remember what they were given, and stop without a commit.
import type { ClientSecurity } from '../clients/client-record.ts'
import { javaProperties } from '../clients/client-security.ts'
import type { JavaDriver } from '../java/driver.ts'
import type { Deliveries } from './deliveries.ts'

/** A group with one member. */
export interface ReadingGroup {
  readonly id: string
  readonly topics: readonly string[]
  /** False: it never commits. */
  readonly commits: boolean
  /** It commits and leaves once it has read so many. */
  readonly records?: number
}

/** Where clients connect, and as whom. */
export interface ClientPlace {
  readonly bootstrap: string
  readonly security: ClientSecurity
}

/** All groups of one library. A session is one stay at one cluster. */
export interface GroupClients {
  readonly name: string
  readonly start: (session: string, groups: readonly ReadingGroup[], at: ClientPlace) => Promise<void>
  readonly progress: (session: string) => Promise<Deliveries>
  /** Ends without a commit. */
  readonly stop: (session: string) => Promise<Deliveries>
  readonly close: () => Promise<void>
}

/** The Java consumers, in the resident driver. */
export class JavaGroups implements GroupClients {
  readonly name = 'Java'
  readonly #driver: JavaDriver

  constructor(driver: JavaDriver) {
    this.#driver = driver
  }

  async start(session: string, groups: readonly ReadingGroup[], at: ClientPlace): Promise<void> {
    const { bootstrap, security } = at
    await this.#driver.call('rehearsal-groups', {
      op: 'start',
      session,
      bootstrap,
      groups,
      properties: javaProperties(security),
    })
  }

  /** Resolves when all groups that leave by themselves have. */
  finished = (session: string): Promise<Deliveries> => this.#ask('await', session)
  progress = (session: string): Promise<Deliveries> => this.#ask('progress', session)
  stop = (session: string): Promise<Deliveries> => this.#ask('stop', session)

  /** They end with the driver. */
  async close(): Promise<void> {}

  #ask(op: string, session: string): Promise<Deliveries> {
    return this.#driver.call<Deliveries>('rehearsal-groups', { op, session })
  }
}
