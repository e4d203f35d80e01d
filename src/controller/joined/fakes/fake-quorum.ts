/** A quorum of controllers in memory behind real listeners: tests of the joined controller script its log, leaders and answers. */
import { systemClock } from '../../../core/clock.ts'
import { silentLogger } from '../../../core/logger.ts'
import type { IncomingRequest } from '../../../network/request-handler.ts'
import { type KafkaServer, listen } from '../../../network/server-listener.ts'
import { batchesIn, bytesOfBatch } from '../../../protocol/batches/batch-iteration.ts'
import { ErrorCode } from '../../../protocol/errors.ts'
import { FetchRequest, FetchResponse, type FetchResponseInput } from '../../../protocol/messages/01-fetch.ts'
import { ApiVersionsResponse } from '../../../protocol/messages/18-api-versions.ts'
import { FetchSnapshotRequest, FetchSnapshotResponse } from '../../../protocol/messages/59-fetch-snapshot.ts'
import type { MetadataRecordInput } from '../../../protocol/metadata-records/registry.ts'
import { metadataBatch } from '../../metadata-batches.ts'
import { snapshotBatches } from '../../snapshot-batches.ts'

/** Answers one command: the encoded body, or undefined to leave it unanswered. */
export type FakeAnswer = (request: IncomingRequest, controllerId: number) => Buffer | undefined

interface LogBatch {
  readonly bytes: Buffer
  readonly lastOffset: number
  readonly epoch: number
}

export interface FakeQuorumOptions {
  readonly controllers?: number
  readonly clusterId?: string
  /** Highest version of Fetch that is offered. */
  readonly fetchVersion?: number
  /** Further APIs that the controllers offer, with their highest versions; `commands` answers them. */
  readonly serves?: ReadonlyMap<number, number>
}

export class FakeQuorum {
  readonly clusterId: string
  leaderId = 3000
  epoch = 1
  /** Committed up to here (exclusive). */
  highWatermark = 0
  /** Offered to whoever fetches below its end. */
  snapshot: { readonly offset: number; readonly epoch: number; readonly bytes: Buffer } | undefined
  /** Size of the pieces of a snapshot, so that there are several. */
  pieceBytes = 200
  /** Commands beside Fetch and FetchSnapshot. */
  readonly commands = new Map<number, FakeAnswer>()
  /** Fetch offsets as they were asked, by controller. */
  readonly fetches: string[] = []
  #servers = new Map<number, KafkaServer>()
  readonly #fetchVersion: number
  readonly #serves: ReadonlyMap<number, number>
  #log: LogBatch[] = []
  #waiting: (() => void)[] = []

  private constructor(options: FakeQuorumOptions) {
    this.clusterId = options.clusterId ?? 'ZmFrZS1jbHVzdGVyLTEyMw'
    this.#fetchVersion = options.fetchVersion ?? 18
    this.#serves = options.serves ?? new Map()
  }

  static async start(options: FakeQuorumOptions = {}): Promise<FakeQuorum> {
    const quorum = new FakeQuorum(options)
    for (let index = 0; index < (options.controllers ?? 1); index++) await quorum.startController(3000 + index)
    return quorum
  }

  get places(): { host: string; port: number }[] {
    return [...this.#servers.values()].map(({ port }) => ({ host: '127.0.0.1', port }))
  }

  placeOf(id: number): { host: string; port: number } {
    return { host: '127.0.0.1', port: this.#servers.get(id)?.port ?? 0 }
  }

  get endOffset(): number {
    return (this.#log.at(-1)?.lastOffset ?? (this.snapshot?.offset ?? 0) - 1) + 1
  }

  async startController(id: number): Promise<void> {
    const served = new Map([
      [1, { min: 12, max: this.#fetchVersion }],
      [18, { min: 0, max: 4 }],
      [59, { min: 0, max: 1 }],
      ...[...this.#serves].map(([key, max]) => [key, { min: 0, max }] as const),
    ])
    const server = await listen({
      host: '127.0.0.1',
      port: 0,
      name: 'CONTROLLER',
      maxRequestBytes: 1 << 20,
      idleTimeoutMs: 1e9,
      served,
      handler: async request => await this.#answer(request, id),
      clock: systemClock,
      logger: silentLogger,
    })
    this.#servers.set(id, server)
  }

  async stopController(id: number): Promise<void> {
    const closing = this.#servers.get(id)?.close(1)
    this.#servers.delete(id)
    this.wake()
    await closing
  }

  async close(): Promise<void> {
    await Promise.all([...this.#servers.keys()].map(id => this.stopController(id)))
  }

  /** Appends one batch of the present epoch; committed at once unless told otherwise. Returns its last offset. */
  append(records: readonly MetadataRecordInput[], { committed = true } = {}): number {
    this.appendBytes(metadataBatch(records, { timestamp: 1n, baseOffset: this.endOffset, leaderEpoch: this.epoch }), {
      committed,
    })
    return this.endOffset - 1
  }

  appendBytes(bytes: Buffer, { committed = true } = {}): void {
    for (const header of batchesIn(bytes))
      this.#log.push({ bytes: bytesOfBatch(bytes, header), lastOffset: header.lastOffset, epoch: header.leaderEpoch })
    if (committed) this.commit()
    else this.wake()
  }

  commit(): void {
    this.highWatermark = this.endOffset
    this.wake()
  }

  /** Another leader in a new epoch, whose log ends at `endOffset`. */
  elect(leaderId: number, endOffset = this.endOffset): void {
    this.leaderId = leaderId
    this.epoch++
    this.#log = this.#log.filter(({ lastOffset }) => lastOffset < endOffset)
    this.wake()
  }

  /** Offers a snapshot of these records that covers the log up to its end, and drops the log. */
  takeSnapshot(records: readonly MetadataRecordInput[]): void {
    const frame = { epoch: this.epoch, timestamp: 1n, lastContainedTimestamp: 1n }
    const offset = this.endOffset
    this.snapshot = { offset, epoch: this.epoch, bytes: Buffer.concat([...snapshotBatches(records, frame)]) }
    this.#log = []
  }

  wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resume of waiting) resume()
  }

  async #answer(request: IncomingRequest, id: number): Promise<Buffer[] | undefined> {
    const { apiKey, apiVersion: version, body } = request
    if (apiKey === 18) return [this.#versions(version)]
    if (apiKey === 1) {
      const { nodeEndpoints, ...answer } = await this.#fetch(FetchRequest.decode(body, version), id)
      return [FetchResponse.encode(version < 16 ? answer : { ...answer, nodeEndpoints }, version)]
    }
    if (apiKey === 59) return [this.#piece(FetchSnapshotRequest.decode(body, version), version)]
    const answer = this.commands.get(apiKey)?.(request, id)
    // A request without an answer leaves the client waiting until its connection is closed.
    return answer ? [answer] : await new Promise<never>(() => {})
  }

  #versions(version: number): Buffer {
    const commands = [...this.#serves].map(([apiKey, maxVersion]) => ({ apiKey, minVersion: 0, maxVersion }))
    const apiKeys = [
      { apiKey: 1, minVersion: 12, maxVersion: this.#fetchVersion },
      { apiKey: 18, minVersion: 0, maxVersion: 4 },
      { apiKey: 59, minVersion: 0, maxVersion: 1 },
      ...commands,
    ]
    return ApiVersionsResponse.encode({ errorCode: 0, throttleTimeMs: 0, apiKeys }, version)
  }

  async #fetch(request: FetchRequest, id: number): Promise<FetchResponseInput> {
    const asked = request.topics[0]?.partitions[0]
    const { topic, topicId } = request.topics[0] ?? {}
    const named = { ...(topic ? { topic } : {}), ...(topicId ? { topicId } : {}) }
    const offset = Number(asked?.fetchOffset ?? 0n)
    if (asked && request.maxWaitMs > 0 && this.#isIdle(offset, asked.highWatermark))
      await new Promise<void>(resolve => {
        this.#waiting.push(resolve)
        setTimeout(resolve, request.maxWaitMs)
      })
    this.fetches.push(`${offset}@${id}`)
    const answer = (part: object): FetchResponseInput => ({
      throttleTimeMs: 0,
      errorCode: 0,
      responses: [
        {
          ...named,
          partitions: [
            {
              partitionIndex: 0,
              errorCode: 0,
              highWatermark: BigInt(this.highWatermark),
              abortedTransactions: null,
              records: Buffer.alloc(0),
              ...part,
            },
          ],
        },
      ],
      nodeEndpoints: [...this.#servers].map(([nodeId, { port }]) => ({ nodeId, host: '127.0.0.1', port })),
    })
    const currentLeader = { leaderId: this.leaderId, leaderEpoch: this.epoch }
    if (request.clusterId !== null && request.clusterId !== this.clusterId)
      return answer({ errorCode: ErrorCode.INCONSISTENT_CLUSTER_ID })
    const epochAsked = asked?.currentLeaderEpoch ?? 0
    if (epochAsked < this.epoch) return answer({ errorCode: ErrorCode.FENCED_LEADER_EPOCH, currentLeader })
    if (epochAsked > this.epoch) return answer({ errorCode: ErrorCode.UNKNOWN_LEADER_EPOCH, currentLeader })
    if (id !== this.leaderId) return answer({ errorCode: ErrorCode.NOT_LEADER_OR_FOLLOWER, currentLeader })
    return answer(this.#read(offset, asked?.lastFetchedEpoch ?? 0))
  }

  #isIdle(offset: number, knownHighWatermark: bigint): boolean {
    return offset >= this.endOffset && Number(knownHighWatermark) >= this.highWatermark
  }

  #read(offset: number, lastEpoch: number): object {
    const start = this.snapshot?.offset ?? 0
    if (this.snapshot && offset < start)
      return { snapshotId: { endOffset: BigInt(this.snapshot.offset), epoch: this.snapshot.epoch } }
    if (offset > start) {
      const before = this.#log.filter(({ epoch }) => epoch <= lastEpoch).at(-1)
      const epoch = before?.epoch ?? this.snapshot?.epoch ?? 0
      const endOffset = (before?.lastOffset ?? start - 1) + 1
      if (epoch < lastEpoch || endOffset < offset) return { divergingEpoch: { epoch, endOffset: BigInt(endOffset) } }
    }
    return { records: Buffer.concat(this.#log.filter(batch => batch.lastOffset >= offset).map(batch => batch.bytes)) }
  }

  #piece(request: FetchSnapshotRequest, version: number): Buffer {
    const asked = request.topics[0]?.partitions[0]
    const { offset = 0, epoch = 0, bytes = Buffer.alloc(0) } = this.snapshot ?? {}
    const position = Number(asked?.position ?? 0n)
    const partition = {
      index: 0,
      errorCode: asked?.snapshotId.endOffset === BigInt(offset) ? 0 : ErrorCode.SNAPSHOT_NOT_FOUND,
      snapshotId: { endOffset: BigInt(offset), epoch },
      size: BigInt(bytes.length),
      position: BigInt(position),
      unalignedRecords: bytes.subarray(position, position + this.pieceBytes),
    }
    const topics = [{ name: '__cluster_metadata', partitions: [partition] }]
    return FetchSnapshotResponse.encode({ throttleTimeMs: 0, errorCode: 0, topics }, version)
  }
}
