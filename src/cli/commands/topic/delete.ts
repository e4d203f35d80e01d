/** `lockstep topic delete`; deleting a mirror topic ends its mirror. */
import type { Command } from 'commander'
import { type CliEnvironment, type CommandContext, confirm, contextOf } from '../../context.ts'

export function addTopicDelete(topic: Command, environment: CliEnvironment): void {
  topic
    .command('delete <topic>')
    .description('delete a topic and all its data; of a mirror this ends the mirror')
    .option('--force', 'do not ask')
    .action((name: string, options: { force?: boolean }, command: Command) =>
      deleteTopic(contextOf(command, environment), name, options.force),
    )
}

async function deleteTopic(context: CommandContext, name: string, force: boolean | undefined): Promise<void> {
  await confirm(context, `Are you sure you want to delete topic "${name}" and all its data?`, force)
  await context.rest.delete(`/topics/${encodeURIComponent(name)}`)
  context.terminal.out(`Deleted topic "${name}".\n`)
}
