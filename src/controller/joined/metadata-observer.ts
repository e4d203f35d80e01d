/** Follows the metadata log of a quorum as an observer and publishes images of it; a joined node makes one and everything else subscribes. */
import type { Backoff } from '../../core/backoff.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { messageOf, OperationalError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { SerialQueue } from '../../core/serial-queue.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { ImageSubscriber } from '../../metadata/controller-port.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { METADATA_VERSION_LATEST, METADATA_VERSION_MIN } from '../../metadata/record-versions.ts'
import { MetadataReplayError } from '../../metadata/replay-error.ts'
import { ConnectionError } from '../../network/connection-error.ts'
import { errorName } from '../../protocol/errors.ts'
import { DecodeError } from '../../protocol/schema/codec-errors.ts'
import { ReplayLoop } from '../replay-loop.ts'
import type { ActiveController, QuorumLeader } from './active-controller.ts'
import { CommitWaiters } from './commit-waiters.ts'
import { joinedError } from './joined-errors.ts'
import { fetchMetadata, type MetadataAnswer } from './metadata-fetch.ts'
import { placeText } from './quorum-connection.ts'
import { downloadSnapshot } from './snapshot-download.ts'
import { UnappliedBatches } from './unapplied-batches.ts'

export interface MetadataObserverOptions {
  /** A client of its own: a fetch waits at the controller, and other questions would queue behind it. */
  readonly active: ActiveController
  readonly nodeId: number
  readonly directoryId: Uuid
  readonly clusterId: string | null
  /** For one answer, beside what a fetch waits for news. */
  readonly timeoutMs: number
  readonly backoff: Backoff
  readonly clock: Clock
  readonly logger: Logger
  /** Told once, when the log cannot be followed any further by this version: the image stands still from then on. */
  readonly onFailure?: (reason: OperationalError) => void
}

/** How long a fetch waits for news. Also bounds how long a commit stays unseen by controllers before KIP-1166. */
const FETCH_WAIT_MS = 500
/** More than this above the high watermark is no quorum that works: it is fetched again when it is committed. */
const UNAPPLIED_BYTES_MAX = 64 * 1024 * 1024

export class MetadataObserver {
  readonly #options: MetadataObserverOptions
  readonly #loop: ReplayLoop
  readonly #closing = new AbortController()
  /** Publications and subscriptions never overlap. */
  readonly #publications = new SerialQueue()
  readonly #waiters = new CommitWaiters()
  readonly #unapplied = new UnappliedBatches({ offset: 0, epoch: 0 })
  #highWatermark = -1
  #failure: OperationalError | undefined
  readonly #running: Promise<void>

  constructor(options: MetadataObserverOptions) {
    this.#options = options
    const { clusterId, logger } = options
    this.#loop = new ReplayLoop({ clusterId: clusterId ?? '', logger, refusesNewerVersions: true })
    this.#running = this.#run()
  }

  /** The last published image; offset −1 until the first answer has been applied. */
  get image(): MetadataImage {
    return this.#loop.image
  }

  /** Committed records that are not in the image yet, as far as answers have told. */
  get lag(): number {
    return Math.max(0, this.#highWatermark - 1 - this.image.offset)
  }

  /** Why the image stands still for good; undefined while it follows. */
  get failure(): OperationalError | undefined {
    return this.#failure
  }

  subscribe(subscriber: ImageSubscriber): Promise<void> {
    return this.#publications.run(() => this.#loop.subscribe(subscriber))
  }

  /**
   * Resolves when the image shows all that a leader of `epoch` (or a later one) had committed when this was called. Rejects with
   * METADATA_REFUSED or CONTROLLER_CLOSED when that will never be.
   */
  reached(epoch = 0): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure)
    if (this.#closing.signal.aborted) return Promise.reject(joinedError('CONTROLLER_CLOSED', undefined))
    return this.#waiters.add(epoch)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#options.active.close()
    this.#waiters.fail(joinedError('CONTROLLER_CLOSED', undefined))
    await this.#running
    await this.#publications.idle()
  }

  async #run(): Promise<void> {
    const { active, backoff, clock, logger } = this.#options
    const { signal } = this.#closing
    while (!signal.aborted && !this.#failure) {
      try {
        const leader = await active.leader()
        logger.info('following the metadata log', { controller: placeText(leader.place), epoch: leader.epoch })
        await this.#follow(leader)
      } catch (error) {
        if (signal.aborted) return
        if (isHopeless(error)) return this.#fail(joinedError('METADATA_REFUSED', { reason: messageOf(error) }, error))
        logger.warn('the metadata log cannot be followed at present', { reason: messageOf(error) })
      }
      if (!signal.aborted) await sleep(clock, backoff.nextMs(), signal)
    }
  }

  /** Until this leader is one no more. Its connection is closed by then. */
  async #follow(leader: QuorumLeader): Promise<void> {
    const { signal } = this.#closing
    try {
      while (!signal.aborted) {
        this.#waiters.asking(leader.epoch)
        const answer = await this.#fetch(leader)
        if (answer.kind === 'elsewhere') return
        this.#options.backoff.reset()
        await this.#take(answer, leader)
      }
    } finally {
      this.#options.active.lost(leader)
    }
  }

  #fetch(leader: QuorumLeader): Promise<MetadataAnswer> {
    const { nodeId, directoryId, clusterId, timeoutMs } = this.#options
    const { offset, epoch: lastEpoch } = this.#unapplied.end
    const position = {
      replicaId: nodeId,
      directoryId,
      clusterId,
      leaderEpoch: leader.epoch,
      offset,
      lastEpoch,
      highWatermark: this.#highWatermark,
      maxWaitMs: this.#waiters.isEmpty ? FETCH_WAIT_MS : 0,
    }
    return fetchMetadata(leader.connection, position, { timeoutMs, signal: this.#closing.signal })
  }

  async #take(answer: Exclude<MetadataAnswer, { kind: 'elsewhere' }>, leader: QuorumLeader): Promise<void> {
    switch (answer.kind) {
      case 'refused':
        throw new ConnectionError(
          'protocol',
          `${placeText(leader.place)} answers Fetch with ${errorName(answer.errorCode)}`,
        )
      case 'snapshot':
        return await this.#load(answer.id, leader)
      case 'diverging':
        if (!this.#unapplied.cut(answer))
          throw new MetadataReplayError('the controllers took back what they had committed')
        break
      case 'records':
        this.#unapplied.add(answer.bytes)
        if (this.#unapplied.bytes > UNAPPLIED_BYTES_MAX) this.#unapplied.drop()
        break
    }
    this.#highWatermark = Math.max(this.#highWatermark, answer.highWatermark)
    const committed = this.#unapplied.takeCommitted(this.#highWatermark)
    if (committed.length > 0) await this.#publish(() => this.#apply(committed))
    this.#waiters.answered(this.#highWatermark - 1)
    this.#waiters.applied(this.#unapplied.applied.offset - 1)
  }

  async #apply(committed: Buffer): Promise<void> {
    this.#loop.replay(committed)
    await this.#loop.publish()
  }

  async #load(id: { readonly offset: number; readonly epoch: number }, leader: QuorumLeader): Promise<void> {
    const { nodeId: replicaId, directoryId, clusterId, timeoutMs, logger } = this.#options
    if (id.offset < this.#unapplied.applied.offset)
      throw new ConnectionError('protocol', `a snapshot up to ${id.offset} was offered, which we are past`)
    const question = { replicaId, directoryId, clusterId, leaderEpoch: leader.epoch, id }
    const snapshot = await downloadSnapshot(leader.connection, question, { timeoutMs, signal: this.#closing.signal })
    await this.#publish(() => this.#loop.reload(snapshot, id))
    this.#unapplied.restart(id)
    this.#highWatermark = Math.max(this.#highWatermark, id.offset)
    logger.info('the metadata was read from a snapshot', { offset: id.offset, epoch: id.epoch })
  }

  async #publish(job: () => Promise<void>): Promise<void> {
    try {
      await this.#publications.run(job)
    } catch (error) {
      throw new MetadataReplayError(messageOf(error))
    }
    const level = this.image.features.get('metadata.version')
    if (level !== undefined && (level < METADATA_VERSION_MIN || level > METADATA_VERSION_LATEST))
      throw new MetadataReplayError(
        `the cluster is at metadata.version ${level}; this node understands ${METADATA_VERSION_MIN} to ${METADATA_VERSION_LATEST}`,
      )
  }

  #fail(reason: OperationalError): void {
    this.#failure = reason
    this.#options.logger.error(reason.message)
    this.#waiters.fail(reason)
    this.#options.onFailure?.(reason)
  }
}

/** What no other controller and no later moment will make better. A damaged answer may be whole the next time. */
const isHopeless = (error: unknown): boolean =>
  error instanceof MetadataReplayError ||
  error instanceof DecodeError ||
  (error instanceof OperationalError && error.code === 'OTHER_CLUSTER')
