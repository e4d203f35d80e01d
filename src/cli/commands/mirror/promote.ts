/** `lockstep mirror promote` */
import type { Command } from 'commander'
import { type CliEnvironment, contextOf } from '../../context.ts'
import { type StopOptions, stopMirrors, stopOptions, verbCommand } from './alter.ts'

export function addMirrorPromote(mirror: Command, environment: CliEnvironment): void {
  const description = 'make the topics writable once nothing of their source is missing; stop its producers first'
  stopOptions(verbCommand(mirror, 'promote', description))
    .option('--together', 'none of the topics becomes writable before all can')
    .action((topics: string[], options: StopOptions, command: Command) =>
      stopMirrors(contextOf(command, environment), { verb: 'promote', topics, options }, async meant =>
        [
          `Promoting ${meant.length} mirror topic(s) of link "${options.link}": as soon as they have everything,`,
          'they stop following their source for good. Continue?',
        ].join(' '),
      ),
    )
}
