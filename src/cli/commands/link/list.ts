/** `lockstep link list` */
import type { LinkData, LinkDataList } from '../../../rest/schemas/links.ts'
import type { CommandAction } from '../../command-row.ts'
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

export const listLinks: CommandAction<{ includeTopics?: boolean }> = async (context, _args, options) => {
  const links = (await context.rest.get<LinkDataList>('/links')).data
  const withTopics = options.includeTopics === true
  const rows = withTopics
    ? links.flatMap(link => link.topic_names.map(topic => ({ link, topic })))
    : links.map(link => ({ link, topic: undefined }))
  const columns = withTopics ? [...linkColumns.slice(0, 2), TOPIC, ...linkColumns.slice(2)] : linkColumns
  const empty = links.length === 0 ? 'No cluster links.' : 'No cluster link has mirror topics.'
  printRows(context, rows, { columns, empty })
}
