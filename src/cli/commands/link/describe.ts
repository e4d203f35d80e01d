/** `lockstep link describe` */
import type { LinkData } from '../../../rest/schemas/links.ts'
import type { CommandAction } from '../../command-row.ts'
import { type Column, printOne } from '../../output.ts'
import { linkPath } from '../../resource-paths.ts'
import { linkColumns } from './list.ts'

const STATES: Column<{ link: LinkData; topic: undefined }> = {
  heading: 'Mirror Partition States Count',
  key: 'mirror_partition_states_count',
  value: row => row.link.category_counts.map(({ state_category, count }) => `${state_category}: ${count}`).join(', '),
  optional: true,
}

export const describeLink: CommandAction = async (context, [name = '']) => {
  const link = await context.rest.get<LinkData>(linkPath(name))
  printOne(context, { link, topic: undefined }, [...linkColumns, STATES])
}
