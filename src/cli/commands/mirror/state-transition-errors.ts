/** `lockstep mirror state-transition-error list` */
import type { Command } from 'commander'
import type { MirrorData } from '../../../rest/schemas/mirrors.ts'
import { type CliEnvironment, contextOf } from '../../context.ts'
import { type Column, printRows } from '../../output.ts'

type TransitionError = NonNullable<MirrorData['mirror_state_transition_errors']>[number]

const COLUMNS: readonly Column<TransitionError>[] = [
  { heading: 'Mirror State Transition Error Code', key: 'error_code', value: row => row.error_code },
  { heading: 'Mirror State Transition Error Message', key: 'error_message', value: row => row.error_message },
]

export function addMirrorTransitionErrors(mirror: Command, environment: CliEnvironment): void {
  mirror
    .command('state-transition-error')
    .description('why a change of state does not get on')
    .command('list <topic>')
    .description('what keeps the promote of a mirror topic from its end')
    .requiredOption('--link <name>', 'the link that the mirror belongs to')
    .action(async (topic: string, { link }: { link: string }, command: Command) => {
      const context = contextOf(command, environment)
      const path = `/links/${encodeURIComponent(link)}/mirrors/${encodeURIComponent(topic)}`
      const query = { include_state_transition_errors: 'true' }
      const found = await context.rest.get<MirrorData>(path, { query })
      const rows = found.mirror_state_transition_errors ?? []
      printRows(context.terminal, rows, { columns: COLUMNS, format: context.format, empty: 'There are no errors.' })
    })
}
