/**
 * A partition that a Kafka broker leads, an ordinary one or a mirror's whose node is dead: looked at and ended over the network, by
 * Kafka's own means. Opened by the joined destination for stops and restores; nothing is mirrored into it.
 */
import { type MirrorLog, MirrorLogConflict, type MirrorLogState, type OpenTransaction } from '../../link/ports.ts'
import type { PartitionImage } from '../../metadata/metadata-image.ts'
import { isThinned } from '../compaction-traces.ts'
import type { BrokerQuestions, ProducerState } from './broker-questions.ts'

type Questions = Pick<
  BrokerQuestions,
  'highWatermark' | 'logStart' | 'producerStates' | 'abortTransaction' | 'readBatches' | 'topicConfig'
>

export interface DistantLogOptions {
  readonly topic: string
  readonly partition: number
  readonly placed: Pick<PartitionImage, 'leader' | 'leaderEpoch'>
  readonly questions: Questions
}

/** What was there when it was opened, or after the last abort. */
export class DistantLog implements MirrorLog {
  readonly capabilities = { truncate: false, startAnywhere: false }
  readonly #o: DistantLogOptions
  #state: MirrorLogState
  #producers: readonly ProducerState[]

  private constructor(options: DistantLogOptions, state: MirrorLogState, producers: readonly ProducerState[]) {
    this.#o = options
    this.#state = state
    this.#producers = producers
  }

  /** Rejects where its leader does not answer. */
  static async open(options: DistantLogOptions): Promise<DistantLog> {
    return new DistantLog(options, await stateOf(options), await producersOf(options))
  }

  state(): MirrorLogState {
    return this.#state
  }

  async refresh(): Promise<MirrorLogState> {
    this.#state = await stateOf(this.#o)
    return this.#state
  }

  async reclaim(): Promise<void> {}

  append(): Promise<MirrorLogState> {
    return this.#refuse()
  }

  /** An empty log of a Kafka broker begins where it begins. */
  async startAt(): Promise<MirrorLogState> {
    return this.#state
  }

  async raiseLogStart(): Promise<MirrorLogState> {
    return this.#state
  }

  truncateTo(): Promise<MirrorLogState> {
    return this.#refuse()
  }

  openTransactions(): readonly OpenTransaction[] {
    return this.#producers.flatMap(({ producerId, producerEpoch, transactionStart: firstOffset }) =>
      firstOffset === undefined ? [] : [{ producerId, producerEpoch, firstOffset }],
    )
  }

  /** The leader appends the markers, as for a coordinator; resolves when they are replicated. */
  async abortOpenTransactions(): Promise<readonly OpenTransaction[]> {
    const { questions, placed, topic, partition } = this.#o
    const open = this.openTransactions()
    for (const producer of this.#producers)
      if (producer.transactionStart !== undefined)
        await questions.abortTransaction(placed.leader, { topic, partition, producer })
    this.#state = await stateOf(this.#o)
    this.#producers = await producersOf(this.#o)
    return open
  }

  async lastBatch(): Promise<undefined> {
    return undefined
  }

  /** What is below the high watermark. */
  readBatches(range: { readonly offset: number; readonly maxBytes: number }): Promise<Buffer> {
    const { questions, placed, topic, partition } = this.#o
    return questions.readBatches(placed.leader, { topic, partition, ...range })
  }

  async compactedTo(): Promise<number> {
    const { questions, placed, topic } = this.#o
    const policy = (await questions.topicConfig(placed.leader, topic, 'cleanup.policy')) ?? ''
    return policy.includes('compact') && (await isThinned(this)) ? this.#state.logEndOffset : 0
  }

  /** Of those that the leader remembers; it forgets who has written nothing for a day. */
  producerIdMax(): bigint {
    let max = -1n
    for (const { producerId } of this.#producers) if (producerId > max) max = producerId
    return max
  }

  producerIds(): readonly bigint[] {
    return this.#producers.map(({ producerId }) => producerId)
  }

  retentionBytesAtRisk(): Promise<number> {
    return this.#refuse()
  }

  /** What its leader lets others read is replicated. */
  async flush(): Promise<void> {}

  #refuse(): Promise<never> {
    const { topic, partition, placed } = this.#o
    return Promise.reject(new MirrorLogConflict(`broker ${placed.leader} leads ${topic}-${partition}`))
  }
}

async function stateOf({ questions, placed, topic, partition }: DistantLogOptions): Promise<MirrorLogState> {
  const { leader, leaderEpoch } = placed
  const logStartOffset = await questions.logStart(leader, topic, partition)
  const highWatermark = await questions.highWatermark(leader, topic, partition)
  const isEmpty = logStartOffset === highWatermark
  return { logStartOffset, logEndOffset: highWatermark, highWatermark, leaderEpoch, isEmpty }
}

const producersOf = ({ questions, placed, topic, partition }: DistantLogOptions): Promise<ProducerState[]> =>
  questions.producerStates(placed.leader, topic, partition)
