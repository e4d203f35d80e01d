/** Verifies one partition of a mirror: finds out what both ends have, reads them, and says what could not be compared. Run by a verification. */
import { messageOf } from '../../core/errors.ts'
import type { Destination, MirrorLog } from '../ports.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { OffsetsGone, type ReadableEnd } from './batch-reader.ts'
import type { End } from './cleaned-keys.ts'
import type { Difference } from './compare-batch-pair.ts'
import { type ComparedRange, type ComparisonProgress, comparePartition, newProgress } from './compare-partition.ts'
import type { PatientSource } from './patient-source.ts'
import type { ReadPace } from './read-pace.ts'

export interface VerifiedMirror {
  readonly destination: Destination
  readonly source: PatientSource
  /** The mirror's record at this moment; undefined = there is no such mirror any more. */
  readonly record: () => MirrorRecord | undefined
  /** The topic has, or may have had, `compact` in its `cleanup.policy`. */
  readonly isCompacted: boolean
  readonly pace: ReadPace
  readonly signal: AbortSignal
}

export interface AskedRange {
  readonly partition: number
  /** undefined = whatever both ends have. */
  readonly from: number | undefined
  readonly to: number | undefined
}

export interface PartitionVerdict {
  readonly range: ComparedRange
  readonly difference: Difference | undefined
  /** Something that was asked for could not be compared. */
  readonly isIncomplete: boolean
}

/** Read at a time from either end. */
const chunkBytes = 512 * 1024
/** A source that should have more may show nothing for a moment: after an election, or under a quota. */
const emptyReadsMax = 5

/** What an end has: [start, end). */
interface Bounds {
  readonly source: ComparedRange
  readonly mirror: ComparedRange
}

/** `begun` is told the range before anything is read. Rejects with SourceError, or with what the mirror's log says. */
export async function verifyPartition(
  mirror: VerifiedMirror,
  asked: AskedRange,
  begun: (range: ComparedRange, progress: ComparisonProgress) => void,
): Promise<PartitionVerdict> {
  return await new PartitionVerification(mirror, asked).run(begun)
}

class PartitionVerification {
  readonly #mirror: VerifiedMirror
  readonly #asked: AskedRange
  #log: MirrorLog | undefined

  constructor(mirror: VerifiedMirror, asked: AskedRange) {
    this.#mirror = mirror
    this.#asked = asked
  }

  async run(begun: (range: ComparedRange, progress: ComparisonProgress) => void): Promise<PartitionVerdict> {
    const { isCompacted } = this.#mirror
    const log = await this.#openLog()
    const bounds = await this.#bounds()
    const range = this.#rangeOf(bounds)
    const progress = newProgress(range.from)
    const isCovered = this.#tellUncovered(bounds, range, progress)
    begun(range, progress)
    const mirrorCleanedOffset = () => log.state().cleanedOffset ?? 0
    const ends = {
      source: this.#sourceEnd(),
      mirror: this.#mirrorEnd(log),
      mirrorCleanedOffset,
      sourceIsCleaned: isCompacted || mirrorCleanedOffset() > 0,
      common: async () => commonOf(await this.#bounds()),
      present: async (end: End) =>
        end === 'mirror' ? (await log.refresh()).highWatermark : (await this.#bounds()).source.to,
    }
    const before = progress.uncompared.length
    const difference = await comparePartition(ends, range, progress)
    return { range, difference, isIncomplete: !isCovered || progress.uncompared.length > before }
  }

  async #openLog(): Promise<MirrorLog> {
    const { destination } = this.#mirror
    this.#log ??= await destination.openMirrorLog(this.#record().topicId, this.#asked.partition)
    return this.#log
  }

  #record(): MirrorRecord {
    const record = this.#mirror.record()
    if (!record) throw new Error('the mirror was deleted')
    return record
  }

  async #bounds(): Promise<Bounds> {
    const { partition } = this.#asked
    const { sourceTopic, stopPoints } = this.#record()
    const ask = (spec: 'earliest' | 'latest') =>
      this.#mirror.source.ask(async (source, signal) => {
        const query = { spec, isolation: 'read_uncommitted', signal } as const
        return (await source.listOffsets(sourceTopic, [partition], query)).get(partition) ?? 0
      })
    // Before the source is asked: what a mirror had then its source has, however both grow.
    const { logStartOffset, highWatermark } = await (await this.#openLog()).refresh()
    const source = { from: await ask('earliest'), to: await ask('latest') }
    // What comes behind is not the source's.
    const stop = stopPoints.find(point => point.partition === partition)?.stopOffset
    return { source, mirror: { from: logStartOffset, to: Math.min(stop ?? highWatermark, highWatermark) } }
  }

  #rangeOf(bounds: Bounds): ComparedRange {
    const common = commonOf(bounds)
    const from = Math.max(common.from, this.#asked.from ?? 0)
    return { from, to: Math.max(from, Math.min(common.to, this.#asked.to ?? common.to)) }
  }

  /** What only one end has; true if everything that was asked for by number is in the range. */
  #tellUncovered({ source, mirror }: Bounds, range: ComparedRange, { uncompared }: ComparisonProgress): boolean {
    const first = this.#asked.from ?? Math.min(source.from, mirror.from)
    const last = this.#asked.to ?? Math.max(source.to, mirror.to)
    if (first < range.from) {
      const [end, from] = source.from > mirror.from ? ['source', source.from] : ['mirror', mirror.from]
      const reason = `the log of the ${end} starts at offset ${from}`
      uncompared.push({ from: first, to: Math.min(range.from, last), reason })
    }
    if (last > range.to) {
      const [end, to] = source.to < mirror.to ? ['source', source.to] : ['mirror', mirror.to]
      uncompared.push({ from: Math.max(range.to, first), to: last, reason: `the ${end} ends at offset ${to}` })
    }
    const missesFrom = this.#asked.from !== undefined && this.#asked.from < range.from
    const missesTo = this.#asked.to !== undefined && this.#asked.to > range.to
    // Of a mirror that has nothing of what its source has it cannot be said that it is the same.
    const hasNothing = mirror.to < source.to && mirror.to <= Math.max(mirror.from, source.from)
    // One that has more than its source is worth a look in any case.
    return !missesFrom && !missesTo && !hasNothing && mirror.to <= source.to
  }

  #sourceEnd(): ReadableEnd {
    const { source, pace, signal } = this.#mirror
    const { partition } = this.#asked
    const { sourceTopic } = this.#record()
    const read = async (offset: number): Promise<Buffer> => {
      await pace.turn(signal)
      const bytes = await source.ask((present, stop) =>
        present.readBatches(sourceTopic, partition, { offset, maxBytes: chunkBytes, takesTurns: true, signal: stop }),
      )
      pace.pay(bytes.length)
      return bytes
    }
    const readUntilFound = async (offset: number): Promise<Buffer> => {
      for (let reads = 0; reads < emptyReadsMax; reads++) {
        const bytes = await read(offset)
        if (bytes.length > 0 || offset >= (await this.#bounds()).source.to) return bytes
        pace.pay(chunkBytes)
      }
      return Buffer.alloc(0)
    }
    return { read: offset => this.#orGone(offset, () => readUntilFound(offset), 'source') }
  }

  #mirrorEnd(log: MirrorLog): ReadableEnd {
    const read = async (offset: number): Promise<Buffer> =>
      offset >= log.state().logEndOffset ? Buffer.alloc(0) : await log.readBatches({ offset, maxBytes: chunkBytes })
    return { read: offset => this.#orGone(offset, () => read(offset), 'mirror') }
  }

  /** A read that fails because the log start has passed it says so. */
  async #orGone(offset: number, read: () => Promise<Buffer>, end: 'source' | 'mirror'): Promise<Buffer> {
    try {
      return await read()
    } catch (error) {
      this.#mirror.signal.throwIfAborted()
      const { from, to } = (await this.#bounds())[end]
      if (offset < from) throw new OffsetsGone(from)
      if (offset >= to) return Buffer.alloc(0)
      throw new Error(`the ${end} cannot be read at offset ${offset}: ${messageOf(error)}`, { cause: error })
    }
  }
}

const commonOf = ({ source, mirror }: Bounds): ComparedRange => ({
  from: Math.max(source.from, mirror.from),
  to: Math.min(source.to, mirror.to),
})
