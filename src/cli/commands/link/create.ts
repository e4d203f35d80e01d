/** `lockstep link create` */
import type { Command } from 'commander'
import type { LinkReport } from '../../../rest/schemas/links.ts'
import { collect, configEntries, parseConfigOption } from '../../config-option.ts'
import { type CliEnvironment, type CommandContext, contextOf } from '../../context.ts'

interface Options {
  readonly sourceCluster?: string
  readonly sourceBootstrapServer?: string
  readonly config?: string[]
  readonly dryRun?: boolean
  readonly validate: boolean
}

/** Values of these are never printed. */
const SECRET = /password|jaas|keystore\.key|secret|token/i

export function addLinkCreate(link: Command, environment: CliEnvironment): void {
  link
    .command('create <link>')
    .description('create a link to another cluster')
    .option('--source-bootstrap-server <host:port,...>', 'where the source cluster answers')
    .option('--source-cluster <id>', 'expected id of the source cluster; without it the id that answers is pinned')
    .option('--config <k=v,...|file>', 'link properties, or a .properties file; repeatable', collect)
    .option('--dry-run', 'check everything and change nothing')
    .option('--no-validate', 'do not ask the source before creating the link')
    .action((name: string, options: Options, command: Command) =>
      createLink(contextOf(command, environment), name, options),
    )
}

async function createLink(context: CommandContext, name: string, options: Options): Promise<void> {
  const configs = parseConfigOption(options.config ?? [])
  if (options.sourceBootstrapServer !== undefined) configs.set('bootstrap.servers', options.sourceBootstrapServer)
  if (!configs.has('link.mode')) configs.set('link.mode', 'DESTINATION')
  const report = await context.rest.post<LinkReport>('/links', {
    query: {
      link_name: name,
      report: 'true',
      validate_only: options.dryRun ? 'true' : undefined,
      validate_link: options.validate ? undefined : 'false',
    },
    body: { source_cluster_id: options.sourceCluster ?? null, configs: configEntries(configs) },
  })
  const { terminal } = context
  terminal.out(`${options.dryRun ? '[DRY RUN] ' : ''}Created cluster link "${name}" with configs:\n`)
  for (const [key, value] of [...configs].sort(([a], [b]) => a.localeCompare(b)))
    if (!SECRET.test(key)) terminal.out(`"${key}"="${value}"\n`)
  for (const warning of report?.warnings ?? []) terminal.err(`Warning: ${warning}\n`)
}
