/**
 * Records that only one end of a comparison still has, since the other was cleaned there. That is no difference as long as the
 * other end has a newer record of the key; which keys are still open is kept here, bounded. Used by compare-partition.
 */
import { hash } from 'node:crypto'
import { type BatchHeader, isTransactional } from '../../protocol/batches/batch-header.ts'
import type { DecodedRecord } from '../../protocol/batches/records-of.ts'

export type End = 'source' | 'mirror'

export const otherEnd = (end: End): End => (end === 'source' ? 'mirror' : 'source')

/** The newest record of a key that only one end has. */
export interface LoneRecord {
  readonly offset: number
  readonly isTombstone: boolean
}

type LoneRecords = Map<string, LoneRecord>

/** A key as text; long ones as a digest, so that memory is bounded by their number. */
export const keyText = (key: Buffer): string =>
  key.length <= 32 ? `k${key.toString('latin1')}` : `h${hash('sha256', key, 'binary')}`

export class CleanedKeys {
  readonly #keysMax: number
  readonly #lone: Readonly<Record<End, LoneRecords>> = { source: new Map(), mirror: new Map() }
  /** Records of transactions whose end has not been seen, by end and producer: what was aborted may be cleaned at any time. */
  readonly #undecided = new Map<string, { key: string; record: LoneRecord }[]>()
  #undecidedCount = 0
  #overflowedFrom: number | undefined

  constructor(keysMax: number) {
    this.#keysMax = keysMax
  }

  /** Keys open at any moment were more than can be kept: none is checked from the first of them on. */
  get overflowedFrom(): number | undefined {
    return this.#overflowedFrom
  }

  /** Nothing is open: equal batches need not be decoded. */
  get isIdle(): boolean {
    return this.#lone.source.size === 0 && this.#lone.mirror.size === 0 && this.#undecided.size === 0
  }

  /** Only this end has the record. */
  onlyAt(end: End, header: BatchHeader, { key, value, offset }: DecodedRecord): void {
    // A cleaner drops records without keys.
    if (key === null || this.#overflowedFrom !== undefined) return
    const text = keyText(key)
    this.#lone[otherEnd(end)].delete(text)
    const record = { offset, isTombstone: value === null }
    if (isTransactional(header)) this.#wait(end, header.producerId, { key: text, record })
    else this.#add(end, text, record)
    if (this.#lone.source.size + this.#lone.mirror.size + this.#undecidedCount > this.#keysMax) this.#giveUp()
  }

  /** Both ends have it: whatever is older of its key may be gone anywhere. */
  atBoth({ key }: DecodedRecord): void {
    if (key === null || this.isIdle) return
    const text = keyText(key)
    this.#lone.source.delete(text)
    this.#lone.mirror.delete(text)
  }

  /** A transaction ended at this end. */
  transactionEnded(end: End, producerId: bigint, committed: boolean): void {
    const name = `${end}/${producerId}`
    const records = this.#undecided.get(name)
    if (!records) return
    this.#undecided.delete(name)
    this.#undecidedCount -= records.length
    if (committed) for (const { key, record } of records) this.#add(end, key, record)
  }

  /** What this end has alone, and nothing newer of the key was seen at the other. */
  open(end: End): ReadonlyMap<string, LoneRecord> {
    for (const name of [...this.#undecided.keys()])
      if (name.startsWith(`${end}/`)) this.transactionEnded(end, BigInt(name.slice(end.length + 1)), true)
    return this.#lone[end]
  }

  #wait(end: End, producerId: bigint, entry: { key: string; record: LoneRecord }): void {
    const name = `${end}/${producerId}`
    const records = this.#undecided.get(name)
    if (records) records.push(entry)
    else this.#undecided.set(name, [entry])
    this.#undecidedCount++
  }

  #add(end: End, key: string, record: LoneRecord): void {
    const known = this.#lone[end].get(key)
    if (!known || known.offset < record.offset) this.#lone[end].set(key, record)
  }

  #giveUp(): void {
    let first = Number.POSITIVE_INFINITY
    for (const { offset } of [...this.#lone.source.values(), ...this.#lone.mirror.values()])
      first = Math.min(first, offset)
    for (const records of this.#undecided.values()) first = Math.min(first, records[0]?.record.offset ?? first)
    this.#overflowedFrom = first
    this.#lone.source.clear()
    this.#lone.mirror.clear()
    this.#undecided.clear()
    this.#undecidedCount = 0
  }
}

/** Why the other end must still have something newer than `lone`, or not; undefined = they agree. `newest`: what it has. */
export function keyDifference(lone: LoneRecord, newest: LoneRecord | undefined): string | undefined {
  if (newest && newest.offset > lone.offset) return undefined
  // A tombstone goes once everything older of its key has gone.
  if (lone.isTombstone)
    return newest && !newest.isTombstone ? `an older value of its key at ${newest.offset}` : undefined
  return newest ? `nothing newer of its key than offset ${newest.offset}` : 'nothing of its key'
}
