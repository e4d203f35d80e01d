/** Sends the ISR changes of all led partitions to the controller, one request at a time; ReplicaSet owns one (Kafka's AlterPartitionManager). */
import { Backoff } from '../../core/backoff.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { type Random, systemRandom } from '../../core/random.ts'
import type { Controller, IsrChange } from '../../metadata/controller-port.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import type { IsrHolder, IsrProposal } from './isr-proposal.ts'

export interface IsrChangesOptions {
  readonly alterPartition: Controller['alterPartition']
  readonly clock: Clock
  readonly logger: Logger
  readonly random?: Random
}

const FIRST_RETRY_MS = 50
const RETRY_MS_MAX = 2000
/** Per request. */
const PARTITIONS_MAX = 1000

/** The controller saw the right partition epoch and did not apply it: it can never be committed. */
const REFUSED: ReadonlySet<number> = new Set([ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED])
/** The image is behind: the change may even have been committed by an attempt whose answer was lost. It will tell. */
const IMAGE_WILL_TELL: ReadonlySet<number> = new Set([
  ErrorCode.FENCED_LEADER_EPOCH,
  ErrorCode.INVALID_UPDATE_VERSION,
  ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
  ErrorCode.UNKNOWN_TOPIC_ID,
  ErrorCode.INVALID_REQUEST,
  ErrorCode.NEW_LEADER_ELECTED,
])

export class IsrChanges {
  readonly #o: IsrChangesOptions
  readonly #logger: Logger
  readonly #waiting = new Set<IsrHolder>()
  readonly #closing = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: IsrChangesOptions) {
    this.#o = options
    this.#logger = options.logger.child({ component: 'isr' })
  }

  /** The partition's proposal is sent with the next request. */
  add(partition: IsrHolder): void {
    if (this.#closing.signal.aborted) return
    this.#waiting.add(partition)
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  /** Sends nothing more; an answer that is waited for does not hold it up. */
  close(): void {
    this.#closing.abort()
    this.#waiting.clear()
  }

  async #run(): Promise<void> {
    const { clock, random = systemRandom } = this.#o
    const backoff = new Backoff({ initialMs: FIRST_RETRY_MS, maxMs: RETRY_MS_MAX, random })
    // What is proposed in the same turn shares the request.
    await Promise.resolve()
    while (this.#waiting.size > 0 && !this.#closing.signal.aborted) {
      const again = await this.#send()
      if (again.length === 0) {
        backoff.reset()
        continue
      }
      await sleep(clock, backoff.nextMs(), this.#closing.signal)
      for (const partition of again) this.#waiting.add(partition)
    }
  }

  /** Resolves to the partitions that have to be asked for again. */
  async #send(): Promise<IsrHolder[]> {
    const asked = this.#take()
    if (asked.length === 0) return []
    const changes = asked.map(({ partition, proposal }): IsrChange => {
      const { topicId, index } = partition
      return { topicId, partition: index, ...proposal }
    })
    try {
      const answers = await this.#o.alterPartition(changes)
      return asked.flatMap((one, index) =>
        this.#answered(one, answers[index]?.errorCode ?? ErrorCode.UNKNOWN_SERVER_ERROR) ? one.partition : [],
      )
    } catch (error) {
      if (this.#closing.signal.aborted) return []
      this.#logger.warn('ISR changes cannot be asked for at present', {
        partitions: asked.length,
        reason: messageOf(error),
      })
      return asked.map(({ partition }) => partition)
    }
  }

  #take(): { partition: IsrHolder; proposal: IsrProposal }[] {
    const taken: { partition: IsrHolder; proposal: IsrProposal }[] = []
    for (const partition of this.#waiting) {
      if (taken.length >= PARTITIONS_MAX) break
      this.#waiting.delete(partition)
      const proposal = partition.isrProposal
      if (proposal && !partition.unavailable) taken.push({ partition, proposal })
    }
    return taken
  }

  /** Whether to ask again. */
  #answered({ partition, proposal }: { partition: IsrHolder; proposal: IsrProposal }, errorCode: number): boolean {
    const fields = { partition: partition.name, isr: proposal.isr.join(','), partitionEpoch: proposal.partitionEpoch }
    if (errorCode === ErrorCode.NONE) {
      this.#logger.info('the ISR changed', fields)
      return false
    }
    const error = errorName(errorCode)
    if (REFUSED.has(errorCode)) {
      this.#logger.info('the controller refused an ISR', { ...fields, error })
      partition.isrRefused(proposal)
      return false
    }
    if (IMAGE_WILL_TELL.has(errorCode)) {
      this.#logger.info('an ISR was asked for with an older image than the controller has', { ...fields, error })
      return false
    }
    this.#logger.warn('an ISR change failed and is asked for again', { ...fields, error })
    return partition.isrProposal === proposal
  }
}
