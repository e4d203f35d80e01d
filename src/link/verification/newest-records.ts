/**
 * The last part of a comparison where cleaning runs: of every key that had a record at one end only, the newest at both ends must
 * agree. Reads the other end once more, from the first such record to its present end. Called by compare-partition.
 */
import { isControl } from '../../protocol/batches/batch-header.ts'
import { recordsIn } from '../../protocol/batches/records-of.ts'
import { BatchReader, OffsetsGone, type ReadableEnd } from './batch-reader.ts'
import { type CleanedKeys, type End, keyDifference, keyText, type LoneRecord, otherEnd } from './cleaned-keys.ts'
import type { Difference } from './compare-batch-pair.ts'

interface Ends {
  readonly source: ReadableEnd
  readonly mirror: ReadableEnd
  /** Where the log ends at this moment: whoever goes on until nothing comes does so for ever where clients write. */
  readonly present: (end: End) => Promise<number>
}

/** The first key, by offset, about whose newest record the ends do not agree. Records of aborted transactions count as newer ones. */
export async function newestAgree(
  ends: Ends,
  keys: CleanedKeys,
  range: { readonly from: number; readonly to: number },
): Promise<Difference | undefined> {
  // What a cleaner replaced during the first look is behind the end that was known then.
  return (await firstDifference(ends, keys, range)) && (await firstDifference(ends, keys, range))
}

async function firstDifference(
  ends: Ends,
  keys: CleanedKeys,
  range: { readonly from: number; readonly to: number },
): Promise<Difference | undefined> {
  const found = [
    await differenceAt('source', { ends, keys }, range),
    await differenceAt('mirror', { ends, keys }, range),
  ]
  return found.filter(difference => difference !== undefined).sort((a, b) => a.offset - b.offset)[0]
}

async function differenceAt(
  end: End,
  { ends, keys }: { readonly ends: Ends; readonly keys: CleanedKeys },
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Difference | undefined> {
  const open = keys.open(end)
  if (open.size === 0) return undefined
  const records = [...open.values()]
  // What is older than a tombstone matters too.
  const first = records.some(({ isTombstone }) => isTombstone)
    ? from
    : records.reduce((a, b) => (b.offset < a.offset ? b : a)).offset
  const there = await newestOf(ends, otherEnd(end), { keys: open, offset: first })
  // What was newer here is behind the range: then that is the newest, and not compared.
  const behind = await newestOf(ends, end, { keys: open, offset: to })
  let difference: Difference | undefined
  for (const [key, record] of open) {
    if (record.offset < there.from || behind.newest.has(key)) continue
    const what = keyDifference(record, there.newest.get(key))
    if (what === undefined || (difference && difference.offset < record.offset)) continue
    const kind = record.isTombstone ? 'tombstone' : 'record'
    difference = {
      offset: record.offset,
      message: `only the ${end} has this ${kind}; the ${otherEnd(end)} has ${what}`,
    }
  }
  return difference
}

/** The newest record of each of the keys, from an offset, or the log's present start, on. */
async function newestOf(
  ends: Ends,
  end: End,
  { keys, offset }: { readonly keys: ReadonlyMap<string, unknown>; readonly offset: number },
): Promise<{ readonly from: number; readonly newest: ReadonlyMap<string, LoneRecord> }> {
  let from = offset
  const newest = new Map<string, LoneRecord>()
  const reader = new BatchReader(ends[end], from)
  const to = await ends.present(end)
  for (;;) {
    try {
      const batch = await reader.peek(to)
      if (!batch) return { from, newest }
      reader.skipTo(batch.header.lastOffset + 1)
      if (isControl(batch.header)) continue
      for (const { key, value, offset: at } of recordsIn(batch.buffer, batch.header)) {
        const text = key === null || at < from ? undefined : keyText(key)
        if (text !== undefined && keys.has(text)) newest.set(text, { offset: at, isTombstone: value === null })
      }
    } catch (error) {
      if (!(error instanceof OffsetsGone)) throw error
      from = Math.max(from + 1, error.logStartOffset)
      reader.reset(from)
    }
  }
}
