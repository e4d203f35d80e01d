/** `lockstep group list` */
import type { LinkGroupData, LinkGroupDataList } from '../../../rest/schemas/groups.ts'
import type { CommandAction } from '../../command-row.ts'
import { type Column, printRows } from '../../output.ts'
import { linkPath } from '../../resource-paths.ts'
import { dateText } from '../../words.ts'

const COLUMNS: readonly Column<LinkGroupData>[] = [
  { heading: 'Group', key: 'group', value: row => row.group_id },
  { heading: 'Topic Type', key: 'topic_type', value: row => row.topic_type },
  { heading: 'Topic Name', key: 'topic_name', value: row => row.topic_name },
  { heading: 'Partition', key: 'partition', value: row => row.partition },
  { heading: 'Source Offset', key: 'source_offset', value: row => row.source_offset },
  { heading: 'Synced Offset', key: 'synced_offset', value: row => row.synced_offset },
  {
    heading: 'Synced At (UTC)',
    key: 'synced_time_ms',
    value: row => row.synced_time_ms,
    text: row => (row.synced_time_ms === null ? '' : dateText(row.synced_time_ms)),
  },
  { heading: 'Clamped', key: 'clamped', value: row => row.clamped },
  { heading: 'State', key: 'state', value: row => row.state },
  { heading: 'Reason', key: 'reason', value: row => row.reason },
]

export const listGroups: CommandAction<{ link: string }> = async (context, _args, { link }) => {
  const { data } = await context.rest.get<LinkGroupDataList>(`${linkPath(link)}/groups`)
  printRows(context, data, { columns: COLUMNS, empty: 'No groups.' })
}
