/** `lockstep topic list` */
import type { Command } from 'commander'
import type { TopicData, TopicDataList } from '../../../rest/schemas/clusters.ts'
import { type CliEnvironment, type CommandContext, contextOf } from '../../context.ts'
import { type Column, printRows } from '../../output.ts'

const COLUMNS: readonly Column<TopicData>[] = [
  { heading: 'Name', key: 'topic_name', value: topic => topic.topic_name },
  { heading: 'Topic ID', key: 'topic_id', value: topic => topic.topic_id },
  { heading: 'Partitions', key: 'partitions_count', value: topic => topic.partitions_count },
  { heading: 'Replication Factor', key: 'replication_factor', value: topic => topic.replication_factor },
  { heading: 'Internal', key: 'is_internal', value: topic => topic.is_internal },
]

export function addTopicList(topic: Command, environment: CliEnvironment): void {
  topic
    .command('list')
    .description('list topics')
    .action((_options: unknown, command: Command) => listTopics(contextOf(command, environment)))
}

async function listTopics(context: CommandContext): Promise<void> {
  const { data } = await context.rest.get<TopicDataList>('/topics')
  printRows(context.terminal, data, { columns: COLUMNS, format: context.format, empty: 'No topics.' })
}
