/** `lockstep mirror pause` */
import type { Command } from 'commander'
import { type CliEnvironment, contextOf } from '../../context.ts'
import { type AlterOptions, alterMirrors } from './alter.ts'

export function addMirrorPause(mirror: Command, environment: CliEnvironment): void {
  mirror
    .command('pause <topic...>')
    .description('stop fetching mirror topics until they are resumed')
    .requiredOption('--link <name>', 'the link that the mirrors belong to')
    .option('--dry-run', 'show what would happen and change nothing')
    .action((topics: string[], options: AlterOptions, command: Command) =>
      alterMirrors(contextOf(command, environment), { verb: 'pause', topics, options }),
    )
}
