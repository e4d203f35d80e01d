/** `lockstep mirror resume` */
import type { Command } from 'commander'
import { type CliEnvironment, contextOf } from '../../context.ts'
import { type AlterOptions, alterMirrors } from './alter.ts'

export function addMirrorResume(mirror: Command, environment: CliEnvironment): void {
  mirror
    .command('resume <topic...>')
    .description('go on with mirror topics that were paused, or that failed and whose source is still the same')
    .requiredOption('--link <name>', 'the link that the mirrors belong to')
    .option('--dry-run', 'show what would happen and change nothing')
    .action((topics: string[], options: AlterOptions, command: Command) =>
      alterMirrors(contextOf(command, environment), { verb: 'resume', topics, options }),
    )
}
