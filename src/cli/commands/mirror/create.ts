/** `lockstep mirror create` */
import type { CommandAction } from '../../command-row.ts'
import { configEntries, parseConfigOption } from '../../config-option.ts'
import { wholeNumber } from '../../number-option.ts'
import { printReport } from '../../output.ts'
import { mirrorsPath } from '../../resource-paths.ts'

interface Options {
  readonly link: string
  readonly replicationFactor?: string
  readonly config?: string[]
  readonly sourceTopic?: string
}

export const createMirror: CommandAction<Options> = async (context, [topic = ''], options) => {
  const { link, sourceTopic } = options
  const factor = wholeNumber('--replication-factor', options.replicationFactor, 1)
  const report = await context.rest.post<{ warnings: string[] }>(mirrorsPath(link), {
    query: { report: 'true' },
    body: {
      source_topic_name: sourceTopic ?? topic,
      ...(sourceTopic === undefined ? {} : { mirror_topic_name: topic }),
      ...(factor === undefined ? {} : { replication_factor: factor }),
      configs: configEntries(parseConfigOption(options.config ?? [])),
    },
  })
  printReport(context, {
    lines: [`Created mirror topic "${topic}".`],
    data: { link_name: link, mirror_topic_name: topic, source_topic_name: sourceTopic ?? topic },
    warnings: report?.warnings,
  })
}
