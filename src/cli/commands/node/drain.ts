/** `lockstep node drain` */
import type { DrainNodeAnswer } from '../../../rest/schemas/placement.ts'
import type { CommandAction } from '../../command-row.ts'
import { confirm } from '../../context.ts'
import { printReport } from '../../output.ts'
import { counted } from '../../words.ts'
import { printMoved } from '../moved-partitions.ts'
import { requireJoinedNode } from './joined-only.ts'

interface Options {
  readonly dryRun?: boolean
  readonly force?: boolean
  readonly resume?: boolean
}

export const drainNode: CommandAction<Options> = async (context, [text = ''], { dryRun, force, resume }) => {
  const { node_id: id } = await requireJoinedNode(context, text, 'drain')
  if (resume === true) {
    await context.rest.post(`/nodes/${id}:resume`)
    const lines = [`Node ${id} gets new mirrors again.`]
    return printReport(context, { lines, data: { node_id: id, draining: false } })
  }
  const drain = async (query: string) => (await context.rest.post<DrainNodeAnswer>(`/nodes/${id}:drain${query}`)).data
  if (dryRun !== true)
    await confirm(context, force, async () => {
      const planned = await drain('?validate_only=true')
      return `${counted(planned.length, 'partition')} will be moved away from node ${id}, which gets no new mirrors from then on. Continue?`
    })
  printMoved(context, await drain(dryRun === true ? '?validate_only=true' : ''), `Nothing of ours is on node ${id}.`)
}
