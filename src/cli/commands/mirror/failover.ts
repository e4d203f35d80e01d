/** `lockstep mirror failover` */
import { mirrorVerbFacts } from '../../../rest/schemas/mirror-verbs.ts'
import type { CommandAction } from '../../command-row.ts'
import { counted } from '../../words.ts'
import { alterMirrors, type StopOptions } from './alter.ts'
import { type AlterRow, lossesOf } from './ask-verb.ts'

interface Options extends StopOptions {
  readonly keepRetention?: boolean
}

export const failOverMirrors: CommandAction<Options> = (context, topics, options) =>
  alterMirrors(
    context,
    {
      verb: 'failover',
      topics,
      options,
      body: { together: options.together, keep_retention: options.keepRetention },
    },
    {
      question: dry => question(dry, options),
      force: options.force,
      wait:
        options.wait === undefined
          ? undefined
          : { end: { ...mirrorVerbFacts.failover, mayBeOrdinary: true }, time: options.wait },
    },
  )

/** Names what will be lost, in numbers. Nothing follows, and there are no partitions to tell of, where a topic is on its way to become a mirror. */
function question(dry: readonly AlterRow[], { link, keepRetention }: Options): string {
  const mirrors = dry.filter(({ partitions }) => partitions.length > 0)
  const others = dry.length - mirrors.length
  const { records, transactions, retention } = lossesOf(mirrors)
  return [
    ...(mirrors.length > 0
      ? [
          `Failing over ${counted(mirrors.length, 'mirror topic')} of link "${link}": they stop following their source for good.`,
          `As last seen, ${records} of the source will be missing here.`,
        ]
      : []),
    ...(others > 0
      ? [`${counted(others, 'topic')} of link "${link}" of which nothing follows will be ordinary ones.`]
      : []),
    ...(transactions ? [`${transactions} will be aborted.`] : []),
    ...(retention && !keepRetention
      ? [`${retention} of old data will soon be deleted by the restored retention.`]
      : []),
    ...new Set(dry.flatMap(({ warnings = [] }) => warnings)),
    'Continue?',
  ].join(' ')
}
