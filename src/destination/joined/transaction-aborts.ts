/**
 * Ends transactions of a Kafka cluster that this node has joined, through their coordinators: as Kafka's own `fenceProducers` does, so that
 * their producers learn of it, and the transactions end in all their topics alike. The joined destination owns it.
 */
import type { AbortedTransactions } from '../../link/ports.ts'
import { isActiveBroker, javaBrokers } from '../../metadata/lockstep-nodes.ts'
import { type MetadataImage, topicByName } from '../../metadata/metadata-image.ts'
import { isRefusal, missingRight } from '../../metadata/missing-right.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { InitProducerIdApi } from '../../protocol/messages/22-init-producer-id.ts'
import { DescribeTransactionsApi } from '../../protocol/messages/65-describe-transactions.ts'
import { ListTransactionsApi } from '../../protocol/messages/66-list-transactions.ts'
import { BrokerRefusal } from './broker-questions.ts'
import type { BrokerLinks } from './group-coordinators.ts'

export interface TransactionAbortsOptions {
  readonly image: () => MetadataImage
  readonly brokers: BrokerLinks
}

interface Transaction {
  readonly coordinator: number
  readonly transactionalId: string
  readonly producerId: bigint
  readonly isOngoing: boolean
}

const ongoing = 'Ongoing'
const endingStates: ReadonlySet<string> = new Set(['PrepareCommit', 'PrepareAbort', 'PrepareEpochFence'])
/** Nobody uses it: who may describe it may describe all. */
const probeId = 'lockstep-may-it-describe-all'
/** The time-out that whoever begins its next transaction sets anew. */
const timeoutMs = 1
const REMEMBERED_MAX = 10_000

export class TransactionAborts {
  readonly #o: TransactionAbortsOptions
  /** Those that were counted. */
  readonly #fenced = new Set<string>()

  constructor(options: TransactionAbortsOptions) {
    this.#o = options
  }

  /**
   * Aborts what these producers have open in the topic. Those of which no coordinator knows are in neither number. Rejects where a
   * coordinator cannot be asked, or a right is missing.
   */
  async abort(topic: string, producerIds: ReadonlySet<bigint>): Promise<AbortedTransactions> {
    if (producerIds.size === 0) return { aborted: 0, ending: 0 }
    const found = await this.#transactionsOf(producerIds)
    const known = new Set(found.map(({ producerId }) => producerId))
    const unknown = [...producerIds].filter(id => !known.has(id))
    if (unknown.length > 0) await this.#assertAllShown(unknown)
    let [aborted, ending] = [0, 0]
    for (const transaction of found) {
      if (!transaction.isOngoing) ending++
      else {
        const startMs = await this.#startIn(topic, transaction)
        if (startMs === undefined) continue
        await this.#fence(transaction)
        // Until the coordinator has written that it ends, it shows it as it was.
        if (this.#isFirst(`${transaction.transactionalId}/${startMs}`)) aborted++
        else ending++
      }
    }
    return { aborted, ending }
  }

  /** All coordinators are Kafka brokers. */
  async #transactionsOf(producerIds: ReadonlySet<bigint>): Promise<Transaction[]> {
    const image = this.#o.image()
    const brokers = javaBrokers(image).filter(isActiveBroker)
    const asked = new Set(brokers.map(({ id }) => id))
    const { partitions = [] } = topicByName(image, '__transaction_state') ?? {}
    const lost = partitions.findIndex(({ leader }) => !asked.has(leader))
    if (lost >= 0) throw new Error(`transactions have no coordinator now: partition ${lost} of __transaction_state`)
    const found = await Promise.all(brokers.map(({ id }) => this.#listed(id, producerIds)))
    return found.flat()
  }

  async #listed(coordinator: number, producerIds: ReadonlySet<bigint>): Promise<Transaction[]> {
    const connection = await this.#o.brokers.to(coordinator)
    const asked = { stateFilters: [ongoing, ...endingStates], producerIdFilters: [...producerIds] }
    const { response } = await connection.send(ListTransactionsApi, asked, { version: 0 })
    if (response.errorCode !== ErrorCode.NONE)
      throw new BrokerRefusal('ListTransactions', coordinator, response.errorCode)
    return response.transactionStates.map(({ transactionalId, producerId, transactionState }) => {
      return { coordinator, transactionalId, producerId, isOngoing: transactionState === ongoing }
    })
  }

  /** What we may not describe is left out of lists, and looks like a transaction that no coordinator knows of. */
  async #assertAllShown(unknown: readonly bigint[]): Promise<void> {
    const [broker] = javaBrokers(this.#o.image()).filter(isActiveBroker)
    if (!broker) throw new Error('no Kafka broker is there to ask for transactions')
    const [told] = await this.#described(broker.id, probeId)
    if (told?.errorCode !== ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED) return
    throw new Error(
      `the transactions of producers ${unknown.slice(0, 10).join(', ')} are shown by no coordinator: they end by their time-outs, or with DESCRIBE and WRITE on all transactional ids for this node`,
    )
  }

  async #described(coordinator: number, transactionalId: string) {
    const connection = await this.#o.brokers.to(coordinator)
    const { response } = await connection.send(DescribeTransactionsApi, { transactionalIds: [transactionalId] })
    return response.transactionStates
  }

  /** When it began; undefined = it has nothing to do with the topic, since its producer has gone on with one elsewhere. */
  async #startIn(topic: string, { coordinator, transactionalId }: Transaction): Promise<bigint | undefined> {
    const [told] = await this.#described(coordinator, transactionalId)
    const { errorCode = ErrorCode.UNKNOWN_SERVER_ERROR, topics = [], transactionStartTimeMs: startMs } = told ?? {}
    if (errorCode === ErrorCode.NONE) return topics.some(of => of.topic === topic) ? startMs : undefined
    if (errorCode === ErrorCode.TRANSACTIONAL_ID_NOT_FOUND) return undefined
    throw new BrokerRefusal('DescribeTransactions', coordinator, errorCode)
  }

  #isFirst(transaction: string): boolean {
    if (this.#fenced.has(transaction)) return false
    if (this.#fenced.size >= REMEMBERED_MAX) this.#fenced.clear()
    this.#fenced.add(transaction)
    return true
  }

  /** Answered before it is aborted, which is what the coordinator does first. */
  async #fence({ coordinator, transactionalId }: Transaction): Promise<void> {
    const connection = await this.#o.brokers.to(coordinator)
    const version = connection.versionFor(InitProducerIdApi.key, { min: 3, max: 5 })
    const asked = { transactionalId, transactionTimeoutMs: timeoutMs }
    const { response } = await connection.send(InitProducerIdApi, asked, { version })
    const { errorCode } = response
    if (errorCode === ErrorCode.NONE || errorCode === ErrorCode.CONCURRENT_TRANSACTIONS) return
    const why = isRefusal(errorCode)
      ? missingRight({ operation: 'WRITE', resource: 'TRANSACTIONAL_ID', name: transactionalId })
      : errorName(errorCode)
    throw new Error(`transaction '${transactionalId}' could not be aborted by broker ${coordinator}: ${why}`)
  }
}
