/**
 * The in-sync replicas of a led partition as Kafka keeps them: the committed set, a change that is under way, and how far each
 * follower has come. Partition owns one; the controller alone decides what is committed (AlterPartition, KIP-497).
 */
import type { PartitionImage } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { PartitionUnavailable } from '../partition-unavailable.ts'
import { type FollowerFetch, FollowerState, type ToldOffsets } from './follower-state.ts'
import type { IsrProposal } from './isr-proposal.ts'
import type { LeaderContext } from './leader-context.ts'

/** The leader's log at the moment of a question. */
export interface LeaderOffsets {
  readonly logEndOffset: number
  readonly highWatermark: number
}

export class InSyncReplicas {
  readonly #brokerId: number
  readonly #context: LeaderContext
  readonly #followers = new Map<number, FollowerState>()
  #assignment: PartitionImage
  #proposal: IsrProposal | undefined
  /** Log end when the present leader epoch began; only who has come past it can be in sync. */
  #epochStart: number

  constructor(options: {
    readonly brokerId: number
    readonly assignment: PartitionImage
    readonly logEndOffset: number
    readonly context: LeaderContext
  }) {
    this.#brokerId = options.brokerId
    this.#assignment = options.assignment
    this.#context = options.context
    this.#epochStart = options.logEndOffset
    this.#forgetFollowers()
  }

  /** The log end when this leader epoch began: what was below may have been told to clients by the leader before. */
  get epochStart(): number {
    return this.#epochStart
  }

  /** The change that the controller is asked for, until the image shows a later state or it is refused. */
  get proposal(): IsrProposal | undefined {
    return this.#proposal
  }

  /** Members for sure: those of the committed set that no change under way removes. */
  get certain(): readonly number[] {
    const { isr } = this.#assignment
    return this.#proposal ? isr.filter(id => this.#proposal?.isr.includes(id)) : isr
  }

  /** Follows the image. */
  follow(assignment: PartitionImage, logEndOffset: number): void {
    const before = this.#assignment
    this.#assignment = assignment
    const epochChanged = assignment.leaderEpoch !== before.leaderEpoch
    if (epochChanged) this.#epochStart = logEndOffset
    if (epochChanged || assignment.partitionEpoch > (this.#proposal?.partitionEpoch ?? -1)) this.#proposal = undefined
    if (epochChanged) this.#forgetFollowers()
    else for (const id of this.#followers.keys()) if (!assignment.replicas.includes(id)) this.#followers.delete(id)
    for (const id of this.#others()) if (!this.#followers.has(id)) this.#followers.set(id, this.#unseen(id))
  }

  /** The log was cut: the epoch begins at its end at the latest. */
  truncated(logEndOffset: number): void {
    this.#epochStart = Math.min(this.#epochStart, logEndOffset)
  }

  /** Records how far a follower has come. Throws PartitionUnavailable if it is none that the image knows, or one of an earlier life. */
  fetched(fetch: FollowerFetch, logEndOffset: number): void {
    const { replicaId, brokerEpoch } = fetch
    const follower = this.#followers.get(replicaId)
    // Kafka's choice: our image may be behind, so it shall ask again.
    if (!follower)
      throw new PartitionUnavailable(ErrorCode.UNKNOWN_LEADER_EPOCH, `broker ${replicaId} is no replica here`)
    const known = this.#context.brokerEpoch(replicaId)
    if (brokerEpoch !== -1 && known !== undefined && known > brokerEpoch)
      throw new PartitionUnavailable(
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        `broker ${replicaId} fetches under epoch ${brokerEpoch}, but is registered under ${known}`,
      )
    follower.fetched(fetch, { endOffset: logEndOffset, nowMs: this.#context.nowMs() })
  }

  /** First offset that a replica which counts does not have. A member of a set that may be committed counts, and who is about to join. */
  end(logEndOffset: number): number {
    let end = logEndOffset
    for (const [id, follower] of this.#followers)
      if (follower.endOffset < end && (this.#mayBeMember(id) || this.#isJoining(follower, { id, logEndOffset })))
        end = follower.endOffset
    return end
  }

  /** Proposes the set with that follower if it is in sync; false if there is nothing to propose. */
  expandBy(replicaId: number, leader: LeaderOffsets): boolean {
    const { isr } = this.#assignment
    const follower = this.#followers.get(replicaId)
    if (this.#proposal || !follower || isr.includes(replicaId)) return false
    if (!this.#context.isEligible(replicaId, follower.brokerEpoch)) return false
    if (follower.endOffset < Math.max(leader.highWatermark, this.#epochStart)) return false
    return this.#propose([...isr, replicaId])
  }

  /** Proposes the set without those that have not been caught up for too long; false if there are none. */
  shrink({ logEndOffset }: LeaderOffsets): boolean {
    const { isr } = this.#assignment
    if (this.#proposal) return false
    const leader = { endOffset: logEndOffset, nowMs: this.#context.nowMs() }
    const isLate = (id: number) =>
      id !== this.#brokerId && this.#followers.get(id)?.isCaughtUp(leader, this.#context.lagTimeMaxMs) === false
    const left = isr.filter(id => !isLate(id))
    return left.length < isr.length && this.#propose(left)
  }

  /** The controller has refused it for sure, so that it can never be committed. */
  refused(proposal: IsrProposal): void {
    if (this.#proposal === proposal) this.#proposal = undefined
  }

  /** Does the follower not know these? */
  lacks(replicaId: number, offsets: ToldOffsets): boolean {
    return this.#followers.get(replicaId)?.lacks(offsets) ?? false
  }

  told(replicaId: number, offsets: ToldOffsets): void {
    this.#followers.get(replicaId)?.told(offsets)
  }

  /** Log ends of the followers, -1 for one that has not fetched in this epoch. */
  get followerEnds(): ReadonlyMap<number, number> {
    return new Map(Array.from(this.#followers, ([id, { endOffset }]) => [id, endOffset]))
  }

  #propose(isr: readonly number[]): boolean {
    const { leaderEpoch, partitionEpoch } = this.#assignment
    const memberEpochs = new Map(isr.map(id => [id, this.#followers.get(id)?.brokerEpoch ?? -1]))
    this.#proposal = { isr, leaderEpoch, partitionEpoch, memberEpochs }
    return true
  }

  #mayBeMember(id: number): boolean {
    return this.#assignment.isr.includes(id) || this.#proposal?.isr.includes(id) === true
  }

  #isJoining(follower: FollowerState, at: { readonly id: number; readonly logEndOffset: number }): boolean {
    const leader = { endOffset: at.logEndOffset, nowMs: this.#context.nowMs() }
    return (
      follower.isCaughtUp(leader, this.#context.lagTimeMaxMs) && this.#context.isEligible(at.id, follower.brokerEpoch)
    )
  }

  #others(): number[] {
    return this.#assignment.replicas.filter(id => id !== this.#brokerId)
  }

  #forgetFollowers(): void {
    this.#followers.clear()
    for (const id of this.#others()) this.#followers.set(id, this.#unseen(id))
  }

  #unseen(id: number): FollowerState {
    return new FollowerState({ inSync: this.#assignment.isr.includes(id), nowMs: this.#context.nowMs() })
  }
}
