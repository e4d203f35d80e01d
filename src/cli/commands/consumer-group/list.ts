/** `lockstep consumer-group list` */
import type { ConsumerGroupData, ConsumerGroupDataList } from '../../../rest/schemas/consumer-groups.ts'
import type { CommandAction } from '../../command-row.ts'
import { type Column, printRows } from '../../output.ts'

const COLUMNS: readonly Column<ConsumerGroupData>[] = [
  { heading: 'Group', key: 'consumer_group_id', value: row => row.consumer_group_id },
  { heading: 'Type', key: 'type', value: row => row.type },
  { heading: 'State', key: 'state', value: row => row.state },
  { heading: 'Assignor', key: 'partition_assignor', value: row => row.partition_assignor },
  { heading: 'Simple', key: 'is_simple', value: row => row.is_simple },
]

export const listConsumerGroups: CommandAction = async context => {
  const { data } = await context.rest.get<ConsumerGroupDataList>('/consumer-groups')
  printRows(context, data, { columns: COLUMNS, empty: 'No consumer groups.' })
}
