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
      wait: options.wait === undefined ? undefined : { end: mirrorVerbFacts.failover, time: options.wait },
    },
  )

/** Names what will be lost, in numbers. */
function question(dry: readonly AlterRow[], { link, keepRetention }: Options): string {
  const { records, transactions, retention } = lossesOf(dry)
  return [
    `Failing over ${counted(dry.length, 'mirror topic')} of link "${link}": they stop following their source for good.`,
    `As last seen, ${records} of the source will be missing here.`,
    ...(transactions ? [`${transactions} will be aborted.`] : []),
    ...(retention && !keepRetention
      ? [`${retention} of old data will soon be deleted by the restored retention.`]
      : []),
    'Continue?',
  ].join(' ')
}
