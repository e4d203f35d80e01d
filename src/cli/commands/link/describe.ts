/** `lockstep link describe` */
import type { Command } from 'commander'
import type { LinkData } from '../../../rest/schemas/links.ts'
import { type CliEnvironment, type CommandContext, contextOf } from '../../context.ts'
import { type Column, printOne } from '../../output.ts'
import { linkColumns } from './list.ts'

const STATES: Column<{ link: LinkData; topic: undefined }> = {
  heading: 'Mirror Partition States Count',
  key: 'mirror_partition_states_count',
  value: row => row.link.category_counts.map(({ state_category, count }) => `${state_category}: ${count}`).join(', '),
}

export function addLinkDescribe(link: Command, environment: CliEnvironment): void {
  link
    .command('describe <link>')
    .description('show one link')
    .action((name: string, _options: unknown, command: Command) => describeLink(contextOf(command, environment), name))
}

async function describeLink(context: CommandContext, name: string): Promise<void> {
  const link = await context.rest.get<LinkData>(`/links/${encodeURIComponent(name)}`)
  printOne(context.terminal, { link, topic: undefined }, { columns: [...linkColumns, STATES], format: context.format })
}
