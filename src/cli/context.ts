/** What every command receives: the node to talk to, the terminal, and the options shared by all. */
import { type EndpointFlags, resolveEndpoint } from './endpoint.ts'
import { RestClient } from './rest-client.ts'
import type { Terminal } from './terminal.ts'
import { wrapText } from './text-width.ts'
import { UsageError } from './usage-error.ts'

export interface CliEnvironment {
  readonly terminal: Terminal
  readonly env: NodeJS.ProcessEnv
}

export type OutputFormat = 'human' | 'json' | 'yaml'
export const OUTPUT_FORMATS: readonly OutputFormat[] = ['human', 'json', 'yaml']

export interface CommandContext {
  readonly rest: RestClient
  readonly terminal: Terminal
  readonly format: OutputFormat
  readonly env: NodeJS.ProcessEnv
  /** Data as YAML; there only where YAML was asked for. */
  readonly toYaml: ((data: unknown) => string) | undefined
}

/** Options of every command. */
export interface GlobalOptions extends EndpointFlags {
  readonly output?: string
}

/** Builds the context of one invocation. The endpoint is looked at when a node is first asked. */
export async function contextOf(options: GlobalOptions, environment: CliEnvironment): Promise<CommandContext> {
  const { output = 'human', ...flags } = options
  const { terminal, env } = environment
  const format = OUTPUT_FORMATS.find(known => known === output)
  if (!format) throw new UsageError(`--output must be one of ${OUTPUT_FORMATS.join(', ')}, not "${output}"`)
  const toYaml = format === 'yaml' ? (await import('yaml')).stringify : undefined
  return { rest: new RestClient(() => resolveEndpoint(flags, env)), terminal, env, format, toYaml }
}

/** Asks for a yes before something that cannot be undone; without a terminal or with --force it does not ask. Throws when refused. */
export async function confirm(
  context: CommandContext,
  force: boolean | undefined,
  question: () => Promise<string>,
): Promise<void> {
  if (force === true || !context.terminal.interactive) return
  const text = wrapText(`${await question()} (y/n): `, context.terminal.columns())
  const answer = await context.terminal.ask(text)
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('nothing was changed')
}
