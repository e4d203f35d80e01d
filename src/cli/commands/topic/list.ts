/** `lockstep topic list` */
import type { TopicData, TopicDataList } from '../../../rest/schemas/topics.ts'
import type { CommandAction } from '../../command-row.ts'
import { type Column, printRows } from '../../output.ts'

/** Columns that list and describe share. */
export const topicColumns: readonly Column<TopicData>[] = [
  { heading: 'Name', key: 'topic_name', value: topic => topic.topic_name },
  { heading: 'Topic ID', key: 'topic_id', value: topic => topic.topic_id },
  { heading: 'Partitions', key: 'partitions_count', value: topic => topic.partitions_count },
  { heading: 'Replication Factor', key: 'replication_factor', value: topic => topic.replication_factor },
  { heading: 'Internal', key: 'is_internal', value: topic => topic.is_internal },
]

export const listTopics: CommandAction = async context => {
  const { data } = await context.rest.get<TopicDataList>('/topics')
  printRows(context, data, { columns: topicColumns, empty: 'No topics.' })
}
