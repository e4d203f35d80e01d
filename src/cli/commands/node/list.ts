/** `lockstep node list` */
import type { NodeData, NodeDataList } from '../../../rest/schemas/clusters.ts'
import type { CommandAction } from '../../command-row.ts'
import type { CommandContext } from '../../context.ts'
import { type Column, printRows } from '../../output.ts'

const COLUMNS: readonly Column<NodeData>[] = [
  { heading: 'Node ID', key: 'node_id', value: row => row.node_id },
  { heading: 'Mode', key: 'mode', value: row => row.mode },
  { heading: 'Version', key: 'version', value: row => row.version },
  { heading: 'Health', key: 'health', value: row => row.health },
  { heading: 'Partitions Led', key: 'partitions_led', value: row => row.partitions_led },
  { heading: 'Mirror Partitions Led', key: 'mirror_partitions_led', value: row => row.mirror_partitions_led },
  {
    heading: 'Link Coordinator',
    key: 'link_coordinator',
    value: row => row.link_coordinator,
    text: row => yes(row.link_coordinator),
  },
  { heading: 'Cordoned', key: 'cordoned', value: row => row.cordoned, text: row => yes(row.cordoned) },
  { heading: 'REST URL', key: 'rest_url', value: row => row.rest_url },
  { heading: 'Message', key: 'health_message', value: row => row.health_message, optional: true },
]

const yes = (value: boolean) => (value ? 'yes' : 'no')

export const listNodes: CommandAction = async context => {
  printRows(context, await readNodes(context), { columns: COLUMNS, empty: 'No nodes.' })
}

export async function readNodes({ rest }: CommandContext): Promise<readonly NodeData[]> {
  return (await rest.get<NodeDataList>('/nodes')).data
}
