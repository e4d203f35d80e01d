/** The table that every verb on mirrors prints: a row per partition, or one row with -1 for a refused topic. */
import type { CommandContext } from '../../context.ts'
import { type Column, printRows, printText } from '../../output.ts'
import { byteText, counted } from '../../words.ts'
import { type AlterRow, isRefused } from './ask-verb.ts'

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

/** The first six are known from elsewhere; ours follow. */
const COLUMNS: readonly Column<Row>[] = [
  { heading: 'Mirror Topic Name', key: 'mirror_topic_name', value: row => row.topic },
  { heading: 'Partition', key: 'partition', value: row => row.partition },
  { heading: 'Partition Mirror Lag', key: 'partition_mirror_lag', value: row => row.lag },
  { heading: 'Last Source Fetch Offset', key: 'last_source_fetch_offset', value: row => row.lastSourceFetchOffset },
  { heading: 'Error Message', key: 'error_message', value: row => row.errorMessage },
  { heading: 'Error Code', key: 'error_code', value: row => row.errorCode },
  { heading: 'End Offset', key: 'end_offset', value: row => row.endOffset },
  { heading: 'Waiting For', key: 'waiting_for', value: row => row.waitingFor },
]

export function printAlterRows(context: CommandContext, answer: readonly AlterRow[], isDry: boolean): void {
  printRows(context, answer.flatMap(rowsOf), { columns: COLUMNS, empty: 'No mirror topic matched.' })
  if (context.format !== 'human') return
  for (const note of notesOf(answer, isDry)) {
    context.terminal.out('\n')
    printText(context.terminal, note)
  }
}

/** What holds for the topics as a whole. */
function notesOf(answer: readonly AlterRow[], isDry: boolean): string[] {
  const aborted = answer.reduce((sum, row) => sum + row.open_transactions, 0)
  const atRisk = answer.reduce((sum, row) => sum + (row.retention_bytes_at_risk ?? 0), 0)
  const deleted = answer.flatMap(row => row.partitions).reduce((sum, part) => sum + (part.deleted_at_source ?? 0), 0)
  const named = (field: 'groups_behind' | 'groups_in_use') => [...new Set(answer.flatMap(row => row[field]))]
  const [behind, inUse] = [named('groups_behind'), named('groups_in_use')]
  return [
    ...(behind.length > 0 ? [`Groups whose offsets are not in step yet: ${behind.join(', ')}`] : []),
    ...(inUse.length > 0 ? [`Groups in use here, which stay as they are: ${inUse.join(', ')}`] : []),
    ...(deleted > 0
      ? [`Offsets that the source has deleted meanwhile, and that go here too or were never seen: ${deleted}`]
      : []),
    ...(aborted > 0 ? [`Open transactions ${isDry ? 'that would be ' : ''}aborted: ${aborted}`] : []),
    ...(atRisk > 0 ? [`${byteText(atRisk)} of old data will soon be deleted by the restored retention.`] : []),
    ...new Set(answer.flatMap(row => row.warnings ?? [])),
  ]
}

function rowsOf(row: AlterRow): Row[] {
  const isFailed = isRefused(row)
  const shared = {
    topic: row.mirror_topic_name,
    errorMessage: row.error_message ?? '',
    errorCode: isFailed ? String(row.error_code) : '',
  }
  // Of an ordinary topic, such as one that a failover gave back, there is nothing to tell by partition.
  if (isFailed || row.mirror_lags.length === 0)
    return [{ ...shared, partition: -1, lag: -1, lastSourceFetchOffset: -1, endOffset: -1, waitingFor: '' }]
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

/** Says how many were refused, if any; undefined = none. */
export function refusalText(answer: readonly AlterRow[]): string | undefined {
  const refused = answer.filter(isRefused).length
  return refused === 0
    ? undefined
    : `${refused} of ${counted(answer.length, 'topic')} ${refused === 1 ? 'was' : 'were'} refused`
}
