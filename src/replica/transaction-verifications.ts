/**
 * Producers of a partition that are asking the transaction coordinator whether their records belong to an ongoing transaction
 * (KIP-890). The answer may come late: it counts only if no marker has ended the transaction meanwhile, or the records would
 * begin a transaction that nobody ends. Partition owns one; appends run through it.
 */
import type { Clock } from '../core/clock.ts'

/** What a producer is about to append. */
export interface TransactionalBatch {
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly baseSequence: number
}

/** What an append shows to prove that the question was asked before it, and not answered in vain. */
export interface VerificationGuard {
  readonly producerId: bigint
}

interface Verification {
  readonly guard: VerificationGuard
  readonly startedMs: number
  /** The producer's epoch is bumped with every end (transaction version 2). */
  readonly bumpsEpoch: boolean
  producerEpoch: number
  lowestSequence: number
}

/** Questions that a partition remembers; above it the oldest are forgotten, and their producers have to ask again. */
const VERIFICATIONS_MAX = 10_000

export class TransactionVerifications {
  /** In the order in which they were asked. */
  readonly #byProducer = new Map<bigint, Verification>()

  /** Begins a question, or joins the one that is under way. */
  begin(batch: TransactionalBatch, how: { readonly bumpsEpoch: boolean; readonly clock: Clock }): VerificationGuard {
    const { producerId, producerEpoch, baseSequence } = batch
    const present = this.#byProducer.get(producerId)
    if (present) {
      if (producerEpoch > present.producerEpoch) {
        present.producerEpoch = producerEpoch
        present.lowestSequence = baseSequence
      } else if (producerEpoch === present.producerEpoch)
        present.lowestSequence = Math.min(present.lowestSequence, baseSequence)
      return present.guard
    }
    const guard: VerificationGuard = { producerId }
    this.#byProducer.set(producerId, {
      guard,
      startedMs: how.clock.monotonicMs(),
      bumpsEpoch: how.bumpsEpoch,
      producerEpoch,
      lowestSequence: baseSequence,
    })
    this.#forgetOldest()
    return guard
  }

  /** Is it the present question of its producer? */
  holds(guard: VerificationGuard | undefined): boolean {
    return guard !== undefined && this.#byProducer.get(guard.producerId)?.guard === guard
  }

  /**
   * Must the batch be refused as out of order? While the producer asks, its batches may come in any order, and none may begin
   * the transaction but the first: a producer unknown here begins at 0 if its epoch is bumped with every end.
   */
  isOutOfOrder(batch: TransactionalBatch, known: boolean): boolean {
    const present = this.#byProducer.get(batch.producerId)
    if (!present) return false
    if (present.bumpsEpoch && batch.baseSequence !== 0 && !known) return true
    return batch.baseSequence > present.lowestSequence
  }

  /** Records of the producer are in the log: its transaction is open here. */
  appended(producerId: bigint): void {
    this.#byProducer.delete(producerId)
  }

  /** A marker of the producer is in the log. A question for the next transaction, which has this epoch already, goes on. */
  ended(marker: { readonly producerId: bigint; readonly producerEpoch: number }): void {
    const present = this.#byProducer.get(marker.producerId)
    if (present?.bumpsEpoch && present.producerEpoch === marker.producerEpoch) return
    this.#byProducer.delete(marker.producerId)
  }

  /** Forgets questions that began `ageMs` ago: the producer has given up. */
  removeOlderThan(ageMs: number, clock: Clock): void {
    const oldest = clock.monotonicMs() - ageMs
    for (const [producerId, { startedMs }] of this.#byProducer)
      if (startedMs <= oldest) this.#byProducer.delete(producerId)
  }

  #forgetOldest(): void {
    if (this.#byProducer.size <= VERIFICATIONS_MAX) return
    for (const producerId of this.#byProducer.keys()) {
      this.#byProducer.delete(producerId)
      return
    }
  }
}
