/** Source-epoch ranges of one mirror partition: which of the source's leader epochs its offsets came with. Used by the mirror partition. */
import type { StateJournal } from '../coordination/state-journal.ts'
import type { DesiredState } from '../replay/desired-state.ts'
import { sourceEpochsStateRecord } from '../state-records/record-codec.ts'
import type { EpochRange, SourceEpochsRecord } from '../state-records/source-epochs-record.ts'

/** Ranges kept per partition; the oldest go first, then a comparison with old offsets needs CRCs. */
const rangesMax = 1000

/** Leader epochs kept per partition. */
const ledEpochsMax = 1000

type LedgerKey = Omit<SourceEpochsRecord, 'ranges' | 'ledEpochs'>

export interface LedgerOptions {
  readonly desired: DesiredState
  readonly journal: StateJournal
  /** Others may lead the partition at times: in which epochs it was mirrored is recorded. */
  readonly recordsLed: boolean
}

/** Ranges that describe data which is in the log: one whose append never happened starts at or after the log end. */
export const rangesBelow = (ranges: readonly EpochRange[], logEndOffset: number): readonly EpochRange[] =>
  ranges.filter(range => range.firstOffset < logEndOffset)

/** Where the data of `epoch`, or of the newest epoch below it, ends in the mirror; undefined = nothing so old is here. */
export function endOfEpoch(ranges: readonly EpochRange[], epoch: number, logEndOffset: number): number | undefined {
  const index = ranges.findLastIndex(range => range.epoch <= epoch)
  if (index === -1) return undefined
  return ranges[index + 1]?.firstOffset ?? logEndOffset
}

export class EpochLedger {
  readonly #key: LedgerKey
  readonly #desired: DesiredState
  readonly #journal: StateJournal
  readonly #recordsLed: boolean

  constructor(key: LedgerKey, options: LedgerOptions) {
    this.#key = key
    this.#desired = options.desired
    this.#journal = options.journal
    this.#recordsLed = options.recordsLed
  }

  /** Ranges of what is in the log now, ascending. */
  ranges(logEndOffset: number): readonly EpochRange[] {
    return rangesBelow(this.#recorded(), logEndOffset)
  }

  /** Source epoch of the last mirrored batch. */
  lastEpoch(logEndOffset: number): number | undefined {
    return this.ranges(logEndOffset).at(-1)?.epoch
  }

  /**
   * Resolves when the ranges, and the leader epoch, are durable in the state log: only then may their first batch be appended, in
   * that epoch. To be called before every append: ranges of a lost tail are forgotten, or they would count again once the log is
   * as long as it was.
   */
  async extend(
    added: readonly EpochRange[],
    log: { readonly logStartOffset: number; readonly logEndOffset: number; readonly leaderEpoch: number },
  ): Promise<void> {
    const known = this.ranges(log.logEndOffset)
    const isLedKnown = !this.#recordsLed || this.#ledEpochs.includes(log.leaderEpoch)
    if (added.length === 0 && known.length === this.#recorded().length && isLedKnown) return
    // A range is dead when the next one begins at or below the log start.
    const alive = known.filter(
      (_, index) => (known[index + 1]?.firstOffset ?? Number.MAX_SAFE_INTEGER) > log.logStartOffset,
    )
    const ranges = [...alive, ...added].slice(-rangesMax)
    const ledEpochs = isLedKnown ? this.#ledEpochs : [...this.#ledEpochs, log.leaderEpoch].slice(-ledEpochsMax)
    await this.#journal.report([sourceEpochsStateRecord({ ...this.#key, ranges, ledEpochs })])
  }

  /** Forgets, durably, what is said about offsets from `endOffset` on, which are cut off. */
  async cutTo(endOffset: number): Promise<void> {
    const ranges = this.ranges(endOffset)
    if (ranges.length < this.#recorded().length)
      await this.#journal.report([sourceEpochsStateRecord({ ...this.#key, ranges, ledEpochs: this.#ledEpochs })])
  }

  get #ledEpochs(): readonly number[] {
    const { topicId, partition, sourceClusterId } = this.#key
    return this.#desired.ledEpochs(topicId, partition, sourceClusterId)
  }

  #recorded(): readonly EpochRange[] {
    const { topicId, partition, sourceClusterId } = this.#key
    return this.#desired.epochRanges(topicId, partition, sourceClusterId)
  }
}
