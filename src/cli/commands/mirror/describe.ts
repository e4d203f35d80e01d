/** `lockstep mirror describe` */
import type { MirrorData } from '../../../rest/schemas/mirrors.ts'
import type { CommandAction } from '../../command-row.ts'
import { type Column, printRows, printText } from '../../output.ts'
import { mirrorPath } from '../../resource-paths.ts'
import { counted } from '../../words.ts'
import { peerText } from './wait.ts'

interface Row {
  readonly mirror: MirrorData
  /** Undefined where nothing is known of partitions: a row for the topic alone. */
  readonly lag: MirrorData['mirror_lags'][number] | undefined
}

const COLUMNS: readonly Column<Row>[] = [
  { heading: 'Link Name', key: 'link_name', value: row => row.mirror.link_name },
  { heading: 'Mirror Topic Name', key: 'mirror_topic_name', value: row => row.mirror.mirror_topic_name },
  { heading: 'Source Topic Name', key: 'source_topic_name', value: row => row.mirror.source_topic_name },
  { heading: 'Mirror Status', key: 'mirror_status', value: row => row.mirror.mirror_status },
  { heading: 'Mirror Topic Error', key: 'mirror_topic_error', value: row => row.mirror.mirror_topic_error },
  { heading: 'Status Time (ms)', key: 'status_time_ms', value: row => row.mirror.state_time_ms },
  { heading: 'Partition', key: 'partition', value: row => row.lag?.partition },
  { heading: 'Partition Mirror Lag', key: 'partition_mirror_lag', value: row => row.lag?.lag },
  {
    heading: 'Last Source Fetch Offset',
    key: 'last_source_fetch_offset',
    value: row => row.lag?.last_source_fetch_offset,
  },
]

export const describeMirror: CommandAction<{ link: string }> = async (context, [topic = ''], { link }) => {
  const mirror = await context.rest.get<MirrorData>(mirrorPath(link, topic))
  const lags = mirror.mirror_lags.toSorted((a, b) => a.partition - b.partition)
  const rows: Row[] = lags.length === 0 ? [{ mirror, lag: undefined }] : lags.map(lag => ({ mirror, lag }))
  printRows(context, rows, { columns: COLUMNS, empty: '' })
  if (context.format !== 'human') return
  const note = (text: string) => {
    context.terminal.out('\n')
    printText(context.terminal, text)
  }
  for (const { partition, reason } of lags)
    if (reason !== null && reason !== mirror.reason) note(`Partition ${partition}: ${reason}`)
  if (mirror.reason !== null) note(`Reason: ${mirror.reason}`)
  if (mirror.reversal) note(reversalText(mirror.reversal))
  note(`Allowed now: ${mirror.allowed_actions.join(', ') || 'nothing'}`)
}

function reversalText(reversal: NonNullable<MirrorData['reversal']>): string {
  const { read_only_ms: ms, aborted_transactions: aborted } = reversal
  const window = ms === null ? '' : `. Nobody could write for ${ms} ms; ${counted(aborted, 'transaction')} aborted.`
  return `Other side: ${peerText(reversal)}${window}`
}
