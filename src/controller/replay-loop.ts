/** Turns the metadata log into images and publishes them: fed by the local controller (and, in joined mode, by the observer of the quorum). */
import assert from 'node:assert/strict'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { ImageSubscriber } from '../metadata/controller-port.ts'
import { type MetadataDelta, replacedImageDelta, wholeImageDelta } from '../metadata/metadata-delta.ts'
import { MetadataEditor } from '../metadata/metadata-editor.ts'
import { emptyImage, type MetadataImage } from '../metadata/metadata-image.ts'
import { MetadataTransactions } from '../metadata/metadata-transactions.ts'
import { MetadataReplayError } from '../metadata/replay-error.ts'
import { MetadataRecordType } from '../protocol/metadata-records/registry.ts'
import {
  type MetadataBatch,
  metadataBatchesIn,
  newLeaderOf,
  RaftControlType,
  type RaftRecord,
} from './metadata-batches.ts'
import type { SnapshotContents } from './snapshot-batches.ts'

/** What a snapshot of the present image is made from. */
export interface SnapshotBasis {
  readonly image: MetadataImage
  readonly lastContainedTimestamp: bigint
  readonly quorum: readonly RaftRecord[]
}

const quorumRecordTypes = {
  'kraft-version': RaftControlType.KRAFT_VERSION,
  'kraft-voters': RaftControlType.KRAFT_VOTERS,
} as const

const knownTypes: ReadonlySet<number> = new Set(Object.values(MetadataRecordType))

/**
 * Order is the caller's duty: `replay` and `publish` are never called while an earlier `publish` or `subscribe` runs.
 * Subscribers run in the order of registration: replica → coordinator → broker → destination.
 */
export class ReplayLoop {
  readonly #logger: Logger
  readonly #refusesNewer: boolean
  readonly #subscribers: ImageSubscriber[] = []
  #transactions = new MetadataTransactions()
  readonly #unknownTypes = new Set<number>()
  #image: MetadataImage
  #editor: MetadataEditor | undefined
  #offset: number
  #epoch: number
  #controllerId: number
  #timestamp = 0n
  /** By type: the newest version and voters of a quorum with changeable voters. */
  readonly #quorum = new Map<number, Buffer>()
  /** Why the image cannot be trusted any more; every later step fails with it. */
  #failure: unknown

  constructor(options: {
    readonly clusterId: string
    readonly logger: Logger
    /** A record of a type that we know, in a version that we do not, is an error: without it the image would be wrong. Default: skipped. */
    readonly refusesNewerVersions?: boolean
  }) {
    this.#logger = options.logger
    this.#refusesNewer = options.refusesNewerVersions ?? false
    this.#image = emptyImage(options.clusterId)
    this.#offset = this.#image.offset
    this.#epoch = this.#image.epoch
    this.#controllerId = this.#image.controllerId
  }

  /** The last published image. */
  get image(): MetadataImage {
    return this.#image
  }

  /** Did the log end inside a metadata transaction? Nothing is published until it ends. */
  get inTransaction(): boolean {
    return this.#transactions.isOpen
  }

  /** Undefined if records were skipped that this version does not know: a snapshot without them would lose them. */
  get snapshotBasis(): SnapshotBasis | undefined {
    if (this.#unknownTypes.size > 0) return undefined
    return { image: this.#image, lastContainedTimestamp: this.#timestamp, quorum: [...this.#quorum] }
  }

  /** Begins with a snapshot that covers the log up to `end` (exclusive); nothing may have been replayed before. Throws MetadataReplayError. */
  load(snapshot: SnapshotContents, end: { readonly offset: number; readonly epoch: number }): void {
    assert(this.#offset < 0, 'a snapshot comes before all else')
    for (const batch of snapshot.batches) this.#replayBatch(batch)
    this.#offset = end.offset - 1
    this.#epoch = end.epoch
    this.#timestamp = snapshot.lastContainedTimestamp
  }

  /** Begins again with a snapshot that covers the log up to `end` (exclusive), whatever was replayed before, and publishes. Throws MetadataReplayError. */
  async reload(snapshot: SnapshotContents, end: { readonly offset: number; readonly epoch: number }): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    const before = this.#image
    this.#transactions = new MetadataTransactions()
    this.#editor = new MetadataEditor(emptyImage(before.clusterId))
    this.#quorum.clear()
    try {
      for (const batch of snapshot.batches) this.#replayBatch(batch)
    } catch (error) {
      this.#failure = error
      throw error
    }
    this.#offset = end.offset - 1
    this.#epoch = end.epoch
    this.#timestamp = snapshot.lastContainedTimestamp
    const { image } = this.#editor.finish(this.#position)
    this.#editor = undefined
    await this.#show(image, replacedImageDelta(before, image))
  }

  get #position() {
    return { offset: this.#offset, epoch: this.#epoch, controllerId: this.#controllerId }
  }

  async #show(image: MetadataImage, delta: MetadataDelta): Promise<void> {
    this.#image = image
    for (const subscriber of this.#subscribers) await this.#deliver(subscriber, delta)
  }

  /** Applies the complete batches in `bytes` without publishing. Throws BatchError, DecodeError or MetadataReplayError: the loop is then unusable. */
  replay(bytes: Buffer): void {
    if (this.#failure !== undefined) throw this.#failure
    try {
      for (const batch of metadataBatchesIn(bytes)) this.#replayBatch(batch)
    } catch (error) {
      this.#failure = error
      throw error
    }
  }

  #replayBatch(batch: MetadataBatch): void {
    this.#offset = batch.lastOffset
    this.#epoch = batch.epoch
    this.#timestamp = batch.timestamp
    this.#controllerId = newLeaderOf(batch) ?? this.#controllerId
    for (const control of batch.controls)
      if ((control.type === 'kraft-version' || control.type === 'kraft-voters') && control.value !== null)
        this.#quorum.set(quorumRecordTypes[control.type], Buffer.from(control.value))
    for (const record of batch.records) {
      if ('unknown' in record) {
        this.#noteUnknown(record.type, record.version)
        continue
      }
      for (const effective of this.#transactions.push(record)) {
        this.#editor ??= new MetadataEditor(this.#image)
        this.#editor.apply(effective)
      }
    }
  }

  /** Publishes what was replayed since the last time and waits for all subscribers. A subscriber that fails does not stop the others. */
  async publish(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#transactions.isOpen || this.#offset === this.#image.offset) return
    const editor = this.#editor ?? new MetadataEditor(this.#image)
    this.#editor = undefined
    const { image, delta } = editor.finish(this.#position)
    await this.#show(image, delta)
  }

  /** Registers a subscriber and gives it the whole image. */
  async subscribe(subscriber: ImageSubscriber): Promise<void> {
    this.#subscribers.push(subscriber)
    await this.#deliver(subscriber, wholeImageDelta(this.#image))
  }

  async #deliver(subscriber: ImageSubscriber, delta: MetadataDelta): Promise<void> {
    try {
      await subscriber.onImage(this.#image, delta)
    } catch (error) {
      this.#logger.error('a subscriber of the metadata image failed', {
        subscriber: subscriber.name,
        offset: this.#image.offset,
        reason: messageOf(error),
      })
    }
  }

  #noteUnknown(type: number, version: number): void {
    if (this.#refusesNewer && knownTypes.has(type))
      throw new MetadataReplayError(
        `the metadata log holds records of type ${type} in version ${version}, which this node does not know`,
      )
    if (this.#unknownTypes.has(type)) return
    this.#unknownTypes.add(type)
    this.#logger.warn('the metadata log holds records of a newer Kafka; they are skipped', { type, version })
  }
}
