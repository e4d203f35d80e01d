/**
 * The records of a share partition between its start and the end of what was fetched, as runs of offsets in the same state: cut
 * where states differ, joined where they do not. Pure; SharePartition owns one.
 */
import assert from 'node:assert/strict'
import { type RecordState, recordStates } from './record-state.ts'

/** A change that is being made durable. Until it is known whether that works, the records stay as they are, for nobody else to change. */
export interface PendingChange {
  readonly to: RecordState
}

/** What is true of every record of a run. */
export interface RunState {
  readonly state: RecordState
  /** How often records were given to members. */
  readonly deliveryCount: number
  /** Who holds them, while they are acquired. */
  readonly memberId?: string | undefined
  /** Monotonic time up to which they are held. */
  readonly lockedUntilMs?: number | undefined
  readonly pending?: PendingChange | undefined
}

/** Offsets are both inclusive. */
export interface Run extends RunState {
  readonly firstOffset: number
  readonly lastOffset: number
}

/** Never fetched before, as far as is known. */
const UNTOUCHED: RunState = { state: 'available', deliveryCount: 0 }

export class InFlight {
  /** In order, without holes, from the start to the end. */
  #runs: Run[] = []
  #startOffset: number
  #endOffset: number

  constructor(startOffset: number) {
    this.#startOffset = startOffset
    this.#endOffset = startOffset
  }

  /** First offset that is not done. */
  get startOffset(): number {
    return this.#startOffset
  }

  /** First offset that was not fetched yet. */
  get endOffset(): number {
    return this.#endOffset
  }

  /** Offsets between the two, done or not. */
  get span(): number {
    return this.#endOffset - this.#startOffset
  }

  get runs(): readonly Run[] {
    return this.#runs
  }

  /** Records that are done and above the start. */
  get doneCount(): number {
    return this.#runs.reduce((sum, run) => sum + (recordStates[run.state].isDone ? sizeOf(run) : 0), 0)
  }

  /** First offset that may be given to a member; the end if there is none below. */
  get nextFetchOffset(): number {
    return this.#runs.find(isFree)?.firstOffset ?? this.#endOffset
  }

  /** The parts of runs between two offsets, both inclusive. */
  between(firstOffset: number, lastOffset: number): Run[] {
    const found: Run[] = []
    for (let at = this.#indexOf(firstOffset); at < this.#runs.length; at++) {
      const run = this.#runs[at]
      if (!run || run.firstOffset > lastOffset) break
      if (run.lastOffset >= firstOffset) found.push(clipped(run, firstOffset, lastOffset))
    }
    return found
  }

  /** Makes offsets up to `endOffset` part of it, as never fetched. */
  extend(endOffset: number): void {
    if (endOffset <= this.#endOffset) return
    const firstOffset = this.#endOffset
    this.#endOffset = endOffset
    this.#push({ ...UNTOUCHED, firstOffset, lastOffset: endOffset - 1 })
  }

  /** Replaces the state between two offsets by what `change` makes of each run there; undefined leaves it. What is outside stays. */
  update(firstOffset: number, lastOffset: number, change: (run: Run) => RunState | undefined): void {
    const before = this.#runs
    const from = this.#indexOf(firstOffset)
    this.#runs = before.slice(0, from)
    let at = from
    for (; at < before.length; at++) {
      const run = before[at]
      if (!run || run.firstOffset > lastOffset) break
      if (run.firstOffset < firstOffset) this.#push({ ...run, lastOffset: Math.min(run.lastOffset, firstOffset - 1) })
      const inside = clipped(run, firstOffset, lastOffset)
      if (inside.firstOffset <= inside.lastOffset) this.#push(changed(inside, change(inside)))
      if (run.lastOffset > lastOffset) this.#push({ ...run, firstOffset: Math.max(run.firstOffset, lastOffset + 1) })
    }
    for (; at < before.length; at++) {
      const run = before[at]
      if (run) this.#push(run)
    }
  }

  /** Moves the start over everything that is done. True if it moved. */
  advance(): boolean {
    const before = this.#startOffset
    let done = 0
    for (const run of this.#runs) {
      if (!recordStates[run.state].isDone || run.pending) break
      done++
      this.#startOffset = run.lastOffset + 1
    }
    if (done > 0) this.#runs.splice(0, done)
    return this.#startOffset > before
  }

  /** The log begins at `offset` now: what is below is gone. True if the start moved. */
  dropBelow(offset: number): boolean {
    if (offset <= this.#startOffset) return false
    this.#runs = this.#runs.flatMap(run =>
      run.lastOffset < offset ? [] : [{ ...run, firstOffset: Math.max(run.firstOffset, offset) }],
    )
    this.#startOffset = offset
    this.#endOffset = Math.max(this.#endOffset, offset)
    return true
  }

  /** The log ends at `offset` now: what is at or above it does not exist any more. True if something was known of it. */
  dropFrom(offset: number): boolean {
    if (offset >= this.#endOffset && offset >= this.#startOffset) return false
    this.#runs = this.#runs.flatMap(run =>
      run.firstOffset >= offset ? [] : [{ ...run, lastOffset: Math.min(run.lastOffset, offset - 1) }],
    )
    this.#endOffset = Math.min(this.#endOffset, offset)
    this.#startOffset = Math.min(this.#startOffset, offset)
    return true
  }

  /** Index of the run that holds the offset, or of the first one behind it. */
  #indexOf(offset: number): number {
    let low = 0
    let high = this.#runs.length
    while (low < high) {
      const middle = (low + high) >> 1
      const run = this.#runs[middle]
      assert(run)
      if (run.lastOffset < offset) low = middle + 1
      else high = middle
    }
    return low
  }

  #push(run: Run): void {
    const last = this.#runs.at(-1)
    if (last && isAlike(last, run)) this.#runs[this.#runs.length - 1] = { ...last, lastOffset: run.lastOffset }
    else this.#runs.push(run)
  }
}

export const sizeOf = ({ firstOffset, lastOffset }: Pick<Run, 'firstOffset' | 'lastOffset'>): number =>
  lastOffset - firstOffset + 1

/** May it be given to a member? */
export const isFree = (run: RunState): boolean => run.state === 'available' && !run.pending

const clipped = (run: Run, firstOffset: number, lastOffset: number): Run => ({
  ...run,
  firstOffset: Math.max(run.firstOffset, firstOffset),
  lastOffset: Math.min(run.lastOffset, lastOffset),
})

const changed = ({ firstOffset, lastOffset, ...before }: Run, state: RunState | undefined): Run => ({
  ...(state ?? before),
  firstOffset,
  lastOffset,
})

const isAlike = (a: RunState, b: RunState): boolean =>
  a.state === b.state &&
  a.deliveryCount === b.deliveryCount &&
  a.memberId === b.memberId &&
  a.lockedUntilMs === b.lockedUntilMs &&
  a.pending === b.pending
