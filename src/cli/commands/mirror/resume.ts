/** `lockstep mirror resume` */
import type { Command } from 'commander'
import { type CliEnvironment, contextOf } from '../../context.ts'
import { type AlterOptions, alterMirrors, verbCommand } from './alter.ts'

export function addMirrorResume(mirror: Command, environment: CliEnvironment): void {
  const description = 'go on with mirror topics that were paused, or that failed and whose source is still the same'
  verbCommand(mirror, 'resume', description).action((topics: string[], options: AlterOptions, command: Command) =>
    alterMirrors(contextOf(command, environment), { verb: 'resume', topics, options }),
  )
}
