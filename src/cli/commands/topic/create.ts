/** `lockstep topic create`; an ordinary topic, mirrors are made by `lockstep mirror create`. */
import type { CommandAction } from '../../command-row.ts'
import { configEntries, parseConfigOption } from '../../config-option.ts'
import { wholeNumber } from '../../number-option.ts'
import { printReport } from '../../output.ts'

interface Options {
  readonly partitions?: string
  readonly replicationFactor?: string
  readonly config?: string[]
}

export const createTopic: CommandAction<Options> = async (context, [name = ''], options) => {
  const partitions = wholeNumber('--partitions', options.partitions, 1)
  const factor = wholeNumber('--replication-factor', options.replicationFactor, 1)
  await context.rest.post('/topics', {
    body: {
      topic_name: name,
      ...(partitions === undefined ? {} : { partitions_count: partitions }),
      ...(factor === undefined ? {} : { replication_factor: factor }),
      configs: configEntries(parseConfigOption(options.config ?? [])),
    },
  })
  printReport(context, { lines: [`Created topic "${name}".`], data: { topic_name: name } })
}
