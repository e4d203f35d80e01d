/** One partition that this node leads: epoch, in-sync replicas and high watermark over its log. ReplicaSet owns it; appends, fetches and the destination of links work on it. */
import assert from 'node:assert/strict'
import type { PartitionImage } from '../metadata/metadata-image.ts'
import type { FollowerFetch, ToldOffsets } from './leading/follower-state.ts'
import { InSyncReplicas } from './leading/in-sync-replicas.ts'
import type { IsrProposal } from './leading/isr-proposal.ts'
import { type LeaderContext, withoutPeers } from './leading/leader-context.ts'
import { Replica, type ReplicaOptions } from './replica.ts'
import { TransactionVerifications } from './transaction-verifications.ts'

export class Partition extends Replica {
  /** Producers that are asking whether their records belong to an ongoing transaction. */
  readonly verifications = new TransactionVerifications()
  readonly #context: LeaderContext
  readonly #replicas: InSyncReplicas

  /** `context` default: a node without peers. */
  constructor(options: ReplicaOptions & { readonly context?: LeaderContext | undefined }) {
    super(options)
    const { brokerId, assignment, context = withoutPeers } = options
    const { logEndOffset } = options.log
    this.#context = context
    this.#replicas = new InSyncReplicas({ brokerId, assignment, logEndOffset, context })
    this.#advanceHighWatermark()
  }

  /** Members for sure: without those whose removal the controller is being asked for. */
  get isr(): readonly number[] {
    return this.#replicas.certain
  }

  /** False until the high watermark has reached what the leader before may have told clients (KIP-207). */
  get knowsEnd(): boolean {
    return this.highWatermark >= Math.min(this.#replicas.epochStart, this.log.logEndOffset)
  }

  /** The ISR that the controller shall be asked for. */
  get isrProposal(): IsrProposal | undefined {
    return this.#replicas.proposal
  }

  /** Log ends of the followers, -1 for one that has not fetched in this leader epoch. */
  get followerEnds(): ReadonlyMap<number, number> {
    return this.#replicas.followerEnds
  }

  /**
   * Largest log end of any replica that may be elected, this one included: above the log end until a cut has reached all of them.
   * Undefined = not all have fetched in this leader epoch, or so few are in sync that others may be elected too.
   */
  get replicasEnd(): number | undefined {
    const { isr } = this.assignment
    if (isr.length < this.effectiveMinIsr) return undefined
    let end = this.log.logEndOffset
    for (const id of isr) {
      if (id === this.brokerId) continue
      const followerEnd = this.followerEnds.get(id) ?? -1
      if (followerEnd < 0) return undefined
      end = Math.max(end, followerEnd)
    }
    return end
  }

  /** `min.insync.replicas`, never more than there are replicas. */
  get effectiveMinIsr(): number {
    return Math.min(this.settings.minInsyncReplicas, this.assignment.replicas.length)
  }

  /** Follows the image: a new leader epoch starts at the log end, after every write queued before it. */
  async lead(assignment: PartitionImage): Promise<void> {
    await this.writes.run(async () => {
      assert(assignment.leader === this.brokerId, `${this.name} is led by this node`)
      assert(assignment.leaderEpoch >= this.leaderEpoch, `leader epochs of ${this.name} do not decrease`)
      if ((this.log.latestEpoch ?? -1) < assignment.leaderEpoch)
        await this.log.assignEpochStart(assignment.leaderEpoch, this.log.logEndOffset)
      this.#replicas.follow(assignment, this.log.logEndOffset)
      this.assignment = assignment
      this.#advanceHighWatermark()
      this.changed()
    })
  }

  /**
   * Records how far a follower has come, after its epoch and offset were checked; proposes to take it into the ISR where it is
   * in sync. Throws PartitionUnavailable if it is no replica that the image knows.
   */
  followerFetched(fetch: FollowerFetch): void {
    const { logEndOffset } = this.log
    this.#replicas.fetched(fetch, logEndOffset)
    const { highWatermark } = this
    if (this.#replicas.expandBy(fetch.replicaId, { logEndOffset, highWatermark })) this.#context.isrChangeWanted(this)
    if (this.#advanceHighWatermark()) this.changed()
  }

  /** To be called now and then: proposes to remove who lags, and stops waiting for who was about to join. */
  checkFollowers(): void {
    const { logEndOffset } = this.log
    if (this.#replicas.shrink({ logEndOffset, highWatermark: this.highWatermark })) this.#context.isrChangeWanted(this)
    if (this.#advanceHighWatermark()) this.changed()
  }

  /** The controller has refused that ISR, and will never commit it. */
  isrRefused(proposal: IsrProposal): void {
    this.#replicas.refused(proposal)
    if (this.#advanceHighWatermark()) this.changed()
  }

  /** Has the follower not been told these? Then it waits for nothing: what it may serve depends on them. */
  followerLacks(replicaId: number, offsets: ToldOffsets): boolean {
    return this.#replicas.lacks(replicaId, offsets)
  }

  followerTold(replicaId: number, offsets: ToldOffsets): void {
    this.#replicas.told(replicaId, offsets)
  }

  /** To be called after every append, in the same turn as the log's answer. */
  appended(bytes: number): void {
    this.countAppended(bytes)
    this.#advanceHighWatermark()
    this.changed()
  }

  /**
   * Would followers not notice a cut there? What was appended in the present leader epoch may be with them already; other batches
   * under the same epoch would take its place unseen. Cut before the first append of an epoch.
   */
  cutNeedsNewEpoch(offset: number): boolean {
    const { logEndOffset } = this.log
    const hasFollowers = this.assignment.replicas.length > 1
    return hasFollowers && offset < logEndOffset && this.log.epochAt(logEndOffset - 1) === this.leaderEpoch
  }

  /** To be called after the log was cut or began anew: the only thing that lowers the high watermark. */
  truncated(): void {
    this.clampHighWatermark()
    this.#replicas.truncated(this.log.logEndOffset)
    this.#advanceHighWatermark()
    this.changed()
  }

  #advanceHighWatermark(): boolean {
    // Too few replicas make no promises: eligible leaders (KIP-966) rely on it.
    if (this.isr.length < this.effectiveMinIsr) return false
    return this.raiseHighWatermark(this.#replicas.end(this.log.logEndOffset))
  }
}
