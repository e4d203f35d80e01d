/** One partition that another broker leads and this node follows: what its fetcher does to the log. ReplicaSet owns it, the fetcher of its leader drives it. */
import assert from 'node:assert/strict'
import type { PartitionImage } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { PartitionUnavailable } from '../partition-unavailable.ts'
import { Replica } from '../replica.ts'

/** Where the next fetch continues, and under which epoch. */
export interface FollowPosition {
  readonly leaderEpoch: number
  readonly fetchOffset: number
  /** Of the last batch here; -1 = none. */
  readonly lastFetchedEpoch: number
}

/** What an answer says of the leader's log. */
export interface LeaderLog {
  readonly highWatermark: number
  readonly logStartOffset: number
}

/** Every change runs in the queue of writes and under the leader epoch of the fetch that led to it: after a change of leader it rejects with PartitionUnavailable. */
export class FollowedPartition extends Replica {
  #problem: string | undefined

  /** -1 = nobody leads. */
  get leader(): number {
    return this.assignment.leader
  }

  get position(): FollowPosition {
    const { logEndOffset, latestEpoch = -1 } = this.log
    return { leaderEpoch: this.leaderEpoch, fetchOffset: logEndOffset, lastFetchedEpoch: latestEpoch }
  }

  /** Why it does not follow at present, for people; undefined while it does. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Whether that is news. */
  tellProblem(problem: string | undefined): boolean {
    if (problem === this.#problem) return false
    this.#problem = problem
    return true
  }

  /** Follows the image. What is being done under the epoch before has ended when it resolves. */
  async follow(assignment: PartitionImage): Promise<void> {
    await this.writes.run(() => {
      assert(assignment.leader !== this.brokerId, `${this.name} is led elsewhere`)
      this.assignment = assignment
      this.changed()
    })
  }

  /** Appends whole verified batches of the leader. */
  async append(batches: Buffer, from: FollowPosition): Promise<void> {
    await this.#change(from, async () => {
      const { fetchOffset: expectedEndOffset, leaderEpoch } = from
      await this.log.appendAsFollower(batches, { expectedEndOffset, leaderEpoch })
      this.countAppended(batches.length)
    })
  }

  /** Takes over high watermark and log start of the leader, as far as the log here reaches. */
  async heard(leader: LeaderLog, from: FollowPosition): Promise<void> {
    const { logStartOffset, logEndOffset } = this.log
    if (this.highWatermark >= Math.min(leader.highWatermark, logEndOffset) && logStartOffset >= leader.logStartOffset)
      return
    await this.#change(from, async () => {
      this.raiseHighWatermark(Math.min(leader.highWatermark, this.log.logEndOffset))
      const start = Math.min(leader.logStartOffset, this.highWatermark)
      if (start > this.log.logStartOffset) await this.log.raiseLogStartOffset(start)
    })
  }

  /** Drops everything from `offset` on. */
  async truncateTo(offset: number, from: FollowPosition): Promise<void> {
    await this.#change(from, async () => {
      await this.log.truncateTo(offset)
      this.clampHighWatermark()
    })
  }

  /** Drops everything and begins at `offset`, the leader's log start. */
  async startAt(offset: number, from: FollowPosition): Promise<void> {
    await this.#change(from, async () => {
      await this.log.truncateFullyAndStartAt(offset)
      this.clampHighWatermark()
    })
  }

  async #change(from: FollowPosition, work: () => Promise<void>): Promise<void> {
    await this.writes.run(async () => {
      this.assertAvailable()
      if (this.leaderEpoch !== from.leaderEpoch)
        throw new PartitionUnavailable(ErrorCode.FENCED_LEADER_EPOCH, `${this.name} has another leader epoch by now`)
      await work()
      this.changed()
    })
  }
}
