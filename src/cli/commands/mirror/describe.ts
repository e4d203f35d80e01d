/** `lockstep mirror describe` */
import type { Command } from 'commander'
import type { MirrorData } from '../../../rest/schemas/mirrors.ts'
import { type CliEnvironment, type CommandContext, contextOf } from '../../context.ts'
import { type Column, printRows } from '../../output.ts'

interface Row {
  readonly mirror: MirrorData
  readonly lag: MirrorData['mirror_lags'][number]
}

const COLUMNS: readonly Column<Row>[] = [
  { heading: 'Link Name', key: 'link_name', value: row => row.mirror.link_name },
  { heading: 'Mirror Topic Name', key: 'mirror_topic_name', value: row => row.mirror.mirror_topic_name },
  { heading: 'Source Topic Name', key: 'source_topic_name', value: row => row.mirror.source_topic_name },
  { heading: 'Mirror Status', key: 'mirror_status', value: row => row.mirror.mirror_status },
  { heading: 'Mirror Topic Error', key: 'mirror_topic_error', value: row => row.mirror.mirror_topic_error },
  { heading: 'Status Time (ms)', key: 'status_time_ms', value: row => row.mirror.state_time_ms },
  { heading: 'Partition', key: 'partition', value: row => row.lag.partition },
  { heading: 'Partition Mirror Lag', key: 'partition_mirror_lag', value: row => row.lag.lag },
  {
    heading: 'Last Source Fetch Offset',
    key: 'last_source_fetch_offset',
    value: row => row.lag.last_source_fetch_offset,
  },
]

export function addMirrorDescribe(mirror: Command, environment: CliEnvironment): void {
  mirror
    .command('describe <topic>')
    .description('show one mirror topic, a row for each partition')
    .requiredOption('--link <name>', 'the link that the mirror belongs to')
    .action((topic: string, options: { link: string }, command: Command) =>
      describeMirror(contextOf(command, environment), topic, options.link),
    )
}

async function describeMirror(context: CommandContext, topic: string, link: string): Promise<void> {
  const path = `/links/${encodeURIComponent(link)}/mirrors/${encodeURIComponent(topic)}`
  const mirror = await context.rest.get<MirrorData>(path)
  const rows = mirror.mirror_lags.toSorted((a, b) => a.partition - b.partition).map(lag => ({ mirror, lag }))
  printRows(context.terminal, rows, { columns: COLUMNS, format: context.format, empty: 'No partitions.' })
  if (context.format !== 'human') return
  if (mirror.reason !== null) context.terminal.out(`\nReason: ${mirror.reason}\n`)
  context.terminal.out(`\nAllowed now: ${mirror.allowed_actions.join(', ') || 'nothing'}\n`)
}
