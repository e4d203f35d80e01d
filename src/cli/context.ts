/** What every command receives: the node to talk to, the terminal, and the options shared by all. */
import type { Command } from 'commander'
import { type EndpointFlags, resolveEndpoint } from './endpoint.ts'
import { OUTPUT_FORMATS, type OutputFormat, type Terminal } from './output.ts'
import { RestClient } from './rest-client.ts'
import { UsageError } from './usage-error.ts'

export interface CliEnvironment {
  readonly terminal: Terminal
  readonly env: NodeJS.ProcessEnv
}

export interface CommandContext {
  readonly rest: RestClient
  readonly terminal: Terminal
  readonly format: OutputFormat
}

/** Builds the context of one invocation from the global options. */
export function contextOf(command: Command, environment: CliEnvironment): CommandContext {
  const { output, ...endpoint } = command.optsWithGlobals<EndpointFlags & { output?: string }>()
  const format = OUTPUT_FORMATS.find(known => known === (output ?? 'human'))
  if (!format) throw new UsageError(`--output must be one of ${OUTPUT_FORMATS.join(', ')}, not "${output}"`)
  return { rest: new RestClient(resolveEndpoint(endpoint, environment.env)), terminal: environment.terminal, format }
}

/** Some of several things failed: what was printed says which; exit code 3. */
export class PartlyFailed extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'PartlyFailed'
  }
}

/** Asks for a yes before something that cannot be undone; without a terminal or with --force it does not ask. Throws when refused. */
export async function confirm(context: CommandContext, question: string, force: boolean | undefined): Promise<void> {
  if (force === true || !context.terminal.interactive) return
  const answer = await context.terminal.ask(`${question} (y/n): `)
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('nothing was changed')
}
