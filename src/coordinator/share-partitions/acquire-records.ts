/** Which of the fetched records a member gets, and that it holds them from now on (KIP-932, KIP-1206); SharePartition calls it. Pure but for the in-flight records. */
import type { FetchedBatch, FetchedRange } from './fetched-batches.ts'
import { type InFlight, isFree, type Run, type RunState, sizeOf } from './in-flight.ts'
import { nextState } from './record-state.ts'

/** Records that a member holds now. Offsets are both inclusive. */
export interface AcquiredRecords {
  readonly firstOffset: number
  readonly lastOffset: number
  /** This time included. */
  readonly deliveryCount: number
}

export interface AcquireLimits {
  readonly memberId: string
  /** In 'batch_optimized' mode the batch that reaches it is taken as a whole. */
  readonly recordsMax: number
  readonly mode: 'batch_optimized' | 'record_limit'
  /** Wanted records per entry of the answer. */
  readonly batchSize: number
  /** Most offsets in flight; the batch that reaches it is taken as a whole, as in Kafka. */
  readonly recordLocksMax: number
  readonly deliveryCountMax: number
  readonly lockedUntilMs: number
}

export interface Acquisition {
  readonly acquired: readonly AcquiredRecords[]
  /** Part of the fetched bytes that the acquired records are in. */
  readonly position: number
  readonly endPosition: number
  /** Offsets without records were set aside. */
  readonly foundEmpty: boolean
}

export function acquireRecords(inFlight: InFlight, range: FetchedRange, limits: AcquireLimits): Acquisition {
  const picking = new Picking(inFlight, limits)
  const empty = [...range.empty]
  let foundEmpty = false
  const setAside = (before: number) => {
    for (let next = empty[0]; next && next.firstOffset < before; next = empty[0]) {
      empty.shift()
      inFlight.extend(next.lastOffset + 1)
      archiveFree(inFlight, next.firstOffset, next.lastOffset)
      foundEmpty = true
    }
  }
  for (const batch of range.batches) {
    if (picking.isFull) break
    setAside(batch.firstOffset)
    picking.take(batch)
  }
  if (!picking.isFull) setAside(range.endOffset)
  const { first, last, acquired } = picking
  return { acquired, position: first?.position ?? 0, endPosition: last?.endPosition ?? 0, foundEmpty }
}

/** Nobody is to get what is free there. */
export function archiveFree(inFlight: InFlight, firstOffset: number, lastOffset: number): void {
  inFlight.update(firstOffset, lastOffset, run => (isFree(run) ? { state: 'archived', deliveryCount: 0 } : undefined))
}

/** Records that were delivered so often, of a limit above two, are given in ever smaller parts, the last time alone: one of them may be what members fail on. */
const throttleFrom = (deliveryCountMax: number): number => Math.max(2, Math.ceil(deliveryCountMax / 2))

class Picking {
  readonly acquired: AcquiredRecords[] = []
  first: FetchedBatch | undefined
  last: FetchedBatch | undefined
  isFull = false
  readonly #inFlight: InFlight
  readonly #limits: AcquireLimits
  readonly #recordsMax: number
  #taken = 0

  constructor(inFlight: InFlight, limits: AcquireLimits) {
    this.#inFlight = inFlight
    this.#limits = limits
    this.#recordsMax = limits.recordsMax
  }

  take(batch: FetchedBatch): void {
    this.#extendOver(batch)
    for (const run of this.#inFlight.between(batch.firstOffset, batch.lastOffset)) {
      if (this.isFull) return
      if (isFree(run)) this.#takeFrom(run, batch)
    }
    if (this.#taken >= this.#recordsMax) this.isFull = true
  }

  /** New records become known only as far as they are taken. */
  #extendOver({ firstOffset, lastOffset }: FetchedBatch): void {
    const { endOffset, span } = this.#inFlight
    if (lastOffset < endOffset) return
    const { recordLocksMax, mode } = this.#limits
    const room = Math.min(recordLocksMax - span, this.#recordsMax - this.#taken)
    if (room <= 0) {
      this.isFull = true
      return
    }
    const newFirst = Math.max(firstOffset, endOffset)
    this.#inFlight.extend(mode === 'record_limit' ? Math.min(lastOffset + 1, newFirst + room) : lastOffset + 1)
  }

  #takeFrom(run: Run, batch: FetchedBatch): void {
    const { deliveryCountMax, mode } = this.#limits
    let size = sizeOf(run)
    let isLast = false
    const from = throttleFrom(deliveryCountMax)
    if (deliveryCountMax > 2 && run.deliveryCount >= deliveryCountMax - 1) {
      isLast = true
      size = this.#taken > 0 ? 0 : 1
    } else if (run.deliveryCount >= from) {
      isLast = true
      size = Math.max(1, size >> (run.deliveryCount - from + 1))
    }
    if (mode === 'record_limit') size = Math.min(size, this.#recordsMax - this.#taken)
    if (size > 0) this.#acquire({ ...run, lastOffset: run.firstOffset + size - 1 }, batch)
    if (isLast || (mode === 'record_limit' && this.#taken >= this.#recordsMax)) this.isFull = true
  }

  #acquire({ firstOffset, lastOffset }: Run, batch: FetchedBatch): void {
    let deliveryCount = 0
    this.#inFlight.update(firstOffset, lastOffset, run => {
      const given = this.#given(run)
      deliveryCount = given.deliveryCount
      return given
    })
    this.#taken += lastOffset - firstOffset + 1
    this.first ??= batch
    this.last = batch
    const before = this.acquired.at(-1)
    const continues = before?.lastOffset === firstOffset - 1 && before.deliveryCount === deliveryCount
    if (before && continues && sizeOf(before) < this.#limits.batchSize)
      this.acquired[this.acquired.length - 1] = { ...before, lastOffset }
    else this.acquired.push({ firstOffset, lastOffset, deliveryCount })
  }

  #given({ state, deliveryCount }: RunState): RunState {
    const { memberId, lockedUntilMs, deliveryCountMax } = this.#limits
    const next = nextState(state, 'acquire', { count: deliveryCount, countMax: deliveryCountMax }) ?? state
    return { state: next, deliveryCount: deliveryCount + 1, memberId, lockedUntilMs }
  }
}
