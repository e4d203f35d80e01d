/** `lockstep mirror reverse-and-start` and `reverse-and-pause` */
import { mirrorVerbFacts } from '../../../rest/schemas/mirror-verbs.ts'
import type { CommandAction } from '../../command-row.ts'
import { counted } from '../../words.ts'
import { alterMirrors, type StopOptions } from './alter.ts'
import { lossesOf } from './ask-verb.ts'

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
        question: dry =>
          [
            `Reversing ${counted(dry.length, 'mirror topic')} of link "${options.link}": nobody can write them until the`,
            `mirror has everything (${lossesOf(dry).records} behind now); then they are written here. Continue?`,
          ].join(' '),
        force: options.force,
        wait: options.wait === undefined ? undefined : { end: mirrorVerbFacts[verb], time: options.wait },
      },
    )
