/** The place of one transactional id in the coordinator: its values, and the one transition that may be under way; nothing else changes them. */
import assert from 'node:assert/strict'
import { partitionKey, type TopicPartition, type TransactionMetadata } from './transaction-metadata.ts'
import { type TransactionStateName, transactionStates } from './transaction-state.ts'

export class TransactionEntry {
  #current: TransactionMetadata
  #pending: TransactionStateName | undefined
  #waiters: (() => void)[] = []
  /** Partitions that wait for their marker, once the first has it. */
  #unmarked: Map<string, TopicPartition> | undefined

  constructor(metadata: TransactionMetadata) {
    this.#current = metadata
  }

  /** As the log has it, but for partitions whose marker is written: they leave the set one by one. */
  get current(): TransactionMetadata {
    return this.#current
  }

  /** A transition is being made durable, or markers are being written. */
  get isPending(): boolean {
    return this.#pending !== undefined
  }

  /** Begins the transition to a state that may follow; nothing else may be pending. */
  begin(state: TransactionStateName): void {
    const { transactionalId } = this.#current
    assert(this.#pending === undefined, `transactional id ${transactionalId} is on its way to ${this.#pending}`)
    assert(
      transactionStates[state].from.includes(this.#current.state),
      `transactional id ${transactionalId} may not become ${state}: it is ${this.#current.state}`,
    )
    this.#pending = state
  }

  /** The transition is durable. */
  complete(to: TransactionMetadata): void {
    assert(this.#pending === to.state, `transactional id ${to.transactionalId} was to become ${this.#pending}`)
    this.#current = to
    this.#settle()
  }

  /** The transition did not happen. */
  cancel(): void {
    this.#settle()
  }

  /** Resolves when nothing is pending; at once if nothing is. */
  settled(): Promise<void> {
    if (this.#pending === undefined) return Promise.resolve()
    return new Promise(resolve => this.#waiters.push(resolve))
  }

  /** The marker is in the partition, or the partition is gone. */
  marked(partition: TopicPartition): void {
    if (!this.#unmarked) {
      this.#unmarked = new Map(this.#current.partitions)
      this.#current = { ...this.#current, partitions: this.#unmarked }
    }
    this.#unmarked.delete(partitionKey(partition))
  }

  #settle(): void {
    this.#pending = undefined
    this.#unmarked = undefined
    const waiters = this.#waiters
    this.#waiters = []
    for (const resolve of waiters) resolve()
  }
}
