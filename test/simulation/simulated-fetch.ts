/** Fetches one partition of the simulated source for one process, under the contract of the fetcher's port. Made by the simulated source. */
import { sleep } from '../../src/core/clock.ts'
import type { FetchedBatches, FetchSink, SinkDecision } from '../../src/link/ports.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { SourceLog } from './source-log.ts'
import type { SourceModel } from './source-model.ts'

/** Faults of the network; rates are per answer. */
export interface NetworkFaults {
  lostAnswerRate: number
  latencyMsMax: number
}

export interface FetchTarget {
  readonly topic: string
  readonly partition: number
  readonly sink: FetchSink
}

const longPollMs = 2000
const backoffMs = 1000

export class SimulatedFetch {
  readonly ended: Promise<void>
  readonly #target: FetchTarget
  readonly #model: SourceModel
  readonly #process: SimulatedProcess
  readonly #faults: NetworkFaults
  readonly #stopping = new AbortController()
  /** Leader epoch in which the sink judged the end of its epoch. */
  #checkedIn = -1
  #toldMs = Number.NEGATIVE_INFINITY
  #told = ''

  constructor(target: FetchTarget, parts: { model: SourceModel; process: SimulatedProcess; faults: NetworkFaults }) {
    this.#target = target
    this.#model = parts.model
    this.#process = parts.process
    this.#faults = parts.faults
    this.ended = this.#run()
  }

  stop(): Promise<void> {
    this.#stopping.abort()
    return this.ended
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const decision = await this.#round()
      if (decision === 'stop') return
      if (typeof decision === 'object') await this.#wait(decision.retryAfterMs)
    }
  }

  #wait(ms: number): Promise<void> {
    return sleep(this.#process.clock, ms, this.#stopping.signal)
  }

  /** The time of a request or of its answer; true = it was lost. */
  async #travel(): Promise<boolean> {
    const { random } = this.#process
    await this.#wait(Math.round(random() ** 3 * this.#faults.latencyMsMax))
    return random() < this.#faults.lostAnswerRate
  }

  async #round(): Promise<SinkDecision> {
    if (await this.#travel()) return await this.#unreachable('the answer was lost')
    const { sink, topic: name, partition: index } = this.#target
    const topic = this.#model.topics.get(name)
    if (this.#model.outage) return await this.#unreachable('nobody answers')
    if (!topic) return await this.#trouble({ kind: 'topic-missing', message: `no topic ${name}` })
    if (this.#model.forbidden.has(name)) return await this.#trouble({ kind: 'authorization', message: 'not allowed' })
    if (sink.topicId !== topic.topicId)
      return await this.#trouble({
        kind: 'topic-id-changed',
        expected: sink.topicId ?? topic.topicId,
        found: topic.topicId,
      })
    const log = topic.partitions[index]
    if (!log) return await this.#trouble({ kind: 'partition-missing', message: `no partition ${index}` })
    if (this.#checkedIn !== log.leaderEpoch) return await this.#check(log)
    return await this.#fetch(log)
  }

  #unreachable(message: string): Promise<SinkDecision> {
    return this.#trouble({ kind: 'unreachable', failure: 'tcp', message })
  }

  async #trouble(trouble: Parameters<FetchSink['onTrouble']>[0]): Promise<SinkDecision> {
    if (this.#stopping.signal.aborted) return 'stop'
    const decision = await this.#target.sink.onTrouble(trouble)
    // The connection is another one after a failure.
    this.#checkedIn = -1
    return decision === 'continue' ? { retryAfterMs: backoffMs } : decision
  }

  async #check(log: SourceLog): Promise<SinkDecision> {
    const { sink } = this.#target
    const { leaderEpoch } = log
    const { lastSourceEpoch } = sink.position()
    let decision: SinkDecision = 'continue'
    if (lastSourceEpoch !== undefined) {
      const answer = { requestedEpoch: lastSourceEpoch, ...log.endOfEpoch(lastSourceEpoch) }
      if (await this.#travel()) return await this.#unreachable('the answer about the epoch was lost')
      if (this.#stopping.signal.aborted) return 'stop'
      decision = await sink.onEpochEnd(answer)
    }
    if (decision === 'continue') this.#checkedIn = leaderEpoch
    return decision
  }

  async #fetch(log: SourceLog): Promise<SinkDecision> {
    const { sink } = this.#target
    const { offset } = sink.position()
    if (offset < log.logStartOffset || offset > log.logEndOffset) {
      const range = { earliest: log.logStartOffset, latest: log.highWatermark }
      if ((await this.#travel()) || this.#stopping.signal.aborted) return 'continue'
      const decision = await sink.onTrouble({ kind: 'offset-out-of-range', fetchOffset: offset, ...range })
      return decision === 'continue' && sink.position().offset === offset ? { retryAfterMs: backoffMs } : decision
    }
    const batches = this.#answer(log, offset)
    if (!this.#isNews(batches)) return await this.#longPoll()
    if (await this.#travel()) return await this.#unreachable('the answer was lost')
    if (this.#stopping.signal.aborted) return 'stop'
    this.#toldMs = this.#process.clock.monotonicMs()
    return await sink.onBatches({ ...batches, receivedMs: this.#toldMs })
  }

  #answer(log: SourceLog, fetchOffset: number): FetchedBatches {
    const { random } = this.#process
    let records = log.read(fetchOffset, 1 + Math.floor(random() * 4))
    // A partial batch at the end, as the size limit of a fetch leaves it.
    if (records.length > 0 && random() < 0.2) records = records.subarray(0, records.length - Math.floor(random() * 80))
    if (records.length > 61 && this.#model.damagedAnswers > 0) {
      this.#model.damagedAnswers--
      records = Buffer.from(records)
      const at = 61 + Math.floor(random() * (Math.min(records.readInt32BE(8) + 12, records.length) - 61))
      records[at] = (records[at] ?? 0) ^ 0xff
    }
    const { highWatermark, lastStableOffset, logStartOffset, leaderEpoch } = log
    return {
      records,
      fetchOffset,
      highWatermark,
      lastStableOffset,
      logStartOffset,
      leaderEpoch,
      receivedMs: 0,
    }
  }

  #isNews({ records, highWatermark, logStartOffset }: FetchedBatches): boolean {
    const told = `${highWatermark}/${logStartOffset}`
    const isNew = records.length > 0 || told !== this.#told
    this.#told = told
    return isNew || this.#process.clock.monotonicMs() - this.#toldMs >= longPollMs
  }

  async #longPoll(): Promise<SinkDecision> {
    const over = new AbortController()
    const end = () => over.abort()
    this.#model.onChange(end)
    this.#stopping.signal.addEventListener('abort', end, { once: true })
    await sleep(this.#process.clock, longPollMs, over.signal)
    this.#stopping.signal.removeEventListener('abort', end)
    return 'continue'
  }
}
