/** `lockstep completion` */
import type { CommandAction } from '../command-row.ts'
import { COMPLETION_SCRIPTS } from '../completion/scripts.ts'
import { UsageError } from '../usage-error.ts'

export const printCompletion: CommandAction = async ({ terminal }, [shell = '']) => {
  const script = COMPLETION_SCRIPTS[shell]
  if (script === undefined)
    throw new UsageError(
      `there is no completion for "${shell}", only for ${Object.keys(COMPLETION_SCRIPTS).join(', ')}`,
    )
  terminal.out(script)
}
