/** `lockstep consumer-group lag` */
import type { ConsumerLagData, ConsumerLagDataList } from '../../../rest/schemas/consumer-groups.ts'
import type { CommandAction } from '../../command-row.ts'
import { type Column, printRows } from '../../output.ts'

const COLUMNS: readonly Column<ConsumerLagData>[] = [
  { heading: 'Topic Name', key: 'topic_name', value: row => row.topic_name },
  { heading: 'Partition', key: 'partition', value: row => row.partition_id },
  { heading: 'Current Offset', key: 'current_offset', value: row => row.current_offset },
  { heading: 'Log End Offset', key: 'log_end_offset', value: row => row.log_end_offset },
  { heading: 'Lag', key: 'lag', value: row => row.lag },
  { heading: 'Consumer ID', key: 'consumer_id', value: row => row.consumer_id || null, optional: true },
  { heading: 'Client ID', key: 'client_id', value: row => row.client_id || null, optional: true },
]

export const showGroupLag: CommandAction = async (context, [group = '']) => {
  const path = `/consumer-groups/${encodeURIComponent(group)}/lags`
  const { data } = await context.rest.get<ConsumerLagDataList>(path)
  const rows = data.toSorted((a, b) => compare(a.topic_name, b.topic_name) || a.partition_id - b.partition_id)
  printRows(context, rows, { columns: COLUMNS, empty: 'The group has no offsets.' })
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
