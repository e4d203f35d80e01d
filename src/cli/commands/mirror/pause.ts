/** `lockstep mirror pause` */
import type { Command } from 'commander'
import { type CliEnvironment, contextOf } from '../../context.ts'
import { type AlterOptions, alterMirrors, verbCommand } from './alter.ts'

export function addMirrorPause(mirror: Command, environment: CliEnvironment): void {
  const description = 'stop fetching mirror topics until they are resumed'
  verbCommand(mirror, 'pause', description).action((topics: string[], options: AlterOptions, command: Command) =>
    alterMirrors(contextOf(command, environment), { verb: 'pause', topics, options }),
  )
}
