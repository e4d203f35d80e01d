/** What a pass over a log has seen of its transactions, batch by batch: says which batches were aborted and which markers nobody needs. */
import type { BatchHeader } from '../../protocol/batches/batch-header.ts'
import { isControl, isTransactional } from '../../protocol/batches/batch-header.ts'
import { decodeControlRecord } from '../../protocol/batches/control-batch.ts'
import type { AbortedTransaction } from '../transaction-index.ts'

interface OngoingAbort {
  readonly aborted: AbortedTransaction
  /** A batch of it is still in the log. */
  observed: boolean
}

/** Give it every batch in order. Everything it sees must be decided: below the last stable offset. */
export class CleanedTransactions {
  /** Not begun yet, in the order of their first offsets. */
  readonly #coming: readonly AbortedTransaction[]
  #next = 0
  readonly #ongoingAborts = new Map<bigint, OngoingAbort>()
  /** Producers with a batch of a transaction that will be committed. */
  readonly #ongoingCommits = new Set<bigint>()
  readonly #retained: (aborted: AbortedTransaction) => void

  /** `retained` gets each aborted transaction of which something stays, when its marker comes: it belongs in the new index. */
  constructor(aborted: readonly AbortedTransaction[], retained: (aborted: AbortedTransaction) => void = () => {}) {
    this.#coming = [...aborted].sort((a, b) => a.firstOffset - b.firstOffset)
    this.#retained = retained
  }

  /** True if the batch may go: data of an aborted transaction, or a marker whose transaction has no batch left. */
  mayDiscard(buffer: Buffer, header: BatchHeader): boolean {
    this.#begin(header.lastOffset)
    return isControl(header) ? this.#passMarker(buffer, header) : this.#passData(header)
  }

  #begin(lastOffset: number): void {
    for (;;) {
      const aborted = this.#coming[this.#next]
      if (!aborted || aborted.firstOffset > lastOffset) return
      this.#next++
      if (!this.#ongoingAborts.has(aborted.producerId))
        this.#ongoingAborts.set(aborted.producerId, { aborted, observed: false })
    }
  }

  #passData(header: BatchHeader): boolean {
    if (!isTransactional(header)) return false
    const ongoing = this.#ongoingAborts.get(header.producerId)
    if (ongoing) ongoing.observed = true
    else this.#ongoingCommits.add(header.producerId)
    return ongoing !== undefined
  }

  #passMarker(buffer: Buffer, header: BatchHeader): boolean {
    const { producerId } = header
    const marker = decodeControlRecord(buffer, header)
    // Emptied by an earlier pass.
    if (marker === undefined) return true
    if (marker.type === 'commit') return !this.#ongoingCommits.delete(producerId)
    if (marker.type !== 'abort') return false
    const ongoing = this.#ongoingAborts.get(producerId)
    this.#ongoingAborts.delete(producerId)
    if (!ongoing?.observed) return true
    this.#retained(ongoing.aborted)
    return false
  }
}
