/** `lockstep link task list` */
import type { Command } from 'commander'
import type { LinkData } from '../../../../rest/schemas/links.ts'
import { type CliEnvironment, contextOf } from '../../../context.ts'
import { type Column, printRows } from '../../../output.ts'

type Task = NonNullable<LinkData['tasks']>[number]

const columns = (human: boolean): readonly Column<Task>[] => [
  { heading: 'Task Name', key: 'task_name', value: row => row.task_name },
  { heading: 'State', key: 'state', value: row => row.state },
  {
    heading: 'Errors',
    key: 'errors',
    value: row =>
      human ? row.errors.map(error => `${error.error_code}: ${error.error_message}`).join('; ') : row.errors,
  },
]

export function addLinkTaskList(task: Command, environment: CliEnvironment): void {
  task
    .command('list <link>')
    .description('list the periodic tasks of a link')
    .action(async (link: string, _options: unknown, command: Command) => {
      const context = contextOf(command, environment)
      const query = { include_tasks: 'true' }
      const { tasks } = await context.rest.get<LinkData>(`/links/${encodeURIComponent(link)}`, { query })
      const human = context.format === 'human'
      printRows(context.terminal, tasks ?? [], { columns: columns(human), format: context.format, empty: 'No tasks.' })
    })
}
