/** `lockstep group adopt` */
import type { AdoptGroupAnswer, LinkGroupDataList } from '../../../rest/schemas/groups.ts'
import type { CommandAction } from '../../command-row.ts'
import { confirm } from '../../context.ts'
import { printReport } from '../../output.ts'
import { linkPath } from '../../resource-paths.ts'
import { counted } from '../../words.ts'

interface Options {
  readonly link: string
  readonly force?: boolean
}

export const adoptGroup: CommandAction<Options> = async (context, [group = ''], { link, force }) => {
  await confirm(context, force, async () => {
    const { data } = await context.rest.get<LinkGroupDataList>(`${linkPath(link)}/groups`)
    const conflicts = data.filter(row => row.group_id === group && row.state === 'CONFLICT').length
    return `${counted(conflicts, 'offset')} of group "${group}" here that link "${link}" did not write will be replaced by those of the source. Continue?`
  })
  const answer = await context.rest.post<AdoptGroupAnswer>(
    `${linkPath(link)}/groups/${encodeURIComponent(group)}:adopt`,
  )
  const { adopted_offsets: count } = answer
  printReport(context, {
    lines: [`Group "${group}": ${count} offset(s) are followed from now on.`],
    data: { link_name: link, group, adopted_offsets: count },
  })
}
