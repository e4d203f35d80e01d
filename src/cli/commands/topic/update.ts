/** `lockstep topic update` and `lockstep mirror update`: configs of a topic; what a link syncs is refused by the node. */
import type { CommandAction } from '../../command-row.ts'
import { configChanges, type UpdateOptions } from '../../config-option.ts'
import { printReport } from '../../output.ts'
import { mirrorPath, topicPath } from '../../resource-paths.ts'

export const updateTopic: CommandAction<UpdateOptions & { link?: string }> = async (context, [name = ''], options) => {
  const isDry = options.dryRun === true
  const data = configChanges(options)
  if (options.link !== undefined) await context.rest.get(mirrorPath(options.link, name))
  await context.rest.post(`${topicPath(name)}/configs:alter`, {
    body: { data, ...(isDry ? { validate_only: true } : {}) },
  })
  printReport(context, {
    lines: [`${isDry ? '[DRY RUN] ' : ''}Updated topic "${name}".`],
    data: { topic_name: name, dry_run: isDry },
  })
}
