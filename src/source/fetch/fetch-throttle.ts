/** How fast a link fetches (`mirror.max.bytes.per.second`): the fetch slots wait here for their turn and pay for what they got. */
import { type Clock, sleep } from '../../core/clock.ts'

/** A fetch asks for about this part of a second's bytes, so that slots and partitions take turns often. */
const TURNS_PER_SECOND = 4
/** A fetch does not ask for less: smaller answers cost more than they even out. */
const TURN_BYTES_MIN = 16 * 1024
/** What was not used is kept for so long. */
const UNUSED_MS_MAX = 1000

/**
 * A token bucket that may go into debt: what an answer holds is known only when it is there, so it is paid for afterwards and
 * nobody fetches until the debt is gone. Whoever waits then gets a turn, so no slot is passed over.
 */
export class FetchThrottle {
  readonly #clock: Clock
  #bytesPerSecond: number | undefined
  #balance = 0
  #countedAtMs = 0
  #waitedMs = 0
  #changed = new AbortController()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** From now on; undefined = as fast as it goes. Debts are forgiven. */
  limit(bytesPerSecond: number | undefined): void {
    if (bytesPerSecond === this.#bytesPerSecond) return
    this.#bytesPerSecond = bytesPerSecond
    this.#balance = 0
    this.#countedAtMs = this.#clock.monotonicMs()
    this.#changed.abort()
    this.#changed = new AbortController()
  }

  /** How long fetches were held back, by this and by the source itself; those of all slots added up. */
  get waitedMs(): number {
    return this.#waitedMs
  }

  /** What a fetch may ask for that would ask for `bytes`. */
  turnBytes(bytes: number): number {
    if (this.#bytesPerSecond === undefined) return bytes
    return Math.min(bytes, Math.max(TURN_BYTES_MIN, Math.floor(this.#bytesPerSecond / TURNS_PER_SECOND)))
  }

  /** Resolves when a fetch may be sent, or when the signal is aborted. */
  async turn(signal: AbortSignal): Promise<void> {
    const beganMs = this.#clock.monotonicMs()
    for (let waitMs = this.#waitMs(); waitMs > 0 && !signal.aborted; waitMs = this.#waitMs())
      await sleep(this.#clock, waitMs, AbortSignal.any([signal, this.#changed.signal]))
    this.#waitedMs += this.#clock.monotonicMs() - beganMs
  }

  /** An answer brought so many bytes. */
  pay(bytes: number): void {
    if (this.#bytesPerSecond === undefined) return
    this.#count(this.#bytesPerSecond)
    this.#balance -= bytes
  }

  /** The source holds the next fetch back for so long. */
  heldBack(ms: number): void {
    this.#waitedMs += ms
  }

  #waitMs(): number {
    const bytesPerSecond = this.#bytesPerSecond
    if (bytesPerSecond === undefined) return 0
    this.#count(bytesPerSecond)
    return this.#balance >= 0 ? 0 : Math.max(1, Math.ceil((-this.#balance * 1000) / bytesPerSecond))
  }

  #count(bytesPerSecond: number): void {
    const nowMs = this.#clock.monotonicMs()
    const earned = ((nowMs - this.#countedAtMs) * bytesPerSecond) / 1000
    this.#countedAtMs = nowMs
    this.#balance = Math.min(this.#balance + earned, (bytesPerSecond * UNUSED_MS_MAX) / 1000)
  }
}
