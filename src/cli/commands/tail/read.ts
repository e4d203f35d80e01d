/** `lockstep tail read`: records that a restore cut off, from the files that it exported. Asks no node. */
import { isUtf8 } from 'node:buffer'
import { isControl, isTransactional } from '../../../protocol/batches/batch-header.ts'
import { recordsOf } from '../../../protocol/batches/records-of.ts'
import type { CommandAction } from '../../command-row.ts'
import type { CommandContext } from '../../context.ts'
import { wholeNumber } from '../../number-option.ts'
import { type Column, printRows } from '../../output.ts'
import { counted, dateText } from '../../words.ts'
import { TailFile, type TransactionEnd } from './tail-file.ts'

interface Options {
  readonly fromOffset?: string
  readonly max?: string
}

/** A key or value: text where it is text. */
interface Bytes {
  readonly text: string | null
  readonly encoding: 'text' | 'base64'
}

interface Row {
  readonly path: string
  readonly offset: number
  readonly timestampMs: number
  readonly key: Bytes
  readonly value: Bytes
  readonly headers: readonly { readonly key: string; readonly value: Bytes }[]
  readonly transaction: TransactionEnd | undefined
  readonly producerId: string
}

/** Printed unless told otherwise. */
const rowsDefault = 1000

const COLUMNS: readonly Column<Row>[] = [
  { heading: 'File', key: 'file', value: row => row.path },
  { heading: 'Offset', key: 'offset', value: row => row.offset },
  { heading: 'Time (UTC)', key: 'timestamp_ms', value: row => row.timestampMs, text: row => dateText(row.timestampMs) },
  { heading: 'Transaction', key: 'transaction', value: row => row.transaction },
  { heading: 'Key', key: 'key', value: row => row.key.text },
  { heading: 'Value', key: 'value', value: row => row.value.text },
]

/** What a program needs to write the records again. */
const MORE: readonly Column<Row>[] = [
  { heading: 'Key Encoding', key: 'key_encoding', value: row => row.key.encoding },
  { heading: 'Value Encoding', key: 'value_encoding', value: row => row.value.encoding },
  {
    heading: 'Headers',
    key: 'headers',
    value: row => row.headers.map(({ key, value }) => ({ key, value: value.text, value_encoding: value.encoding })),
  },
  { heading: 'Producer Id', key: 'producer_id', value: row => row.producerId },
]

export const readTails: CommandAction<Options> = async (context, paths, options) => {
  const max = wholeNumber('--max', options.max, 1) ?? rowsDefault
  const from = wholeNumber('--from-offset', options.fromOffset) ?? 0
  const rows: Row[] = []
  let left = 0
  for (const path of paths) {
    const file = await TailFile.open(path)
    try {
      left += await readFrom(file, { from, max, rows })
    } finally {
      await file.close()
    }
  }
  const columns = context.format === 'human' ? COLUMNS : [...COLUMNS, ...MORE]
  printRows(context, rows, { columns, empty: 'No records.' })
  if (left > 0) tellLeft(context, left)
}

function tellLeft({ terminal }: CommandContext, left: number): void {
  terminal.err(`Warning: ${counted(left, 'more record')}; --max prints more, --from-offset begins further behind.\n`)
}

/** Resolves to how many records are left out. */
async function readFrom(
  file: TailFile,
  { from, max, rows }: { readonly from: number; readonly max: number; readonly rows: Row[] },
): Promise<number> {
  let left = 0
  for (const found of file.batches) {
    if (isControl(found) || found.lastOffset < from) continue
    if (rows.length >= max) {
      left += found.recordCount
      continue
    }
    const { bytes, header } = await file.read(found)
    const transaction = isTransactional(header) ? file.endOf(header) : undefined
    for (const { offset, timestamp, key, value, headers } of recordsOf(bytes, header)) {
      if (offset < from) continue
      if (rows.length >= max) left++
      else
        rows.push({
          path: file.path,
          offset,
          timestampMs: Number(timestamp),
          key: bytesText(key),
          value: bytesText(value),
          headers: headers.map(one => ({ key: one.key, value: bytesText(one.value) })),
          transaction,
          producerId: String(header.producerId),
        })
    }
  }
  return left
}

/** Nothing is lost: what is no text is told in base64. */
function bytesText(bytes: Buffer | null): Bytes {
  if (bytes === null) return { text: null, encoding: 'text' }
  return isUtf8(bytes)
    ? { text: bytes.toString(), encoding: 'text' }
    : { text: bytes.toString('base64'), encoding: 'base64' }
}
