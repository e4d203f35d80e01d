/** A mirror partition in memory: takes what the fetcher brings and records every call; tests decide how it answers. */
import type { Uuid } from '../../core/uuid.ts'
import type { FetchedBatches, FetchPosition, FetchSink, FetchTrouble, SinkDecision } from '../../link/ports.ts'
import { ENTRY_BYTES } from './fake-fetch.ts'

export class FakeSink implements FetchSink {
  topicId: Uuid | undefined
  offset = 0
  lastSourceEpoch: number | undefined
  readonly batches: FetchedBatches[] = []
  readonly troubles: FetchTrouble[] = []
  readonly epochEnds: { requestedEpoch: number; epoch: number; endOffset: number }[] = []
  /** Offsets received, in order. */
  readonly received: number[] = []
  /** Awaited before each answer. */
  hold: Promise<void> = Promise.resolve()
  decide: (about: 'batches' | 'epoch' | FetchTrouble) => SinkDecision = () => 'continue'
  /** Most calls at the same time; must stay 1. */
  mostConcurrent = 0
  #running = 0

  constructor(options: { topicId?: Uuid; offset?: number; lastSourceEpoch?: number } = {}) {
    this.topicId = options.topicId
    this.offset = options.offset ?? 0
    this.lastSourceEpoch = options.lastSourceEpoch
  }

  position(): FetchPosition {
    return { offset: this.offset, lastSourceEpoch: this.lastSourceEpoch }
  }

  get calls(): number {
    return this.batches.length + this.troubles.length + this.epochEnds.length
  }

  onEpochEnd(answer: { requestedEpoch: number; epoch: number; endOffset: number }): Promise<SinkDecision> {
    this.epochEnds.push(answer)
    return this.#answer('epoch')
  }

  onBatches(batches: FetchedBatches): Promise<SinkDecision> {
    this.batches.push(batches)
    for (let at = 0; at < batches.records.length; at += ENTRY_BYTES) {
      const offset = Number(batches.records.readBigInt64BE(at))
      this.received.push(offset)
      this.offset = offset + 1
    }
    return this.#answer('batches')
  }

  onTrouble(trouble: FetchTrouble): Promise<SinkDecision> {
    this.troubles.push(trouble)
    return this.#answer(trouble)
  }

  async #answer(about: 'batches' | 'epoch' | FetchTrouble): Promise<SinkDecision> {
    this.#running++
    this.mostConcurrent = Math.max(this.mostConcurrent, this.#running)
    await this.hold
    this.#running--
    return this.decide(about)
  }
}
