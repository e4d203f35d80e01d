/** `lockstep mirror create` */
import type { Command } from 'commander'
import { collect, configEntries, parseConfigOption } from '../../config-option.ts'
import { type CliEnvironment, type CommandContext, contextOf } from '../../context.ts'
import { UsageError } from '../../usage-error.ts'

interface Options {
  readonly link: string
  readonly replicationFactor?: string
  readonly config?: string[]
  readonly sourceTopic?: string
}

export function addMirrorCreate(mirror: Command, environment: CliEnvironment): void {
  mirror
    .command('create <topic>')
    .description('create a mirror topic of a source topic')
    .requiredOption('--link <name>', 'the link to mirror over')
    .option('--source-topic <name>', 'name at the source, where the link has a prefix')
    .option('--replication-factor <n>', "replicas here; without it the cluster's default")
    .option('--config <k=v,...|file>', 'overrides for topic configs that the link does not sync; repeatable', collect)
    .action((topic: string, options: Options, command: Command) =>
      createMirror(contextOf(command, environment), topic, options),
    )
}

async function createMirror(context: CommandContext, topic: string, options: Options): Promise<void> {
  const factor = options.replicationFactor === undefined ? undefined : Number(options.replicationFactor)
  if (factor !== undefined && !Number.isInteger(factor))
    throw new UsageError(`--replication-factor must be a whole number, not "${options.replicationFactor}"`)
  const report = await context.rest.post<{ warnings: string[] }>(`/links/${encodeURIComponent(options.link)}/mirrors`, {
    query: { report: 'true' },
    body: {
      source_topic_name: options.sourceTopic ?? topic,
      ...(options.sourceTopic === undefined ? {} : { mirror_topic_name: topic }),
      ...(factor === undefined ? {} : { replication_factor: factor }),
      configs: configEntries(parseConfigOption(options.config ?? [])),
    },
  })
  context.terminal.out(`Created mirror topic "${topic}".\n`)
  for (const warning of report?.warnings ?? []) context.terminal.err(`Warning: ${warning}\n`)
}
