/** `lockstep link task list` */
import type { LinkData } from '../../../../rest/schemas/links.ts'
import type { CommandAction } from '../../../command-row.ts'
import { type Column, printRows } from '../../../output.ts'
import { linkPath } from '../../../resource-paths.ts'

type Task = NonNullable<LinkData['tasks']>[number]

const COLUMNS: readonly Column<Task>[] = [
  { heading: 'Task Name', key: 'task_name', value: row => row.task_name },
  { heading: 'State', key: 'state', value: row => row.state },
  {
    heading: 'Errors',
    key: 'errors',
    value: row => row.errors.map(({ error_code, error_message }) => ({ error_code, error_message })),
    text: row => row.reason ?? row.errors.map(error => `${error.error_code}: ${error.error_message}`).join('; '),
  },
]

export const listLinkTasks: CommandAction = async (context, [link = '']) => {
  const { tasks } = await context.rest.get<LinkData>(linkPath(link), { query: { include_tasks: 'true' } })
  printRows(context, tasks ?? [], { columns: COLUMNS, empty: 'No tasks.' })
}
