/** `lockstep link task run` */
import type { CommandAction } from '../../../command-row.ts'
import { printReport } from '../../../output.ts'
import { linkPath } from '../../../resource-paths.ts'

export const runLinkTask: CommandAction = async (context, [link = '', task = '']) => {
  await context.rest.post(`${linkPath(link)}/tasks/${encodeURIComponent(task)}:run`)
  printReport(context, {
    lines: [`Task "${task}" of link "${link}" was started.`],
    data: { link_name: link, task_name: task, started: true },
  })
}
