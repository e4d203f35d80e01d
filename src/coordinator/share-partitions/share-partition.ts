/**
 * One partition as one share group reads it (KIP-932): which records members hold, for how long, and what became of them. The
 * group's state is in `__share_group_state`; what is answered of acknowledgements is durable there. SharePartitions keeps them,
 * the handlers of ShareFetch and ShareAcknowledge use them.
 */
import type { Clock, Timer } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { AnswerMemory } from '../../replica/answer-memory.ts'
import type { Partition } from '../../replica/partition.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { ShareKey, SharePersister, StateBatch } from '../share-state/share-persister.ts'
import { type Acknowledgement, beginAcknowledging, stateBatch } from './acknowledge-records.ts'
import { type AcquireLimits, type Acquisition, acquireRecords, archiveFree } from './acquire-records.ts'
import { InFlight, type Run } from './in-flight.ts'
import { forgetBeyond, loadInFlight } from './load-in-flight.ts'
import { readForGroup, type ShareRead } from './read-for-group.ts'
import { nextState, recordStates } from './record-state.ts'
import { answerOfPersister, isFencing } from './share-errors.ts'
import type { ShareGroupSettings } from './share-settings.ts'
import { ShareWrites } from './share-writes.ts'

export interface SharePartitionOptions {
  readonly key: ShareKey
  readonly partition: Partition
  readonly persister: SharePersister
  /** As they are now. */
  readonly settings: () => ShareGroupSettings
  /** Called once, when this one is not to be used any more: its state belongs to a later epoch, or the log was cut. */
  readonly ended: (self: SharePartition) => void
  readonly clock: Clock
  readonly logger: Logger
}

export type AcquireRequest = Pick<AcquireLimits, 'memberId' | 'recordsMax' | 'mode' | 'batchSize'>

/** Reads that find nothing but offsets without records, one after the other in one fetch. */
const EMPTY_READS_MAX = 100

export class SharePartition {
  readonly key: ShareKey
  readonly partition: Partition
  readonly leaderEpoch: number
  readonly #options: SharePartitionOptions
  readonly #writes: ShareWrites
  readonly #watchers = new Set<() => void>()
  #inFlight = new InFlight(0)
  #stateEpoch = 0
  #loading: Promise<void> | undefined
  #isReading = false
  /** Somebody else wanted to read meanwhile. */
  #isAwaited = false
  #ended: CoordinatorError | undefined
  /** Ends the watch over the log. */
  #unwatch: (() => void) | undefined
  #timer: { readonly atMs: number; readonly timer: Timer } | undefined

  constructor(options: SharePartitionOptions) {
    this.#options = options
    this.key = options.key
    this.partition = options.partition
    this.leaderEpoch = options.partition.leaderEpoch
    const fields = { groupId: options.key.groupId, partition: options.partition.name }
    this.#writes = new ShareWrites(batches => this.#write(batches), { logger: options.logger, fields })
  }

  get inFlight(): Pick<InFlight, 'startOffset' | 'endOffset' | 'runs' | 'doneCount'> {
    return this.#inFlight
  }

  /** Reads the state; once, or again after it failed. Rejects with CoordinatorError, the code to answer. */
  async load(): Promise<void> {
    if (this.#ended) throw this.#ended
    this.#loading ??= this.#load()
    await this.#loading
  }

  /** Calls `watcher` when a member may get more than before, until the returned function is called. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /**
   * Reads what a member may get next; nobody else reads until `acquire` or `giveBack`. Resolves to undefined if there is nothing
   * now. Rejects with CoordinatorError or PartitionUnavailable.
   */
  async read(limits: { readonly bytesMax: number; readonly memory: AnswerMemory }): Promise<ShareRead | undefined> {
    if (this.#ended) throw this.#ended
    if (this.#isReading) this.#isAwaited = true
    if (this.#isReading) return undefined
    this.#isReading = true
    let found: ShareRead | undefined
    try {
      for (let attempt = 0; attempt < EMPTY_READS_MAX && !found; attempt++) {
        const fetchOffset = this.#nextFetchOffset()
        if (fetchOffset === undefined) break
        const { isolation } = this.#options.settings()
        const read = await readForGroup(this.partition, { ...limits, fetchOffset, isolation })
        if (this.#ended) throw this.#ended
        if (!read) break
        if (read.range.batches.length > 0) found = read
        else this.#setAside(read)
      }
      return found
    } finally {
      if (!found) this.giveBack()
    }
  }

  /** The member holds what it gives from now on. */
  acquire(read: ShareRead, request: AcquireRequest): Acquisition {
    const { lockMs, recordLocksMax, deliveryCountMax } = this.#options.settings()
    const lockedUntilMs = this.#options.clock.monotonicMs() + lockMs
    const limits = { ...request, recordLocksMax, deliveryCountMax, lockedUntilMs }
    const acquisition = acquireRecords(this.#inFlight, read.range, limits)
    if (acquisition.acquired.length > 0) this.#wakeAt(lockedUntilMs)
    if (acquisition.foundEmpty && this.#inFlight.advance()) this.#writes.soon([])
    this.giveBack()
    return acquisition
  }

  /** Ends a read of which nothing is taken. */
  giveBack(): void {
    this.#isReading = false
    if (!this.#isAwaited) return
    this.#isAwaited = false
    this.#changed()
  }

  /** Resolves when what the member says is durable. Rejects with CoordinatorError: then nothing has changed. */
  async acknowledge(memberId: string, acknowledgements: readonly Acknowledgement[]): Promise<void> {
    if (this.#ended) throw this.#ended
    this.#followLog()
    const { lockMs, deliveryCountMax, mayRenew } = this.#options.settings()
    const lockedUntilMs = this.#options.clock.monotonicMs() + lockMs
    const rules = { memberId, deliveryCountMax, mayRenew, lockedUntilMs }
    const changes = beginAcknowledging(this.#inFlight, acknowledgements, rules)
    this.#wakeAt(lockedUntilMs)
    if (changes.length === 0) return
    try {
      await this.#writes.now(changes)
      this.#finish(changes, true)
    } catch (error) {
      this.#finish(changes, false)
      throw answerOfPersister(error)
    }
  }

  /** The member is gone: what it holds is free again, or archived if it was delivered often enough. */
  releaseAll(memberId: string): void {
    this.#expire(run => run.memberId === memberId)
  }

  /** Resolves when no write is under way any more. */
  settled(): Promise<void> {
    return this.#writes.settled()
  }

  /** Ends the use of this one; those who come later are told the error. */
  end(errorCode: number): void {
    if (this.#ended) return
    this.#ended = new CoordinatorError(errorCode)
    this.#timer?.timer.cancel()
    this.#unwatch?.()
    this.#options.ended(this)
    this.#changed()
  }

  async #load(): Promise<void> {
    const { key, partition, leaderEpoch } = this
    try {
      const loaded = await loadInFlight({ ...this.#options, key, partition, leaderEpoch })
      this.#inFlight = loaded.inFlight
      this.#stateEpoch = loaded.stateEpoch
      this.#unwatch = partition.watch(() => this.#endIfCut())
    } catch (error) {
      this.#loading = undefined
      const answer = answerOfPersister(error)
      this.end(answer.errorCode)
      throw answer
    }
  }

  /** undefined: nothing may be read now. */
  #nextFetchOffset(): number | undefined {
    this.#followLog()
    const { recordLocksMax, isolation } = this.#options.settings()
    const { nextFetchOffset, endOffset, span } = this.#inFlight
    if (nextFetchOffset === endOffset && span >= recordLocksMax) return undefined
    const bound = isolation === 'read_committed' ? this.partition.lastStableOffset : this.partition.highWatermark
    return nextFetchOffset < bound ? nextFetchOffset : undefined
  }

  /** To be noticed at once: what is written afterwards lies at the same offsets and is something else. */
  #endIfCut(): void {
    const { key, partition, leaderEpoch } = this
    const isLeading = !partition.unavailable && partition.leaderEpoch === leaderEpoch
    if (isLeading && !this.#inFlight.dropFrom(partition.log.logEndOffset)) return
    if (isLeading && !this.#ended)
      this.#writes.track(
        forgetBeyond({ ...this.#options, key, partition, leaderEpoch }, this.#stateEpoch, this.#inFlight),
      )
    this.end(ErrorCode.NOT_LEADER_OR_FOLLOWER)
  }

  /** The log may begin later than before. Throws CoordinatorError if nothing here counts any more. */
  #followLog(): void {
    this.#endIfCut()
    if (this.#ended) throw this.#ended
    if (this.#inFlight.dropBelow(this.partition.log.logStartOffset)) this.#writes.soon([])
  }

  /** Offsets without records are done. */
  #setAside({ fetchOffset, range }: ShareRead): void {
    this.#inFlight.extend(range.endOffset)
    archiveFree(this.#inFlight, fetchOffset, range.endOffset - 1)
    if (this.#inFlight.advance()) this.#writes.soon([])
  }

  /** What was acknowledged is so, or is not. */
  #finish(changes: readonly StateBatch[], isDurable: boolean): void {
    for (const { firstOffset, lastOffset } of changes)
      this.#inFlight.update(firstOffset, lastOffset, ({ pending, ...run }) => {
        if (!pending || !isDurable) return run
        return { state: pending.to, deliveryCount: run.deliveryCount }
      })
    if (isDurable) this.#inFlight.advance()
    // Locks that ran out meanwhile.
    else this.#wakeAt(this.#options.clock.monotonicMs())
    this.#changed()
  }

  /** Ends locks; what comes of it is made durable behind. */
  #expire(isOver: (run: Run) => boolean): void {
    const { deliveryCountMax: countMax } = this.#options.settings()
    const batches: StateBatch[] = []
    for (const run of this.#inFlight.runs.filter(run => run.state === 'acquired' && !run.pending && isOver(run))) {
      const { deliveryCount } = run
      const state = nextState(run.state, 'expire', { count: deliveryCount, countMax }) ?? run.state
      batches.push(stateBatch(run, state))
      this.#inFlight.update(run.firstOffset, run.lastOffset, () => ({ state, deliveryCount }))
    }
    if (batches.length === 0) return
    this.#inFlight.advance()
    this.#writes.soon(batches)
    this.#changed()
  }

  #wakeAt(atMs: number): void {
    if (this.#ended || (this.#timer && this.#timer.atMs <= atMs)) return
    this.#timer?.timer.cancel()
    const { clock } = this.#options
    const timer = clock.after(Math.max(0, atMs - clock.monotonicMs()), () => this.#locksRanOut())
    this.#timer = { atMs, timer }
  }

  #locksRanOut(): void {
    this.#timer = undefined
    const nowMs = this.#options.clock.monotonicMs()
    this.#expire(({ lockedUntilMs }) => (lockedUntilMs ?? 0) <= nowMs)
    const next = this.#inFlight.runs.flatMap(run => (run.pending ? [] : (run.lockedUntilMs ?? [])))
    if (next.length > 0) this.#wakeAt(Math.min(...next))
  }

  /** Rejects with what the persister says; fenced, this one ends. */
  async #write(batches: readonly StateBatch[]): Promise<void> {
    const done = batches.filter(({ deliveryState }) => deliveryState !== recordStates.available.id)
    const pendingDone = done.reduce((sum, batch) => sum + this.#undone(batch), 0)
    const change = {
      stateEpoch: this.#stateEpoch,
      leaderEpoch: this.leaderEpoch,
      startOffset: this.#inFlight.startOffset,
      deliveryCompleteCount: this.#inFlight.doneCount + pendingDone,
      batches,
    }
    try {
      await this.#options.persister.write(this.key, change)
    } catch (error) {
      if (isFencing(error)) this.end(answerOfPersister(error).errorCode)
      throw error
    }
  }

  /** Records of the range that are in flight and not done yet. */
  #undone({ firstOffset, lastOffset }: StateBatch): number {
    return this.#inFlight
      .between(firstOffset, lastOffset)
      .reduce((sum, run) => sum + (recordStates[run.state].isDone ? 0 : run.lastOffset - run.firstOffset + 1), 0)
  }

  #changed(): void {
    for (const watcher of [...this.#watchers]) watcher()
  }
}
