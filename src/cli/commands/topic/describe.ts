/** `lockstep topic describe` */
import type { TopicConfigDataList } from '../../../rest/schemas/configs.ts'
import type { PartitionDataList, TopicData } from '../../../rest/schemas/topics.ts'
import type { CommandAction } from '../../command-row.ts'
import { type Column, printData, printOne, printRows } from '../../output.ts'
import { topicPath } from '../../resource-paths.ts'
import { topicColumns } from './list.ts'

type Config = TopicConfigDataList['data'][number]
type Partition = PartitionDataList['data'][number]

const PARTITIONS: readonly Column<Partition>[] = [
  { heading: 'Partition', key: 'partition', value: row => row.partition_id },
  { heading: 'Leader', key: 'leader', value: row => row.leader_id },
  { heading: 'Replicas', key: 'replicas', value: row => row.replica_ids, text: row => row.replica_ids.join(', ') },
  { heading: 'In Sync', key: 'isr', value: row => row.isr_ids, text: row => row.isr_ids.join(', ') },
]

const CONFIGS: readonly Column<Config>[] = [
  { heading: 'Config Name', key: 'config_name', value: row => row.name },
  { heading: 'Config Value', key: 'config_value', value: row => row.value },
  { heading: 'Sensitive', key: 'sensitive', value: row => row.is_sensitive },
  { heading: 'Source', key: 'source', value: row => row.source },
]

export const describeTopic: CommandAction<{ allConfigs?: boolean }> = async (context, [name = ''], options) => {
  const { rest } = context
  const topic = await rest.get<TopicData>(topicPath(name))
  const [{ data: partitions }, { data: allConfigs }] = await Promise.all([
    rest.get<PartitionDataList>(`${topicPath(name)}/partitions`),
    rest.get<TopicConfigDataList>(`${topicPath(name)}/configs`),
  ])
  const configs = options.allConfigs ? allConfigs : allConfigs.filter(config => !config.is_default)
  partitions.sort((a, b) => a.partition_id - b.partition_id)
  if (context.format !== 'human') {
    const plain = <Row>(columns: readonly Column<Row>[], row: Row) =>
      Object.fromEntries(columns.map(({ key, value }) => [key, value(row)]))
    return printData(context, {
      ...plain(topicColumns, topic),
      partitions: partitions.map(row => plain(PARTITIONS, row)),
      configs: configs.map(row => plain(CONFIGS, row)),
    })
  }
  printOne(context, topic, topicColumns)
  context.terminal.out('\n')
  printRows(context, partitions, { columns: PARTITIONS, empty: 'No partitions.' })
  context.terminal.out('\n')
  printRows(context, configs, { columns: CONFIGS, empty: 'All configs are defaults.' })
}
