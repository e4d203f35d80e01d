/** `lockstep link configuration update`, also spelled `lockstep link update`. */
import type { Command } from 'commander'
import type { LinkReport } from '../../../../rest/schemas/links.ts'
import { collect, parseConfigOption } from '../../../config-option.ts'
import { type CliEnvironment, type CommandContext, contextOf } from '../../../context.ts'
import { UsageError } from '../../../usage-error.ts'

interface Options {
  readonly config?: string[]
  readonly configFile?: string[]
  readonly reset?: string[]
  readonly dryRun?: boolean
}

/** Adds the command to `configuration` and to `link` itself. */
export function addLinkConfigurationUpdate(parent: Command, environment: CliEnvironment): void {
  parent
    .command('update <link>')
    .description('change properties of a link; its mirrors go on where they are')
    .option('--config <k=v,...|file>', 'properties to set, or a .properties file; repeatable', collect)
    .option('--config-file <file>', 'a .properties file; repeatable', collect)
    .option('--reset <name>', 'set a property back to its default; repeatable', collect)
    .option('--dry-run', 'check everything and change nothing')
    .action((name: string, options: Options, command: Command) =>
      updateConfiguration(contextOf(command, environment), name, options),
    )
}

async function updateConfiguration(context: CommandContext, link: string, options: Options): Promise<void> {
  const configs = parseConfigOption([...(options.configFile ?? []), ...(options.config ?? [])])
  const resets = options.reset ?? []
  if (configs.size + resets.length === 0) throw new UsageError('give --config, --config-file or --reset')
  const report = await context.rest.put<LinkReport>(`/links/${encodeURIComponent(link)}/configs:alter`, {
    query: { report: 'true', validate_only: options.dryRun ? 'true' : undefined },
    body: {
      data: [
        ...[...configs].map(([name, value]) => ({ name, value })),
        ...resets.map(name => ({ name, operation: 'DELETE' })),
      ],
    },
  })
  const { terminal } = context
  terminal.out(`${options.dryRun ? '[DRY RUN] ' : ''}Updated cluster link "${link}".\n`)
  for (const name of report?.cleared_configs ?? []) terminal.out(`Cleared "${name}", whose feature was switched off.\n`)
  for (const warning of report?.warnings ?? []) terminal.err(`Warning: ${warning}\n`)
}
