/** How far a topic of Lockstep has been given to the link engine, batch by batch, wherever its bytes were read. Used by the logs of such topics. */
import { type Clock, sleep } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { StateRecord } from '../link/ports.ts'
import { type BatchHeader, isControl } from '../protocol/batches/batch-header.ts'
import { batchesIn } from '../protocol/batches/batch-iteration.ts'
import { recordsOf } from '../protocol/batches/records-of.ts'
import { verifyBatch } from '../protocol/batches/verify-batch.ts'

export class ReplayedTopic {
  readonly name: string
  /** Called once per batch, as atomic as it was appended. */
  onRecords: ((records: readonly StateRecord[], baseOffset: number) => void) | undefined
  #offset = 0
  readonly #waiting = new Set<{ readonly offset: number; readonly reached: AbortController }>()

  constructor(name: string) {
    this.name = name
  }

  /** Everything below was given to `onRecords`. */
  get offset(): number {
    return this.#offset
  }

  /** Durable batches from `offset` on. Throws where one is damaged: passing over anything could make a mirror writable. */
  deliver(bytes: Buffer): void {
    for (const header of batchesIn(bytes)) {
      if (header.lastOffset < this.#offset) continue
      const records = isControl(header) ? [] : this.#keyedRecords(bytes, header)
      if (records.length > 0) this.onRecords?.(records, header.baseOffset)
      this.#offset = header.lastOffset + 1
    }
    this.#release()
  }

  /** What lies below is gone, or is not to be read. */
  skipTo(offset: number): void {
    this.#offset = Math.max(this.#offset, offset)
    this.#release()
  }

  /** Resolves when everything below `offset` was given out; rejects if it was not in time. */
  async reached(offset: number, { clock, timeoutMs }: { clock: Clock; timeoutMs: number }): Promise<void> {
    if (this.#offset >= offset) return
    const waiting = { offset, reached: new AbortController() }
    this.#waiting.add(waiting)
    try {
      await sleep(clock, timeoutMs, waiting.reached.signal)
    } finally {
      this.#waiting.delete(waiting)
    }
    if (this.#offset < offset)
      throw new Error(`${this.name} was read up to offset ${this.#offset} here, and ${offset} is asked for`)
  }

  #release(): void {
    for (const { offset, reached } of this.#waiting) if (this.#offset >= offset) reached.abort()
  }

  /** Verified: after a clean stop nobody else looks whether the disk still holds what was written. */
  #keyedRecords(bytes: Buffer, header: BatchHeader): StateRecord[] {
    try {
      verifyBatch(bytes, header)
      return recordsOf(bytes, header).flatMap(({ key, value }) => (key === null ? [] : [{ key, value }]))
    } catch (cause) {
      throw new Error(`${this.name}-0 is damaged at offset ${header.baseOffset}: ${messageOf(cause)}`, { cause })
    }
  }
}
