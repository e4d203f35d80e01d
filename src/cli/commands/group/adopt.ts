/** `lockstep group adopt` */
import type { Command } from 'commander'
import type { AdoptGroupAnswer } from '../../../rest/schemas/groups.ts'
import { type CliEnvironment, confirm, contextOf } from '../../context.ts'

interface Options {
  readonly link: string
  readonly force?: boolean
}

export function addGroupAdopt(group: Command, environment: CliEnvironment): void {
  group
    .command('adopt <group>')
    .description('let a link overwrite offsets of a group that it did not write (state CONFLICT)')
    .requiredOption('--link <name>', 'the link')
    .option('--force', 'do not ask')
    .action(async (name: string, { link, force }: Options, command: Command) => {
      const context = contextOf(command, environment)
      await confirm(
        context,
        `The offsets of group "${name}" here will be replaced by those of the source. Continue?`,
        force,
      )
      const path = `/links/${encodeURIComponent(link)}/groups/${encodeURIComponent(name)}:adopt`
      const { adopted_offsets: count } = await context.rest.post<AdoptGroupAnswer>(path)
      context.terminal.out(`Group "${name}": ${count} offset(s) are followed from now on.\n`)
    })
}
