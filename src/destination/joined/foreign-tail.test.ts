/** What others appended behind the mirrored records: markers that may go, records that may not. */
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { buildEndMarker } from '../../protocol/batches/control-batch.ts'
import { foreignTail, type TailedLog } from './foreign-tail.ts'

type Piece = { readonly epoch: number; readonly offset: number; readonly marker?: boolean }

/** A log of single records and markers. */
function logOf(pieces: readonly Piece[], logStartOffset = 0): TailedLog {
  const logEndOffset = (pieces.at(-1)?.offset ?? logStartOffset - 1) + 1
  const starts = new Map<number, number>()
  for (const { epoch, offset } of pieces) if (!starts.has(epoch)) starts.set(epoch, offset)
  const bytes = ({ epoch: leaderEpoch, offset, marker }: Piece) =>
    marker
      ? buildEndMarker({
          type: 'abort',
          producerId: 1n,
          producerEpoch: 0,
          coordinatorEpoch: 0,
          offset,
          timestamp: 0n,
          leaderEpoch,
        })
      : buildBatch({
          baseOffset: offset,
          leaderEpoch,
          records: [{ timestamp: 0n, key: null, value: Buffer.from('x') }],
        })
  return {
    logStartOffset,
    logEndOffset,
    epochAt: offset => pieces.findLast(piece => piece.offset <= offset)?.epoch,
    endOffsetForEpoch(epoch) {
      const next = [...starts].find(([other]) => other > epoch)
      return { epoch, endOffset: next ? next[1] : logEndOffset }
    },
    read: async ({ offset }) => ({
      kind: 'batches' as const,
      records: Buffer.concat(pieces.filter(piece => piece.offset >= offset).map(bytes)),
    }),
  }
}

test('a log that ends with what was mirrored has no foreign tail', async () => {
  equal(await foreignTail(logOf([]), new Set()), undefined)
  equal(
    await foreignTail(
      logOf([
        { epoch: 0, offset: 0 },
        { epoch: 3, offset: 1 },
      ]),
      new Set([0, 3]),
    ),
    undefined,
  )
  // A marker of the source is like every other batch of the mirror.
  equal(await foreignTail(logOf([{ epoch: 0, offset: 0, marker: true }]), new Set([0])), undefined)
})

test('markers of one or several leaders behind the mirrored records are a tail without records', async () => {
  const log = logOf(
    [
      { epoch: 0, offset: 4 },
      { epoch: 1, offset: 5, marker: true },
      { epoch: 2, offset: 6, marker: true },
    ],
    4,
  )
  deepEqual(await foreignTail(log, new Set([0])), { start: 5, markers: 2, firstRecord: undefined })
})

test('a record of others is found behind their markers, also where everything was mirrored by nobody', async () => {
  const log = logOf([
    { epoch: 0, offset: 0 },
    { epoch: 1, offset: 1, marker: true },
    { epoch: 1, offset: 2 },
  ])
  deepEqual(await foreignTail(log, new Set([0])), { start: 1, markers: 1, firstRecord: 2 })
  deepEqual(await foreignTail(log, new Set()), { start: 0, markers: 0, firstRecord: 0 })
})

test('what a peer mirrored between two lives of this node is no foreign tail', async () => {
  const log = logOf([
    { epoch: 0, offset: 0 },
    { epoch: 2, offset: 1 },
    { epoch: 3, offset: 2, marker: true },
  ])
  deepEqual(await foreignTail(log, new Set([0, 2])), { start: 2, markers: 1, firstRecord: undefined })
})
