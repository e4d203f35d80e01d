/** `lockstep node unregister`: the cluster forgets a node that has stopped for good. */
import type { CommandAction } from '../../command-row.ts'
import { confirm } from '../../context.ts'
import { printReport } from '../../output.ts'
import { requireJoinedNode } from './joined-only.ts'

export const unregisterNode: CommandAction<{ force?: boolean }> = async (context, [text = ''], { force }) => {
  const node = await requireJoinedNode(context, text, 'unregister')
  const { node_id: id, health, rest_url: url } = node
  await confirm(
    context,
    force,
    async () =>
      `Are you sure you want to remove node ${id} (${health}, ${url}) from the cluster? It can come back only by registering anew.`,
  )
  await context.rest.delete(`/nodes/${id}`)
  printReport(context, { lines: [`Removed node ${id} from the cluster.`], data: { node_id: id, unregistered: true } })
}
