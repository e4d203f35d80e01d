/** `lockstep link source-topics` */
import type { CommandAction } from '../../command-row.ts'
import { type Column, printRows } from '../../output.ts'
import { linkPath } from '../../resource-paths.ts'

/** As GET …/links/{link}/source-topics answers. */
interface SourceTopic {
  readonly source_topic_name: string
  readonly mirror_topic_name: string | null
  readonly num_partitions: number | null
  readonly mirrored: boolean
  readonly mirror_status: string | null
  readonly reason: string | null
  readonly message: string | null
}

const COLUMNS: readonly Column<SourceTopic>[] = [
  { heading: 'Source Topic Name', key: 'source_topic_name', value: row => row.source_topic_name },
  { heading: 'Mirror Topic Name', key: 'mirror_topic_name', value: row => row.mirror_topic_name },
  { heading: 'Num Partition', key: 'num_partitions', value: row => row.num_partitions },
  { heading: 'Mirrored', key: 'mirrored', value: row => row.mirrored, text: row => (row.mirrored ? 'yes' : 'no') },
  { heading: 'Mirror Status', key: 'mirror_status', value: row => row.mirror_status },
  { heading: 'Reason', key: 'reason', value: row => row.reason },
  { heading: 'Message', key: 'message', value: row => row.message },
]

export const listSourceTopics: CommandAction<{ notMirrored?: boolean }> = async (context, [link = ''], options) => {
  const { data } = await context.rest.get<{ data: readonly SourceTopic[] }>(`${linkPath(link)}/source-topics`)
  const rows = options.notMirrored ? data.filter(topic => !topic.mirrored) : data
  printRows(context, rows, { columns: COLUMNS, empty: 'No source topics.' })
}
