/** `lockstep mirror resume` */
import type { CommandAction } from '../../command-row.ts'
import { alterMirrors } from './alter.ts'
import type { AlterOptions } from './ask-verb.ts'

export const resumeMirrors: CommandAction<AlterOptions> = (context, topics, options) =>
  alterMirrors(context, { verb: 'resume', topics, options })
