/** ACLs that this cluster refused to create or to delete, and when each is worth another attempt; one per link, kept by its ACL sync. */
import { Backoff } from '../../core/backoff.ts'
import type { Clock } from '../../core/clock.ts'
import type { Random } from '../../core/random.ts'
import type { AclBinding, AclRefusal } from '../acl-ports.ts'
import { aclText } from './acl-names.ts'

const FIRST_RETRY_MS = 5000
const RETRY_MS_MAX = 10 * 60_000

interface Refused {
  readonly backoff: Backoff
  readonly message: string
  /** Not before this (monotonic). */
  readonly untilMs: number
}

export class AclRefusals {
  readonly #clock: Clock
  readonly #random: Random
  #refused = new Map<string, Refused>()

  constructor(options: { clock: Clock; random: Random }) {
    this.#clock = options.clock
    this.#random = options.random
  }

  /** May it be tried now? */
  isDue(acl: AclBinding): boolean {
    const refused = this.#refused.get(aclText(acl))
    return refused === undefined || this.#clock.monotonicMs() >= refused.untilMs
  }

  /** What was said about it last; undefined = it was not refused. */
  messageOf(acl: AclBinding): string | undefined {
    return this.#refused.get(aclText(acl))?.message
  }

  /** The outcome of an attempt for these. */
  tried(acls: readonly AclBinding[], refusals: readonly AclRefusal[]): void {
    const messages = new Map(refusals.map(({ acl, message }) => [aclText(acl), message]))
    for (const text of acls.map(aclText)) {
      const message = messages.get(text)
      if (message === undefined) this.#refused.delete(text)
      else this.#refused.set(text, this.#again(this.#refused.get(text), message))
    }
  }

  /** Forgets those that are none of these: nobody wants anything of them any more. */
  keep(acls: readonly AclBinding[]): void {
    const kept = new Set(acls.map(aclText))
    for (const text of this.#refused.keys()) if (!kept.has(text)) this.#refused.delete(text)
  }

  #again(before: Refused | undefined, message: string): Refused {
    const bounds = { initialMs: FIRST_RETRY_MS, maxMs: RETRY_MS_MAX }
    const backoff = before?.backoff ?? new Backoff({ ...bounds, random: this.#random })
    return { backoff, message, untilMs: this.#clock.monotonicMs() + backoff.nextMs() }
  }
}
