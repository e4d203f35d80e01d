/** `__lockstep_state` and `__lockstep_status` as the link engine's StateLogs: one compacted partition each, written by whoever leads it. */
import assert from 'node:assert/strict'
import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import { SerialQueue } from '../core/serial-queue.ts'
import { NotLinkCoordinator, type StateLog, type StateRecord } from '../link/ports.ts'
import type { Controller } from '../metadata/controller-port.ts'
import { topicByName } from '../metadata/metadata-image.ts'
import { type BatchHeader, isControl } from '../protocol/batches/batch-header.ts'
import { batchesIn } from '../protocol/batches/batch-iteration.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { recordsOf } from '../protocol/batches/records-of.ts'
import { verifyBatch } from '../protocol/batches/verify-batch.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { isAppendConflict } from '../replica/log-failure.ts'
import type { Partition } from '../replica/partition.ts'
import { PartitionUnavailable } from '../replica/partition-unavailable.ts'
import type { ReplicaSet } from '../replica/replica-set.ts'

export const stateTopicName = '__lockstep_state'

/** Bytes read at a time while replaying. */
const readBytes = 1024 * 1024

/** How long an append waits for the in-sync replicas. */
const replicationTimeoutMs = 30_000

const topicConfigs: ReadonlyMap<string, string> = new Map([
  ['cleanup.policy', 'compact'],
  ['compression.type', 'producer'],
  ['max.message.bytes', String(64 * 1024 * 1024)],
  ['segment.bytes', String(128 * 1024 * 1024)],
  // Only closed segments are compacted: without it little of a small log ever would be.
  ['segment.ms', String(24 * 60 * 60 * 1000)],
])

export interface StateTopicOptions {
  /** The topic; default `__lockstep_state`. */
  readonly topic?: string
  readonly controller: Controller
  readonly replicas: Pick<ReplicaSet, 'lookup' | 'storageFailed'>
  readonly clock: Clock
}

export class StateTopic implements StateLog {
  readonly #o: StateTopicOptions
  readonly #queue = new SerialQueue()
  #onRecords: ((records: readonly StateRecord[]) => void) | undefined
  #led: { readonly partition: Partition; readonly leaderEpoch: number } | undefined
  /** Everything below was given to `onRecords`. */
  #replayedOffset = 0
  #closed = false

  constructor(options: StateTopicOptions) {
    this.#o = options
  }

  /** Creates the topic if it does not exist. Replays only what is durable. */
  open(onRecords: (records: readonly StateRecord[]) => void): Promise<void> {
    return this.#queue.run(async () => {
      this.#onRecords = onRecords
      const partition = await this.#partition()
      this.#led = { partition, leaderEpoch: partition.leaderEpoch }
      await this.#replay(partition)
    })
  }

  append(records: readonly StateRecord[]): Promise<void> {
    return this.#queue.run(async () => {
      const { partition, leaderEpoch } = this.#leading()
      // What an append left behind whose outcome was not known then comes first; these records were decided without it.
      if (await this.#replay(partition))
        throw new NotLinkCoordinator(`${partition.name} had records that were not replayed yet: decide again`)
      await this.#appendBatch(partition, { records, leaderEpoch })
      await this.#replay(partition)
    })
  }

  /** The partition, if it is still led under the epoch in which it was opened. */
  #leading(): { readonly partition: Partition; readonly leaderEpoch: number } {
    if (!this.#led || this.#closed) throw new NotLinkCoordinator(`${this.#o.topic ?? stateTopicName} is not open`)
    const { leaderEpoch } = this.#led
    const partition = this.#served(this.#led.partition)
    if (partition.leaderEpoch !== leaderEpoch)
      throw new NotLinkCoordinator(`leader epoch ${leaderEpoch} of ${partition.name} is over`)
    this.#led = { partition, leaderEpoch }
    return this.#led
  }

  /** A log that failed is opened again as another partition object. */
  #served(partition: Partition): Partition {
    if (!partition.unavailable) return partition
    try {
      return this.#o.replicas.lookup(partition.topicId, partition.index)
    } catch (error) {
      throw error instanceof PartitionUnavailable ? new NotLinkCoordinator(error.message) : error
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#queue.idle()
  }

  async #partition(): Promise<Partition> {
    const { controller, replicas, topic: name = stateTopicName } = this.#o
    if (!topicByName(controller.image, name)) {
      const topic = { name, partitions: 1, replicationFactor: -1, assignments: new Map() }
      const [created] = await controller.createTopics([{ ...topic, configs: topicConfigs }], { validateOnly: false })
      const { errorCode, errorMessage } = created ?? { errorCode: -1, errorMessage: 'no answer' }
      if (errorCode !== ErrorCode.NONE && errorCode !== ErrorCode.TOPIC_ALREADY_EXISTS)
        throw new Error(`${name} could not be created: ${errorMessage ?? errorCode}`)
    }
    const topic = topicByName(controller.image, name)
    assert(topic, `${name} was created and is in the image`)
    return replicas.lookup(topic.id, 0)
  }

  /** Compare-and-set on the log end under the leader epoch; durable, on all in-sync replicas, when it resolves. */
  async #appendBatch(
    partition: Partition,
    { records, leaderEpoch }: { records: readonly StateRecord[]; leaderEpoch: number },
  ): Promise<void> {
    const baseOffset = this.#replayedOffset
    const timestamp = BigInt(this.#o.clock.nowMs())
    const batch = buildBatch({
      baseOffset,
      leaderEpoch,
      records: records.map(({ key, value }, offsetDelta) => ({ offsetDelta, timestamp, key, value })),
    })
    try {
      await partition.writes.run(async () => {
        partition.assertAvailable()
        await partition.log.appendMirror(batch, { leaderEpoch, expectedEndOffset: baseOffset })
        partition.appended(batch.length)
      })
    } catch (error) {
      if (error instanceof PartitionUnavailable || isAppendConflict(error)) throw new NotLinkCoordinator(error.message)
      this.#o.replicas.storageFailed(partition, error)
      throw error
    }
  }

  /** Gives out what is durable and was not given out yet; resolves to whether there was any. */
  async #replay(partition: Partition): Promise<boolean> {
    const { log } = partition
    const begin = Math.max(this.#replayedOffset, log.logStartOffset)
    const end = log.logEndOffset
    if (end < this.#replayedOffset)
      throw new Error(`${partition.name} ends at ${end}: durable records up to ${this.#replayedOffset} are lost`)
    await this.#makeDurable(partition, end)
    let offset = begin
    while (offset < end) {
      const result = await log.read({ offset, maxBytes: readBytes, maxOffset: end, minOneBatch: true })
      // Passing over anything could make a mirror writable.
      if (result.kind !== 'batches' || result.nextOffset <= offset)
        throw new Error(`${partition.name} cannot be read at offset ${offset}`)
      this.#deliver(result.records, partition)
      offset = result.nextOffset
    }
    return end > begin
  }

  async #makeDurable(partition: Partition, end: number): Promise<void> {
    const { clock, replicas } = this.#o
    try {
      await partition.log.flush()
    } catch (error) {
      replicas.storageFailed(partition, error)
      throw error
    }
    const reached = await partition.reachHighWatermark(end, { timeoutMs: replicationTimeoutMs, clock })
    if (reached !== 'reached') throw new Error(`${partition.name} is not replicated up to offset ${end}: ${reached}`)
  }

  /** Calls the engine once per batch, as atomic as it was appended. */
  #deliver(bytes: Buffer, { name }: Partition): void {
    for (const header of batchesIn(bytes)) {
      const records = isControl(header) ? [] : keyedRecords(bytes, header, name)
      if (records.length > 0) this.#onRecords?.(records)
      this.#replayedOffset = header.lastOffset + 1
    }
  }
}

/** Verified: after a clean stop nobody else looks whether the disk still holds what was written. */
function keyedRecords(bytes: Buffer, header: BatchHeader, name: string): StateRecord[] {
  try {
    verifyBatch(bytes, header)
    return recordsOf(bytes, header).flatMap(({ key, value }) => (key === null ? [] : [{ key, value }]))
  } catch (cause) {
    throw new Error(`${name} is damaged at offset ${header.baseOffset}: ${messageOf(cause)}`, { cause })
  }
}
