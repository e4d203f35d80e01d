/** The log of a mirror partition that another Lockstep node leads: looked at, read and ended there. Opened by the joined destination for the link coordinator; nothing is mirrored into it from here. */
import type { RetentionLimits } from '../../core/retention-limits.ts'
import type { Uuid } from '../../core/uuid.ts'
import { type MirrorLog, MirrorLogConflict, type MirrorLogState, type OpenTransaction } from '../../link/ports.ts'
import {
  heardTransaction,
  type LogAnswer,
  type LogOperation,
  type LogRequest,
  type ToldProducers,
} from './peer-log-calls.ts'

export interface PeerMirrorLogOptions {
  readonly topicId: Uuid
  readonly partition: number
  /** For people. */
  readonly name: string
  readonly leader: number
  readonly leaderEpoch: number
  /** Rejects with MirrorLogConflict where the partition has moved, and where the node does not answer. */
  readonly call: (nodeId: number, request: LogRequest) => Promise<LogAnswer>
}

export class PeerMirrorLog implements MirrorLog {
  readonly capabilities = { truncate: false, startAnywhere: true }
  readonly #o: PeerMirrorLogOptions
  #state: MirrorLogState
  #producers: ToldProducers

  private constructor(options: PeerMirrorLogOptions, { state, producers }: LogAnswer) {
    this.#o = options
    this.#state = state
    this.#producers = producers ?? { idMax: '-1', ids: [], open: [] }
  }

  static async open(options: PeerMirrorLogOptions): Promise<PeerMirrorLog> {
    const { leader, topicId, partition, leaderEpoch, call } = options
    const request = { topicId, partition, leaderEpoch, operation: { kind: 'look' } } as const
    return new PeerMirrorLog(options, await call(leader, request))
  }

  state(): MirrorLogState {
    return this.#state
  }

  async refresh(): Promise<MirrorLogState> {
    return (await this.#ask({ kind: 'state' })).state
  }

  async reclaim(): Promise<void> {
    await this.#ask({ kind: 'reclaim' })
  }

  append(): Promise<MirrorLogState> {
    return this.#refuse()
  }

  async startAt(offset: number): Promise<MirrorLogState> {
    return (await this.#ask({ kind: 'start-at', offset })).state
  }

  /** The log start is raised by the node that mirrors it. */
  async raiseLogStart(offset: number): Promise<MirrorLogState> {
    return offset > 0 ? await this.#refuse() : (await this.#ask({ kind: 'settle' })).state
  }

  truncateTo(): Promise<MirrorLogState> {
    return this.#refuse()
  }

  openTransactions(): readonly OpenTransaction[] {
    return this.#producers.open.map(heardTransaction)
  }

  async abortOpenTransactions(): Promise<readonly OpenTransaction[]> {
    const { aborted = [] } = await this.#ask({ kind: 'abort' })
    return aborted.map(heardTransaction)
  }

  async lastBatch(): Promise<LogAnswer['lastBatch']> {
    return (await this.#ask({ kind: 'last-batch' })).lastBatch
  }

  async readBatches({ offset, maxBytes }: { offset: number; maxBytes: number }): Promise<Buffer> {
    const { batches = '' } = await this.#ask({ kind: 'read', offset, maxBytes })
    return Buffer.from(batches, 'base64')
  }

  async compactedTo(): Promise<number> {
    return (await this.refresh()).cleanedOffset ?? 0
  }

  producerIdMax(): bigint {
    return BigInt(this.#producers.idMax)
  }

  producerIds(): readonly bigint[] {
    return this.#producers.ids.map(BigInt)
  }

  async retentionBytesAtRisk(limits: RetentionLimits): Promise<number> {
    return (await this.#ask({ kind: 'retention', limits })).bytesAtRisk ?? 0
  }

  async flush(): Promise<void> {
    await this.#ask({ kind: 'flush' })
  }

  async #ask(operation: LogOperation): Promise<LogAnswer> {
    const { leader, topicId, partition, leaderEpoch, call } = this.#o
    const answer = await call(leader, { topicId, partition, leaderEpoch, operation })
    this.#state = answer.state
    this.#producers = answer.producers ?? this.#producers
    return answer
  }

  #refuse(): Promise<never> {
    const { leader, name } = this.#o
    return Promise.reject(new MirrorLogConflict(`node ${leader} leads ${name}`))
  }
}
