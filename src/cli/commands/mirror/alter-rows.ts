/** The table that every verb on mirrors prints: a row per partition, or one row with -1 for a refused topic. */
import type { AlterMirrorsAnswer } from '../../../rest/schemas/mirrors.ts'
import type { CommandContext } from '../../context.ts'
import { type Column, printRows } from '../../output.ts'

interface Row {
  readonly topic: string
  readonly partition: number
  readonly lag: number | null
  readonly lastSourceFetchOffset: number
  readonly endOffset: number | null
  readonly waitingFor: string
  readonly errorMessage: string
  readonly errorCode: string
}

const COLUMNS: readonly Column<Row>[] = [
  { heading: 'Mirror Topic Name', key: 'mirror_topic_name', value: row => row.topic },
  { heading: 'Partition', key: 'partition', value: row => row.partition },
  { heading: 'Partition Mirror Lag', key: 'partition_mirror_lag', value: row => row.lag },
  { heading: 'Last Source Fetch Offset', key: 'last_source_fetch_offset', value: row => row.lastSourceFetchOffset },
  { heading: 'End Offset', key: 'end_offset', value: row => row.endOffset },
  { heading: 'Waiting For', key: 'waiting_for', value: row => row.waitingFor },
  { heading: 'Error Message', key: 'error_message', value: row => row.errorMessage },
  { heading: 'Error Code', key: 'error_code', value: row => row.errorCode },
]

export function printAlterRows(context: CommandContext, answer: AlterMirrorsAnswer): void {
  const rows = answer.data.flatMap(rowsOf)
  printRows(context.terminal, rows, { columns: COLUMNS, format: context.format, empty: 'No mirror topic matched.' })
  if (context.format !== 'human') return
  const aborted = answer.data.reduce((sum, row) => sum + row.open_transactions, 0)
  const named = (field: 'groups_behind' | 'groups_in_use') => [...new Set(answer.data.flatMap(row => row[field]))]
  const [behind, inUse] = [named('groups_behind'), named('groups_in_use')]
  if (behind.length > 0) context.terminal.out(`\nGroups whose offsets are not in step yet: ${behind.join(', ')}\n`)
  if (inUse.length > 0) context.terminal.out(`Groups in use here, which stay as they are: ${inUse.join(', ')}\n`)
  if (aborted > 0) context.terminal.out(`\nOpen transactions aborted: ${aborted}\n`)
}

function rowsOf(row: AlterMirrorsAnswer['data'][number]): Row[] {
  const failed = (row.error_code ?? 0) !== 0
  const shared = {
    topic: row.mirror_topic_name,
    errorMessage: row.error_message ?? '',
    errorCode: failed ? String(row.error_code) : '',
  }
  if (failed) return [{ ...shared, partition: -1, lag: -1, lastSourceFetchOffset: -1, endOffset: -1, waitingFor: '' }]
  const parts = new Map(row.partitions.map(part => [part.partition, part]))
  return row.mirror_lags
    .toSorted((a, b) => a.partition - b.partition)
    .map(lag => ({
      ...shared,
      partition: lag.partition,
      lag: lag.lag,
      lastSourceFetchOffset: lag.last_source_fetch_offset,
      endOffset: parts.get(lag.partition)?.end_offset ?? null,
      waitingFor: parts.get(lag.partition)?.waiting_for ?? '',
    }))
}
