/** `lockstep mirror state-transition-error list` */
import type { MirrorData } from '../../../rest/schemas/mirrors.ts'
import type { CommandAction } from '../../command-row.ts'
import { type Column, printRows } from '../../output.ts'
import { mirrorPath } from '../../resource-paths.ts'

type TransitionError = NonNullable<MirrorData['mirror_state_transition_errors']>[number]

const COLUMNS: readonly Column<TransitionError>[] = [
  { heading: 'Mirror State Transition Error Code', key: 'error_code', value: row => row.error_code },
  { heading: 'Mirror State Transition Error Message', key: 'error_message', value: row => row.error_message },
]

export const listTransitionErrors: CommandAction<{ link: string }> = async (context, [topic = ''], { link }) => {
  const query = { include_state_transition_errors: 'true' }
  const found = await context.rest.get<MirrorData>(mirrorPath(link, topic), { query })
  printRows(context, found.mirror_state_transition_errors ?? [], { columns: COLUMNS, empty: 'There are no errors.' })
}
