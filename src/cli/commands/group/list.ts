/** `lockstep group list` */
import type { Command } from 'commander'
import type { LinkGroupData, LinkGroupDataList } from '../../../rest/schemas/groups.ts'
import { type CliEnvironment, contextOf } from '../../context.ts'
import { type Column, printRows } from '../../output.ts'

const COLUMNS: readonly Column<LinkGroupData>[] = [
  { heading: 'Group', key: 'group', value: row => row.group_id },
  { heading: 'Topic Name', key: 'topic_name', value: row => row.topic_name },
  { heading: 'Partition', key: 'partition', value: row => row.partition },
  { heading: 'Source Offset', key: 'source_offset', value: row => row.source_offset },
  { heading: 'Synced Offset', key: 'synced_offset', value: row => row.synced_offset },
  { heading: 'Clamped', key: 'clamped', value: row => row.clamped },
  { heading: 'State', key: 'state', value: row => row.state },
  { heading: 'Reason', key: 'reason', value: row => row.reason },
]

export function addGroupList(group: Command, environment: CliEnvironment): void {
  group
    .command('list')
    .description('offsets of the groups that a link keeps in step, and why some are not')
    .requiredOption('--link <name>', 'the link')
    .action(async ({ link }: { link: string }, command: Command) => {
      const context = contextOf(command, environment)
      const { data } = await context.rest.get<LinkGroupDataList>(`/links/${encodeURIComponent(link)}/groups`)
      printRows(context.terminal, data, { columns: COLUMNS, format: context.format, empty: 'No groups.' })
    })
}
