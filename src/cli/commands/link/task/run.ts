/** `lockstep link task run` */
import type { Command } from 'commander'
import { type CliEnvironment, contextOf } from '../../../context.ts'

export function addLinkTaskRun(task: Command, environment: CliEnvironment): void {
  task
    .command('run <link> <task>')
    .description('run a periodic task of a link now')
    .action(async (...[link, name, , command]: [string, string, unknown, Command]) => {
      const context = contextOf(command, environment)
      await context.rest.post(`/links/${encodeURIComponent(link)}/tasks/${encodeURIComponent(name)}:run`)
      context.terminal.out(`Task "${name}" of link "${link}" was started.\n`)
    })
}
