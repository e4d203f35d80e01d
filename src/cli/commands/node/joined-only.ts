/** What `lockstep node drain` and `node unregister` have in common: they are about nodes that joined a cluster as brokers. */
import type { NodeData } from '../../../rest/schemas/clusters.ts'
import type { CommandContext } from '../../context.ts'
import { wholeNumber } from '../../number-option.ts'
import { readNodes } from './list.ts'

/** The node of that id. Throws where there is none, or where it is standalone. */
export async function requireJoinedNode(context: CommandContext, text: string, verb: string): Promise<NodeData> {
  const id = wholeNumber('the node id', text)
  const node = (await readNodes(context)).find(({ node_id }) => node_id === id)
  if (!node) throw new Error(`there is no node ${id}; see \`lockstep node list\``)
  if (node.mode === 'STANDALONE')
    throw new Error(
      `node ${id} is standalone: it is the whole cluster, and nothing can be moved to another node. ` +
        `\`node ${verb}\` is for nodes that have joined an Apache Kafka cluster`,
    )
  return node
}
