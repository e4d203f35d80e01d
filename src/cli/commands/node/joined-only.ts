/** `lockstep node drain` and `node unregister`: they are about nodes that joined a cluster as brokers, which none can do yet. */
import type { CommandAction } from '../../command-row.ts'
import type { CommandContext } from '../../context.ts'
import { wholeNumber } from '../../number-option.ts'
import { readNodes } from './list.ts'

export const drainNode: CommandAction = (context, [id = '']) => refuse(context, id, 'drain')
export const unregisterNode: CommandAction = (context, [id = '']) => refuse(context, id, 'unregister')

/** Says why, after a look at what the node is. */
async function refuse(context: CommandContext, text: string, verb: string): Promise<void> {
  const id = wholeNumber('the node id', text)
  const node = (await readNodes(context)).find(({ node_id }) => node_id === id)
  if (!node) throw new Error(`there is no node ${id}; see \`lockstep node list\``)
  if (node.mode === 'STANDALONE')
    throw new Error(
      `node ${id} is standalone: it is the whole cluster, and nothing can be moved to another node. ` +
        `\`node ${verb}\` is for nodes that have joined an Apache Kafka cluster`,
    )
  throw new Error(`\`node ${verb}\` is not supported yet by this version of Lockstep`)
}
