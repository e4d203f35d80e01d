/** `lockstep mirror promote` */
import { mirrorVerbFacts } from '../../../rest/schemas/mirror-verbs.ts'
import type { CommandAction } from '../../command-row.ts'
import { counted } from '../../words.ts'
import { alterMirrors, type StopOptions } from './alter.ts'
import { lossesOf } from './ask-verb.ts'

export const promoteMirrors: CommandAction<StopOptions> = (context, topics, options) =>
  alterMirrors(
    context,
    { verb: 'promote', topics, options, body: { together: options.together } },
    {
      question: dry =>
        [
          `Promoting ${counted(dry.length, 'mirror topic')} of link "${options.link}": as soon as they have everything`,
          `(${lossesOf(dry).records} behind now), they stop following their source for good. Continue?`,
        ].join(' '),
      force: options.force,
      wait: options.wait === undefined ? undefined : { end: mirrorVerbFacts.promote, time: options.wait },
    },
  )
