/** `lockstep link configuration update`, also spelled `lockstep link update`. */
import type { LinkReport } from '../../../../rest/schemas/links.ts'
import type { CommandAction } from '../../../command-row.ts'
import { configChanges, type UpdateOptions } from '../../../config-option.ts'
import { printReport } from '../../../output.ts'
import { linkPath } from '../../../resource-paths.ts'

export const updateLinkConfiguration: CommandAction<UpdateOptions> = async (context, [link = ''], options) => {
  const isDry = options.dryRun === true
  const report = await context.rest.put<LinkReport>(`${linkPath(link)}/configs:alter`, {
    query: { report: 'true', validate_only: isDry ? 'true' : undefined },
    body: { data: configChanges(options) },
  })
  const cleared = report?.cleared_configs ?? []
  printReport(context, {
    lines: [
      `${isDry ? '[DRY RUN] ' : ''}Updated cluster link "${link}".`,
      ...cleared.map(name => `Cleared "${name}", whose feature was switched off.`),
    ],
    data: { link_name: link, dry_run: isDry, cleared_configs: cleared },
    warnings: report?.warnings,
  })
}
