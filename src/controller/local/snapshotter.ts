/** Writes metadata snapshots in the background when the log has grown enough, and drops what they make superfluous. The local controller owns one. */
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { imageRecords } from '../../metadata/image-records.ts'
import type { SnapshotBasis } from '../replay-loop.ts'
import { snapshotBatches } from '../snapshot-batches.ts'
import type { MetadataLog } from './metadata-log.ts'
import { cleanMetadataLog, type MetadataRetention } from './metadata-retention.ts'

export interface SnapshotRules {
  /** `metadata.log.max.record.bytes.between.snapshots` */
  readonly bytesBetween: number
  /** `metadata.log.max.snapshot.interval.ms`; 0 = only bytes count. */
  readonly intervalMs: number
  readonly retention: MetadataRetention
}

/** After a failure, so that a full disk is not asked again with every command. */
const RETRY_DELAY_MS = 60_000

export class Snapshotter {
  readonly #log: MetadataLog
  readonly #rules: SnapshotRules
  readonly #clock: Clock
  readonly #logger: Logger
  /** Bytes of records replayed that no snapshot covers. */
  #uncoveredBytes = 0
  /** Monotonic time from which the interval counts. */
  #since: number
  #notBefore = Number.NEGATIVE_INFINITY
  #running: Promise<void> | undefined
  #closed = false

  constructor(options: { log: MetadataLog; rules: SnapshotRules; clock: Clock; logger: Logger }) {
    this.#log = options.log
    this.#rules = options.rules
    this.#clock = options.clock
    this.#logger = options.logger.child({ component: 'metadata-snapshots' })
    this.#since = options.clock.monotonicMs()
  }

  /** These bytes of the log are in the image now or soon. */
  replayed(bytes: Buffer): void {
    this.#uncoveredBytes += bytes.length
  }

  /** To be called after each publication. Starts writing if it is time; never waits for it. */
  published(basis: SnapshotBasis | undefined): void {
    const nowMs = this.#clock.monotonicMs()
    const { bytesBetween, intervalMs } = this.#rules
    const isTime = this.#uncoveredBytes >= bytesBetween || (intervalMs > 0 && nowMs - this.#since >= intervalMs)
    if (!isTime || this.#running || this.#closed || nowMs < this.#notBefore) return
    if (basis === undefined) {
      this.#logger.warn('no metadata snapshot is written: the log holds records of a newer Kafka')
      this.#notBefore = nowMs + RETRY_DELAY_MS
      return
    }
    const covered = this.#uncoveredBytes
    this.#running = this.#write(basis, covered).finally(() => {
      this.#running = undefined
    })
  }

  /** Resolves when no snapshot is being written. */
  async idle(): Promise<void> {
    await this.#running
  }

  /** What is being written is given up: the next start has the log. */
  async close(): Promise<void> {
    this.#closed = true
    await this.idle()
  }

  async #write(basis: SnapshotBasis, coveredBytes: number): Promise<void> {
    const { image, lastContainedTimestamp, quorum } = basis
    const id = { offset: image.offset + 1, epoch: image.epoch }
    const frame = { epoch: image.epoch, timestamp: BigInt(this.#clock.nowMs()), lastContainedTimestamp, quorum }
    try {
      const batches = snapshotBatches(imageRecords(image), frame)
      if (!(await this.#log.snapshots.save(id, batches, () => this.#closed))) return
      this.#uncoveredBytes -= coveredBytes
      this.#since = this.#clock.monotonicMs()
      this.#logger.info('metadata snapshot written', { ...id })
      await cleanMetadataLog(this.#log, this.#rules.retention, this.#clock.nowMs())
    } catch (error) {
      this.#notBefore = this.#clock.monotonicMs() + RETRY_DELAY_MS
      this.#logger.warn('metadata snapshot not written', { ...id, reason: messageOf(error) })
    }
  }
}
