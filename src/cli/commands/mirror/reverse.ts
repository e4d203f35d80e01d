/** `lockstep mirror reverse-and-start` and `reverse-and-pause` */
import { mirrorVerbFacts } from '../../../rest/schemas/mirror-verbs.ts'
import type { MirrorData } from '../../../rest/schemas/mirrors.ts'
import type { CommandAction } from '../../command-row.ts'
import type { CommandContext } from '../../context.ts'
import { counted } from '../../words.ts'
import { alterMirrors, type StopOptions } from './alter.ts'
import { type AlterRow, lossesOf } from './ask-verb.ts'
import type { EndState } from './wait.ts'

export const reverseAndStart: CommandAction<StopOptions> = (context, topics, options) =>
  reverse('reverse-and-start-mirror')(context, topics, options)

export const reverseAndPause: CommandAction<StopOptions> = (context, topics, options) =>
  reverse('reverse-and-pause-mirror')(context, topics, options)

const reverse =
  (verb: 'reverse-and-start-mirror' | 'reverse-and-pause-mirror'): CommandAction<StopOptions> =>
  (context, topics, options) =>
    alterMirrors(
      context,
      { verb, topics, options, body: { together: options.together } },
      {
        question: dry => question(dry, options.link),
        force: options.force,
        wait: options.wait === undefined ? undefined : { end: endOf(verb), time: options.wait },
        reached: tellWindows,
      },
    )

/** Where it follows again somebody gave it up. */
const endOf = (verb: 'reverse-and-start-mirror' | 'reverse-and-pause-mirror'): EndState => {
  const givenUp = mirrorVerbFacts['truncate-and-restore'].reached
  return { ...mirrorVerbFacts[verb], givenUp }
}

function question(dry: readonly AlterRow[], link: string): string {
  const { records, transactions } = lossesOf(dry)
  return [
    `Reversing ${counted(dry.length, 'mirror topic')} of link "${link}": nobody can write them until the`,
    `mirror has everything (${records} behind now); then they are written here.`,
    ...(transactions ? [`${transactions} at the source will be aborted unless they end in time.`] : []),
    'Continue?',
  ].join(' ')
}

/** How long nobody could write, the longest first; on standard error, as the progress before it. */
function tellWindows({ terminal }: CommandContext, mirrors: readonly MirrorData[]): void {
  const windows = mirrors
    .map(({ mirror_topic_name: topic, reversal }) => ({ topic, ms: reversal?.read_only_ms ?? 0, reversal }))
    .sort((a, b) => b.ms - a.ms)
  const [longest] = windows
  if (!longest) return
  const aborted = windows.reduce((sum, { reversal }) => sum + (reversal?.aborted_transactions ?? 0), 0)
  const ofMany = windows.length > 1 ? ` at most (${longest.topic})` : ''
  terminal.err(`Nobody could write for ${longest.ms} ms${ofMany}; ${counted(aborted, 'transaction')} aborted.\n`)
}
