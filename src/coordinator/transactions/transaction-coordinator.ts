/**
 * The transaction coordinator: transactional ids and their transactions, from the first producer id to the last marker. Handlers
 * call it; decisions are pure functions beside it, `__transaction_state` is behind TransactionLog. Everything answered is durable.
 */
import { type Clock, sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Random } from '../../core/random.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import type { ProducerIds } from '../../replica/producer-ids.ts'
import type { ReplicaSet } from '../../replica/replica-set.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { InternalTopic } from '../runtime/internal-topics.ts'
import { decideEnd, decideFence } from './decide-end.ts'
import { decideInitProducer, type InitProducer } from './decide-init-producer.ts'
import { decideAddPartitions, type ProducerClaim, verifyPartitions } from './decide-partitions.ts'
import { type Decision, refuse } from './decision.ts'
import { type TransactionFilters, transactionFilter } from './list-transactions.ts'
import { answeredCode, type ProducerAnswer, producerOf, refusedProducer } from './producer-answer.ts'
import { TransactionCompletion } from './transaction-completion.ts'
import { TransactionEntry } from './transaction-entry.ts'
import { figuresOf, type TransactionFigures } from './transaction-figures.ts'
import { TransactionLog } from './transaction-log.ts'
import type { WriteMarker } from './transaction-markers.ts'
import {
  completed,
  isTimedOut,
  newTransaction,
  type PartitionSet,
  type TransactionMetadata,
  type TransactionVersion,
} from './transaction-metadata.ts'
import { TransactionSchedule } from './transaction-schedule.ts'
import type { TransactionSettings } from './transaction-settings.ts'
import { isEnding } from './transaction-state.ts'

type Decide = (entry: TransactionEntry, freshProducerId: bigint | undefined) => Decision

export interface TransactionCoordinatorOptions {
  readonly brokerId: number
  readonly topic: InternalTopic
  readonly settings: TransactionSettings
  readonly controller: Pick<Controller, 'image' | 'createTopics'>
  readonly replicas: Pick<ReplicaSet, 'lookup' | 'storageFailed'>
  readonly producerIds: Pick<ProducerIds, 'next'>
  readonly writeMarker: WriteMarker
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** A request that names a transaction by its producer. */
export interface TransactionClaim extends ProducerClaim {
  readonly transactionalId: string
}

export class TransactionCoordinator {
  readonly #options: TransactionCoordinatorOptions
  readonly #log: TransactionLog
  readonly #completion: TransactionCompletion
  readonly #schedule: TransactionSchedule

  constructor(options: TransactionCoordinatorOptions) {
    this.#options = options
    const { settings, clock } = options
    const logger = options.logger.child({ component: 'transactions' })
    const log = new TransactionLog({
      ...options,
      unfinished: (loaded, entry) => this.#completion.start(loaded, entry),
    })
    this.#log = log
    this.#completion = new TransactionCompletion({
      ...options,
      write: (loaded, to) => log.write(loaded, to),
      coordinatorEpoch: partition => log.coordinatorEpoch(partition),
      logger,
    })
    this.#schedule = new TransactionSchedule({
      log,
      settings,
      abort: entry => this.#abortTimedOut(entry.current),
      clock,
      logger,
    })
  }

  /** Follows the image: the composition root subscribes it behind the replicas. Also says which partition holds an id. */
  get partitions(): TransactionLog['partitions'] {
    return this.#log.partitions
  }

  /** For WriteTxnMarkers: the marker of any coordinator into a partition of this node. */
  get writeMarker(): WriteMarker {
    return this.#options.writeMarker
  }

  /** Transactions whose markers are being written. */
  get completing(): number {
    return this.#completion.size
  }

  get figures(): TransactionFigures {
    const transactions = Array.from(this.#log.all(), ({ entry }) => entry.current)
    return figuresOf(transactions, { nowMs: this.#nowMs, completing: this.completing })
  }

  /** InitProducerId with a transactional id. Never rejects. */
  async initProducer(transactionalId: string, request: Omit<InitProducer, 'nowMs'>): Promise<ProducerAnswer> {
    const { timeoutMs } = request
    if (transactionalId === '') return refusedProducer(ErrorCode.INVALID_REQUEST)
    if (timeoutMs <= 0 || timeoutMs > this.#options.settings.timeoutMsMax)
      return refusedProducer(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
    try {
      await this.#ensureEntry(transactionalId, timeoutMs)
    } catch (error) {
      return refusedProducer(answeredCode(error))
    }
    const decide: Decide = (entry, freshProducerId) =>
      entry.isPending
        ? refuse(ErrorCode.CONCURRENT_TRANSACTIONS)
        : decideInitProducer(entry.current, { ...request, freshProducerId, nowMs: this.#nowMs })
    return await this.#carryOut(transactionalId, decide, ErrorCode.NOT_COORDINATOR)
  }

  /** Kafka's error code. Never rejects. */
  async addPartitions(claim: TransactionClaim, add: PartitionSet, clientVersion: TransactionVersion): Promise<number> {
    if (claim.transactionalId === '') return ErrorCode.INVALID_REQUEST
    const answer = await this.#carryOut(claim.transactionalId, entry => {
      if (entry.isPending) return refuse(ErrorCode.CONCURRENT_TRANSACTIONS)
      return decideAddPartitions(entry.current, claim, { partitions: add, clientVersion, nowMs: this.#nowMs })
    })
    return answer.errorCode
  }

  /**
   * Like `addPartitions` of version 2, for records and offsets that are about to be written: waits a moment for the end of the
   * transaction before, and for other partitions that are being added.
   */
  async addImplicitly(claim: TransactionClaim, add: PartitionSet): Promise<number> {
    const { clock, settings } = this.#options
    const deadlineMs = clock.monotonicMs() + settings.addWaitMs
    for (;;) {
      const errorCode = await this.addPartitions(claim, add, 2)
      const leftMs = deadlineMs - clock.monotonicMs()
      if (errorCode !== ErrorCode.CONCURRENT_TRANSACTIONS || leftMs <= 0) return errorCode
      const entry = this.#entryOf(claim.transactionalId)
      if (!entry?.isPending) return errorCode
      const waited = new AbortController()
      await Promise.race([entry.settled(), sleep(clock, leftMs, waited.signal)])
      waited.abort()
    }
  }

  /** Kafka's error code of each partition, by its key. Never throws. */
  verifyPartitions(claim: TransactionClaim, partitions: PartitionSet): ReadonlyMap<string, number> {
    const all = (errorCode: number) => new Map(Array.from(partitions.keys(), key => [key, errorCode]))
    if (claim.transactionalId === '') return all(ErrorCode.INVALID_REQUEST)
    try {
      const { entry } = this.#log.find(claim.transactionalId)
      if (!entry) return all(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
      return verifyPartitions(entry.current, claim, partitions)
    } catch (error) {
      return all(answeredCode(error))
    }
  }

  /** EndTxn: resolves when the end is durable; markers follow. With version 2 the answer has the next epoch. Never rejects. */
  async endTransaction(
    claim: TransactionClaim,
    end: { readonly committed: boolean; readonly clientVersion: TransactionVersion },
  ): Promise<ProducerAnswer> {
    if (claim.transactionalId === '') return refusedProducer(ErrorCode.INVALID_REQUEST)
    const answer = await this.#carryOut(claim.transactionalId, (entry, freshProducerId) =>
      decideEnd(entry.current, { ...claim, ...end, pending: entry.isPending, freshProducerId, nowMs: this.#nowMs }),
    )
    return end.clientVersion >= 2 ? answer : refusedProducer(answer.errorCode)
  }

  /** The transaction of an id as DescribeTransactions tells it. Throws CoordinatorError, TRANSACTIONAL_ID_NOT_FOUND among others. */
  describe(transactionalId: string): TransactionMetadata {
    if (transactionalId === '') throw new CoordinatorError(ErrorCode.INVALID_REQUEST)
    const { entry } = this.#log.find(transactionalId)
    if (!entry) throw new CoordinatorError(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
    return entry.current
  }

  /** Throws CoordinatorError: COORDINATOR_LOAD_IN_PROGRESS, INVALID_REGULAR_EXPRESSION. */
  list(filters: TransactionFilters): TransactionMetadata[] {
    if (this.partitions.loading) throw new CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    const shows = transactionFilter(filters, this.#nowMs)
    return Array.from(this.#log.all(), ({ entry }) => entry.current).filter(shows)
  }

  /** Aborts what is open with this id, and fences its producer. Resolves to Kafka's error code. */
  abort(transactionalId: string): Promise<number> {
    return this.#fence(transactionalId, () => true)
  }

  /** Stops timers and waits for what runs; what is not complete is found again in the log. */
  async close(): Promise<void> {
    this.#schedule.close()
    await this.#completion.close()
    await this.partitions.close()
  }

  get #nowMs(): number {
    return this.#options.clock.nowMs()
  }

  /** Aborts an open transaction with a higher epoch. Resolves to Kafka's error code. */
  async #fence(transactionalId: string, still: (metadata: TransactionMetadata) => boolean): Promise<number> {
    const decide: Decide = (entry, freshProducerId) => {
      if (entry.isPending || entry.current.state !== 'Ongoing' || !still(entry.current))
        return refuse(ErrorCode.CONCURRENT_TRANSACTIONS)
      const { serverVersion } = this.#log
      return decideFence(entry.current, { serverVersion, freshProducerId, nowMs: this.#nowMs })
    }
    return (await this.#carryOut(transactionalId, decide)).errorCode
  }

  async #abortTimedOut({ transactionalId, producerId, producerEpoch }: TransactionMetadata): Promise<void> {
    const still = (metadata: TransactionMetadata) =>
      metadata.producerId === producerId && isTimedOut(metadata, this.#nowMs)
    const errorCode = await this.#fence(transactionalId, still)
    const fields = { transactionalId, producerId: String(producerId), producerEpoch }
    const { logger } = this.#options
    if (errorCode === ErrorCode.NONE) logger.info('a transaction was aborted because of its timeout', fields)
    else if (errorCode !== ErrorCode.CONCURRENT_TRANSACTIONS)
      logger.warn('a transaction could not be aborted', { ...fields, error: errorName(errorCode) })
  }

  /** Decides on the present state, again where a producer id had to be fetched in between, and makes what follows durable. */
  async #carryOut(
    transactionalId: string,
    decide: Decide,
    unknownId: number = ErrorCode.INVALID_PRODUCER_ID_MAPPING,
  ): Promise<ProducerAnswer> {
    try {
      let fresh: bigint | undefined
      for (;;) {
        const { loaded, entry } = this.#log.find(transactionalId)
        if (!entry) return refusedProducer(unknownId)
        const decision = decide(entry, fresh)
        switch (decision.kind) {
          case 'refuse':
            return refusedProducer(decision.errorCode)
          case 'done':
            return producerOf(entry.current)
          case 'needs-producer-id':
            fresh = await this.#freshProducerId()
            break
          case 'fence': {
            const errorCode = await this.#fence(transactionalId, () => true)
            // The client comes again, and gets an epoch that no marker has.
            return refusedProducer(errorCode === ErrorCode.NONE ? ErrorCode.CONCURRENT_TRANSACTIONS : errorCode)
          }
          case 'change':
            await this.#log.change(loaded, entry, decision.to)
            if (!isEnding(decision.to.state)) return producerOf(decision.to)
            this.#completion.start(loaded, entry)
            return producerOf(completed(decision.to, decision.to.updatedMs))
        }
      }
    } catch (error) {
      return refusedProducer(answeredCode(error))
    }
  }

  async #ensureEntry(transactionalId: string, timeoutMs: number): Promise<void> {
    if (this.#log.find(transactionalId).entry) return
    const producerId = await this.#freshProducerId()
    const { loaded, entry } = this.#log.find(transactionalId)
    if (entry) return
    const metadata = newTransaction(transactionalId, { producerId, timeoutMs, nowMs: this.#nowMs })
    loaded.state.set(transactionalId, new TransactionEntry(metadata))
  }

  async #freshProducerId(): Promise<bigint> {
    try {
      return await this.#options.producerIds.next()
    } catch (cause) {
      throw new CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, `no producer id: ${messageOf(cause)}`)
    }
  }

  #entryOf(transactionalId: string): TransactionEntry | undefined {
    try {
      return this.#log.find(transactionalId).entry
    } catch {
      return undefined
    }
  }
}
