/** `lockstep mirror pause` */
import type { CommandAction } from '../../command-row.ts'
import { alterMirrors } from './alter.ts'
import type { AlterOptions } from './ask-verb.ts'

export const pauseMirrors: CommandAction<AlterOptions> = (context, topics, options) =>
  alterMirrors(context, { verb: 'pause', topics, options })
