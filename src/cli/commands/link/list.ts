/** `lockstep link list` */
import type { Command } from 'commander'
import type { LinkData, LinkDataList } from '../../../rest/schemas/links.ts'
import { type CliEnvironment, type CommandContext, contextOf } from '../../context.ts'
import { type Column, printRows } from '../../output.ts'

interface Row {
  readonly link: LinkData
  readonly topic: string | undefined
}

const TOPIC: Column<Row> = { heading: 'Topic Name', key: 'topic_name', value: row => row.topic, optional: true }

/** Columns that list and describe share. */
export const linkColumns: readonly Column<Row>[] = [
  { heading: 'Name', key: 'link_name', value: row => row.link.link_name },
  { heading: 'ID', key: 'link_id', value: row => row.link.cluster_link_id },
  { heading: 'Source Cluster', key: 'source_cluster', value: row => row.link.source_cluster_id, optional: true },
  {
    heading: 'Destination Cluster',
    key: 'destination_cluster',
    value: row => row.link.destination_cluster_id,
    optional: true,
  },
  { heading: 'Remote Cluster', key: 'remote_cluster', value: row => row.link.remote_cluster_id, optional: true },
  { heading: 'State', key: 'state', value: row => row.link.link_state },
  { heading: 'Error', key: 'error', value: row => row.link.link_error, optional: true },
  { heading: 'Error Message', key: 'error_message', value: row => row.link.link_error_message, optional: true },
]

export function addLinkList(link: Command, environment: CliEnvironment): void {
  link
    .command('list')
    .description('list links')
    .option('--include-topics', 'one row for every mirror topic of each link')
    .action((options: { includeTopics?: boolean }, command: Command) =>
      listLinks(contextOf(command, environment), options.includeTopics === true),
    )
}

async function listLinks(context: CommandContext, withTopics: boolean): Promise<void> {
  const links = (await context.rest.get<LinkDataList>('/links')).data
  const rows = withTopics
    ? links.flatMap(link => link.topic_names.map(topic => ({ link, topic })))
    : links.map(link => ({ link, topic: undefined }))
  const columns = withTopics ? [...linkColumns.slice(0, 2), TOPIC, ...linkColumns.slice(2)] : linkColumns
  printRows(context.terminal, rows, { columns, format: context.format, empty: 'No cluster links.' })
}
