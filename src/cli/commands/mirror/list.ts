/** `lockstep mirror list` */
import type { MirrorData, MirrorDataList } from '../../../rest/schemas/mirrors.ts'
import type { CommandAction } from '../../command-row.ts'
import { type Column, printRows } from '../../output.ts'
import { mirrorsPath } from '../../resource-paths.ts'

const COLUMNS: readonly Column<MirrorData>[] = [
  { heading: 'Link Name', key: 'link_name', value: mirror => mirror.link_name },
  { heading: 'Mirror Topic Name', key: 'mirror_topic_name', value: mirror => mirror.mirror_topic_name },
  { heading: 'Source Topic Name', key: 'source_topic_name', value: mirror => mirror.source_topic_name },
  { heading: 'Mirror Status', key: 'mirror_status', value: mirror => mirror.mirror_status },
  { heading: 'Status Time (ms)', key: 'status_time_ms', value: mirror => mirror.state_time_ms },
  { heading: 'Num Partition', key: 'num_partition', value: mirror => mirror.num_partitions },
  { heading: 'Max Per Partition Mirror Lag', key: 'max_per_partition_mirror_lag', value: maxLag },
]

interface Options {
  readonly link?: string
  readonly mirrorStatus?: string
}

export const listMirrors: CommandAction<Options> = async (context, _args, { link = '-', mirrorStatus }) => {
  const query = { mirror_status: mirrorStatus?.toUpperCase() }
  const { data } = await context.rest.get<MirrorDataList>(mirrorsPath(link), { query })
  printRows(context, data, { columns: COLUMNS, empty: 'No mirror topics.' })
}

/** The worst partition; unknown as long as one partition has never been fetched. */
export function maxLag(mirror: MirrorData): number | null {
  const lags = mirror.mirror_lags.map(({ lag }) => lag)
  return lags.some(lag => lag === null) ? null : Math.max(0, ...lags.map(lag => lag ?? 0))
}
