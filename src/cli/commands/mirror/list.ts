/** `lockstep mirror list` */
import type { Command } from 'commander'
import type { MirrorData, MirrorDataList } from '../../../rest/schemas/mirrors.ts'
import { type CliEnvironment, type CommandContext, contextOf } from '../../context.ts'
import { type Column, printRows } from '../../output.ts'

const COLUMNS: readonly Column<MirrorData>[] = [
  { heading: 'Link Name', key: 'link_name', value: mirror => mirror.link_name },
  { heading: 'Mirror Topic Name', key: 'mirror_topic_name', value: mirror => mirror.mirror_topic_name },
  { heading: 'Source Topic Name', key: 'source_topic_name', value: mirror => mirror.source_topic_name },
  { heading: 'Mirror Status', key: 'mirror_status', value: mirror => mirror.mirror_status },
  { heading: 'Status Time (ms)', key: 'status_time_ms', value: mirror => mirror.state_time_ms },
  { heading: 'Num Partition', key: 'num_partition', value: mirror => mirror.num_partitions },
  { heading: 'Max Per Partition Mirror Lag', key: 'max_per_partition_mirror_lag', value: maxLag },
]

export function addMirrorList(mirror: Command, environment: CliEnvironment): void {
  mirror
    .command('list')
    .description('list mirror topics')
    .option('--link <name>', 'only those of one link')
    .option('--mirror-status <status>', 'active, failed, paused, stopped or pending_stopped')
    .action((options: { link?: string; mirrorStatus?: string }, command: Command) =>
      listMirrors(contextOf(command, environment), options),
    )
}

async function listMirrors(context: CommandContext, options: { link?: string; mirrorStatus?: string }): Promise<void> {
  const mirrors = await context.rest.get<MirrorDataList>(`/links/${encodeURIComponent(options.link ?? '-')}/mirrors`, {
    query: { mirror_status: options.mirrorStatus?.toUpperCase() },
  })
  printRows(context.terminal, mirrors.data, { columns: COLUMNS, format: context.format, empty: 'No mirror topics.' })
}

/** The worst partition; unknown as long as one partition has never been fetched. */
function maxLag(mirror: MirrorData): number | null {
  const lags = mirror.mirror_lags.map(({ lag }) => lag)
  return lags.some(lag => lag === null) ? null : Math.max(0, ...lags.map(lag => lag ?? 0))
}
