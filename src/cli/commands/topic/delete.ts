/** `lockstep topic delete`; deleting a mirror topic ends its mirror. */

import type { MirrorData, MirrorDataList } from '../../../rest/schemas/mirrors.ts'
import type { PartitionDataList } from '../../../rest/schemas/topics.ts'
import type { CommandAction } from '../../command-row.ts'
import { type CommandContext, confirm } from '../../context.ts'
import { printReport } from '../../output.ts'
import { mirrorsPath, topicPath } from '../../resource-paths.ts'
import { counted } from '../../words.ts'

export const deleteTopic: CommandAction<{ force?: boolean }> = async (context, [name = ''], { force }) => {
  await confirm(context, force, () => question(context, name))
  await context.rest.delete(topicPath(name))
  printReport(context, { lines: [`Deleted topic "${name}".`], data: { topic_name: name, deleted: true } })
}

/** Names what goes, in numbers. A topic that does not exist is refused here. */
async function question(context: CommandContext, name: string): Promise<string> {
  const { data: partitions } = await context.rest.get<PartitionDataList>(`${topicPath(name)}/partitions`)
  const what = `Are you sure you want to delete topic "${name}" and all its data in ${counted(partitions.length, 'partition')}?`
  const mirror = await mirrorOf(context, name)
  if (!mirror) return what
  const offsets = mirror.mirror_lags.reduce(
    (sum, lag) => sum + Math.max(0, (lag.log_end_offset ?? 0) - (lag.log_start_offset ?? 0)),
    0,
  )
  return `It is a mirror topic of link "${mirror.link_name}" (${mirror.mirror_status}) with ${counted(offsets, 'offset')} of data; its mirror ends, too. ${what}`
}

/** Whoever may delete a topic may not be allowed to see links. */
async function mirrorOf(context: CommandContext, name: string): Promise<MirrorData | undefined> {
  try {
    const { data } = await context.rest.get<MirrorDataList>(mirrorsPath('-'))
    return data.find(mirror => mirror.mirror_topic_name === name && mirror.mirror_status !== 'STOPPED')
  } catch {
    return undefined
  }
}
