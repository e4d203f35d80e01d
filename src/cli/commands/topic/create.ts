/** `lockstep topic create`; an ordinary topic, mirrors are made by `lockstep mirror create`. */
import type { Command } from 'commander'
import { collect, configEntries, parseConfigOption } from '../../config-option.ts'
import { type CliEnvironment, type CommandContext, contextOf } from '../../context.ts'
import { UsageError } from '../../usage-error.ts'

interface Options {
  readonly partitions?: string
  readonly replicationFactor?: string
  readonly config?: string[]
}

export function addTopicCreate(topic: Command, environment: CliEnvironment): void {
  topic
    .command('create <topic>')
    .description('create an ordinary topic')
    .option('--partitions <n>', "number of partitions; without it the cluster's default")
    .option('--replication-factor <n>', "replicas; without it the cluster's default")
    .option('--config <k=v,...|file>', 'topic configs, or a .properties file; repeatable', collect)
    .action((name: string, options: Options, command: Command) =>
      createTopic(contextOf(command, environment), name, options),
    )
}

async function createTopic(context: CommandContext, name: string, options: Options): Promise<void> {
  const partitions = positive('--partitions', options.partitions)
  const factor = positive('--replication-factor', options.replicationFactor)
  await context.rest.post('/topics', {
    body: {
      topic_name: name,
      ...(partitions === undefined ? {} : { partitions_count: partitions }),
      ...(factor === undefined ? {} : { replication_factor: factor }),
      configs: configEntries(parseConfigOption(options.config ?? [])),
    },
  })
  context.terminal.out(`Created topic "${name}".\n`)
}

function positive(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1)
    throw new UsageError(`${option} must be a whole number from 1 on, not "${text}"`)
  return value
}
