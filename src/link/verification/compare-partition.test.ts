/** Two copies of one log: equal however each was cleaned, and every deviation is found where it is. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readBatchHeader } from '../../protocol/batches/batch-header.ts'
import { stampLeaderEpoch } from '../../protocol/batches/batch-layout.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { buildEndMarker } from '../../protocol/batches/control-batch.ts'
import { OffsetsGone, type ReadableEnd } from './batch-reader.ts'
import { type ComparedEnds, comparePartition, newProgress } from './compare-partition.ts'

interface ModelRecord {
  readonly offset: number
  readonly key: string
  /** null = a tombstone. */
  readonly value: string | null
}

interface ModelBatch {
  readonly baseOffset: number
  readonly lastOffset: number
  readonly records: readonly ModelRecord[]
  /** -1 = no transaction. */
  readonly producerId: number
  readonly marker?: 'abort' | 'commit'
}

/** Batches with their holes, from what each holds. */
function logOf(plan: readonly { hole: number; keys: readonly number[]; kind: number }[]): ModelBatch[] {
  const batches: ModelBatch[] = []
  let offset = 0
  for (const { hole, keys, kind } of plan) {
    offset += hole
    const producerId = kind >= 2 ? kind : -1
    const records = keys.map((key, index) => ({
      ...{ offset: offset + index, key: `k${Math.abs(key)}` },
      value: key < 0 ? null : `v${offset + index}`,
    }))
    batches.push({ baseOffset: offset, lastOffset: offset + keys.length - 1, records, producerId })
    offset += keys.length
    if (producerId < 0) continue
    const marker = kind === 2 ? 'abort' : 'commit'
    batches.push({ baseOffset: offset, lastOffset: offset, records: [], producerId, marker })
    offset++
  }
  return batches
}

const bytesOf = ({ baseOffset, lastOffset, records, producerId, marker }: ModelBatch): Buffer => {
  const writer = { producerId: BigInt(producerId), producerEpoch: 0 }
  if (marker)
    return buildEndMarker({
      ...{ type: marker, ...writer, coordinatorEpoch: 0, offset: baseOffset, timestamp: 5n, leaderEpoch: 0 },
    })
  return buildBatch({
    ...{ baseOffset, lastOffsetDelta: lastOffset - baseOffset },
    ...(producerId < 0 ? {} : { ...writer, baseSequence: 0, transactional: true }),
    ...(records.length === 0 ? { emptyBatchTimestamp: 1n } : {}),
    records: records.map(({ offset, key, value }) => ({
      ...{ offsetDelta: offset - baseOffset, timestamp: 1000n + BigInt(offset), key: Buffer.from(key) },
      value: value === null ? null : Buffer.from(value),
    })),
  })
}

/** What a cleaner that ran below `upTo` leaves; old tombstones go too if asked. */
function cleaned(log: readonly ModelBatch[], upTo: number, dropsTombstones: boolean): ModelBatch[] {
  const aborted = (batch: ModelBatch, index: number) => batch.producerId >= 0 && log[index + 1]?.marker === 'abort'
  const newest = new Map<string, number>()
  log.forEach((batch, index) => {
    if (batch.lastOffset >= upTo || aborted(batch, index)) return
    for (const { key, offset } of batch.records) newest.set(key, offset)
  })
  return log.flatMap((batch, index) => {
    if (batch.lastOffset >= upTo || batch.marker) return [batch]
    const records = aborted(batch, index)
      ? []
      : batch.records.filter(
          ({ key, offset, value }) => (newest.get(key) ?? -1) <= offset && !(value === null && dropsTombstones),
        )
    return records.length === 0 ? [] : [{ ...batch, records }]
  })
}

function endOf(log: readonly ModelBatch[], chunk = 3): ReadableEnd {
  const bytes = log.map(batch => ({ lastOffset: batch.lastOffset, bytes: bytesOf(batch) }))
  return {
    read: async offset => {
      const wanted = bytes.filter(({ lastOffset }) => lastOffset >= offset).slice(0, chunk)
      return Buffer.concat(wanted.map(found => found.bytes))
    },
  }
}

const endOffset = (log: readonly ModelBatch[]): number => (log.at(-1)?.lastOffset ?? -1) + 1

async function compare(
  source: ReadableEnd,
  mirror: ReadableEnd,
  more: {
    to: number
    from?: number
    cleanedOffset?: number
    sourceIsCleaned?: boolean
    common?: ComparedEnds['common']
  },
) {
  const { from = 0, to, cleanedOffset = 0, sourceIsCleaned = false, common = async () => ({ from, to }) } = more
  const progress = newProgress(from)
  const present = async () => Number.POSITIVE_INFINITY
  const ends = { source, mirror, mirrorCleanedOffset: () => cleanedOffset, sourceIsCleaned, common, present }
  return { difference: await comparePartition(ends, { from, to }, progress), progress }
}

const plans = fc.array(
  fc.record({
    hole: fc.constantFrom(0, 0, 0, 1, 500),
    keys: fc.array(fc.integer({ min: -3, max: 5 }), { minLength: 1, maxLength: 5 }),
    kind: fc.constantFrom(0, 0, 1, 2, 3),
  }),
  { minLength: 1, maxLength: 25 },
)

test('copies that differ in their leader epochs only are equal, and every batch is counted', async () => {
  await fc.assert(
    fc.asyncProperty(plans, async plan => {
      const log = logOf(plan)
      const stamped = log.map(batch => {
        const bytes = bytesOf(batch)
        stampLeaderEpoch(bytes, 0, 77)
        return { lastOffset: batch.lastOffset, bytes }
      })
      const mirror: ReadableEnd = {
        read: async offset =>
          Buffer.concat(stamped.filter(({ lastOffset }) => lastOffset >= offset).map(({ bytes }) => bytes)),
      }
      const { difference, progress } = await compare(endOf(log), mirror, { to: endOffset(log) })
      equal(difference, undefined)
      deepEqual([progress.batches, progress.nextOffset, progress.byRecords], [log.length, endOffset(log), false])
    }),
    { numRuns: 60 },
  )
})

test('a batch that is missing, added or changed at either end is found where it is', async () => {
  const change = fc.constantFrom('missing', 'changed', 'flipped' as const)
  await fc.assert(
    fc.asyncProperty(fc.tuple(plans, fc.nat(), change, fc.boolean()), async ([plan, pick, how, atSource]) => {
      const log = logOf(plan)
      const index = pick % log.length
      const victim = log[index]
      ok(victim)
      const bytes = log.map(batch => ({ lastOffset: batch.lastOffset, bytes: bytesOf(batch) }))
      if (how === 'missing') bytes.splice(index, 1)
      else {
        // The last byte of a batch: under its old CRC, or under a new one.
        const changed = bytesOf(victim)
        changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1
        if (how === 'changed') changed.writeUInt32BE(123, 17)
        bytes[index] = { lastOffset: victim.lastOffset, bytes: changed }
      }
      const deviating: ReadableEnd = {
        read: async offset =>
          Buffer.concat(bytes.filter(({ lastOffset }) => lastOffset >= offset).map(found => found.bytes)),
      }
      const ends = atSource ? ([deviating, endOf(log)] as const) : ([endOf(log), deviating] as const)
      const { difference } = await compare(...ends, { to: endOffset(log) })
      equal(difference?.offset, victim.baseOffset)
    }),
    { numRuns: 80 },
  )
})

test('copies of which each was cleaned in its own way are equal', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(plans, fc.nat(), fc.nat(), fc.boolean(), fc.boolean()),
      async ([plan, a, b, dropThere, dropHere]) => {
        const log = logOf(plan)
        const to = endOffset(log)
        const cleanedOffset = b % (to + 1)
        const source = cleaned(log, a % (to + 1), dropThere)
        const mirror = cleaned(log, cleanedOffset, dropHere)
        const { difference } = await compare(endOf(source), endOf(mirror), { to, cleanedOffset, sourceIsCleaned: true })
        equal(difference, undefined)
      },
    ),
    { numRuns: 200 },
  )
})

test('the newest record of a key that one end lost is found, however both were cleaned', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(plans, fc.nat(), fc.nat(), fc.nat(), fc.boolean()),
      async ([plan, a, b, pick, atSource]) => {
        const log = logOf(plan)
        const to = endOffset(log)
        const cleanedOffset = atSource ? b % (to + 1) : to
        const source = cleaned(log, a % (to + 1), false)
        const mirror = cleaned(log, cleanedOffset, false)
        const newest = new Map<string, ModelRecord>()
        log.forEach((batch, index) => {
          if (log[index + 1]?.marker === 'abort' && batch.producerId >= 0) return
          for (const record of batch.records) newest.set(record.key, record)
        })
        const lost = [...newest.values()].filter(({ value }) => value !== null)
        const victim = lost[pick % Math.max(1, lost.length)]
        if (!victim) return
        const without = (copy: readonly ModelBatch[]) =>
          copy.flatMap(batch => {
            const records = batch.records.filter(({ offset }) => offset !== victim.offset)
            return records.length === 0 && !batch.marker ? [] : [{ ...batch, records }]
          })
        const ends = atSource ? [endOf(without(source)), endOf(mirror)] : [endOf(source), endOf(without(mirror))]
        const [there, here] = ends as [ReadableEnd, ReadableEnd]
        // An aborted record of the key behind it may stand for a newer one.
        const isHidden = log.some(({ records }) =>
          records.some(({ key, offset }) => key === victim.key && offset > victim.offset),
        )
        const { difference } = await compare(there, here, { to, cleanedOffset, sourceIsCleaned: true })
        if (!isHidden) equal(difference?.offset, victim.offset)
      },
    ),
    { numRuns: 200 },
  )
})

test('a record that was changed, or is missing where nothing was cleaned, is a difference in a compacted log too', async () => {
  const log = logOf([
    { hole: 0, keys: [1, 2, 1], kind: 0 },
    { hole: 0, keys: [3, 2], kind: 0 },
  ])
  const source = cleaned(log, 3, false)
  const [first, second] = log
  ok(first && second)
  const change = (at: number, value: string) =>
    log.map(batch => ({ ...batch, records: batch.records.map(one => (one.offset === at ? { ...one, value } : one)) }))
  const asked = { to: 5, sourceIsCleaned: true }
  match((await compare(endOf(source), endOf(change(1, 'other')), asked)).difference?.message ?? '', /value is another/)
  const short = [{ ...first, records: first.records.slice(0, 1) }, second]
  const { difference } = await compare(endOf(log), endOf(short), { ...asked, cleanedOffset: 0 })
  deepEqual(difference, { offset: 1, message: 'the record is missing at the mirror, which was not cleaned there' })
})

test('a key that a tombstone deleted at one end and that lives on at the other is a difference', async () => {
  const log = logOf([
    { hole: 0, keys: [1, 2], kind: 0 },
    { hole: 0, keys: [-1], kind: 0 },
    { hole: 0, keys: [4], kind: 0 },
  ])
  const withoutTombstone = log.filter(({ records }) => records[0]?.value !== null)
  const { difference } = await compare(endOf(log), endOf(withoutTombstone), {
    ...{ to: 4, cleanedOffset: 4, sourceIsCleaned: true },
  })
  deepEqual(difference, {
    offset: 2,
    message: 'only the source has this tombstone; the mirror has an older value of its key at 0',
  })
})

test('what retention deletes meanwhile is skipped and told, what is cut off is not compared', async () => {
  const log = logOf(Array.from({ length: 6 }, () => ({ hole: 0, keys: [1, 2], kind: 0 })))
  const source = endOf(log, 2)
  let reads = 0
  const shrinking: ReadableEnd = {
    read: async offset => {
      if (++reads > 1 && offset < 8) throw new OffsetsGone(8)
      return await source.read(offset)
    },
  }
  const { difference, progress } = await compare(shrinking, endOf(log), { to: 12 })
  equal(difference, undefined)
  deepEqual(progress.uncompared, [{ from: 4, to: 8, reason: 'was deleted while it was compared' }])
  const cut = await compare(endOf(log), endOf(log.slice(0, 4)), { to: 12, common: async () => ({ from: 0, to: 8 }) })
  equal(cut.difference, undefined)
  deepEqual(cut.progress.uncompared, [{ from: 8, to: 12, reason: 'was cut off while it was compared' }])
})

test('a difference is believed only when a second look shows it too', async () => {
  const log = logOf(Array.from({ length: 4 }, () => ({ hole: 0, keys: [1, 2], kind: 0 })))
  const whole = endOf(log)
  let first = true
  const fickle: ReadableEnd = {
    read: async offset => {
      const bytes = await whole.read(offset)
      if (!first) return bytes
      first = false
      return bytes.subarray(readBatchHeader(bytes, 0).sizeBytes)
    },
  }
  equal((await compare(fickle, endOf(log), { to: 8 })).difference, undefined)
})

test('a range may begin and end inside of batches', async () => {
  const log = logOf(Array.from({ length: 4 }, () => ({ hole: 0, keys: [1, 2, 3], kind: 0 })))
  const { difference, progress } = await compare(endOf(log), endOf(log), { from: 4, to: 8 })
  equal(difference, undefined)
  deepEqual([progress.batches, progress.nextOffset], [2, 9])
})
