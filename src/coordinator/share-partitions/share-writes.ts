/** The writes of one share partition: those that a member waits for, and those behind; SharePartition owns one. */
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { StateBatch } from '../share-state/share-persister.ts'

export class ShareWrites {
  readonly #write: (batches: readonly StateBatch[]) => Promise<void>
  readonly #log: { readonly logger: Logger; readonly fields: Record<string, unknown> }
  readonly #running = new Set<Promise<unknown>>()
  #unsaved: StateBatch[] | undefined
  #saving: Promise<void> | undefined

  constructor(
    write: (batches: readonly StateBatch[]) => Promise<void>,
    log: { readonly logger: Logger; readonly fields: Record<string, unknown> },
  ) {
    this.#write = write
    this.#log = log
  }

  /** Rejects as the write does. */
  async now(batches: readonly StateBatch[]): Promise<void> {
    const written = this.#write(batches)
    this.track(written)
    await written
  }

  /** Another one that counts as under way. */
  track(written: Promise<void>): void {
    this.#running.add(written)
    const done = () => this.#running.delete(written)
    written.then(done, done)
  }

  /** In the background, together with what comes until the write before has ended. What fails is told to the operator. */
  soon(batches: readonly StateBatch[]): void {
    this.#unsaved ??= []
    this.#unsaved.push(...batches)
    this.#saving ??= this.#saveAll()
  }

  /** Resolves when no write is under way. */
  async settled(): Promise<void> {
    while (this.#running.size > 0 || this.#saving) await Promise.allSettled([...this.#running, this.#saving])
  }

  async #saveAll(): Promise<void> {
    for (let next = this.#unsaved; next; next = this.#unsaved) {
      this.#unsaved = undefined
      try {
        await this.now(next)
      } catch (error) {
        const { logger, fields } = this.#log
        logger.warn('how far a share group is could not be saved', { ...fields, error: messageOf(error) })
      }
    }
    this.#saving = undefined
  }
}
