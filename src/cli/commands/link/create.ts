/** `lockstep link create` */
import type { LinkReport } from '../../../rest/schemas/links.ts'
import type { CommandAction } from '../../command-row.ts'
import { printReport } from '../../output.ts'
import { type LinkOptions, linkRequest, printable } from './link-request.ts'

interface Options extends LinkOptions {
  readonly dryRun?: boolean
  readonly validate: boolean
}

export const createLink: CommandAction<Options> = async (context, [name = ''], options) => {
  const { configs, body } = linkRequest(options)
  const isDry = options.dryRun === true
  const query = {
    link_name: name,
    report: 'true',
    validate_only: isDry ? 'true' : undefined,
    validate_link: options.validate ? undefined : 'false',
  }
  const report = await context.rest.post<LinkReport>('/links', { query, body })
  const shown = printable(configs)
  printReport(context, {
    lines: [
      `${isDry ? '[DRY RUN] ' : ''}Created cluster link "${name}" with configs:`,
      ...shown.map(([key, value]) => `"${key}"="${value}"`),
    ],
    data: {
      link_name: name,
      ...(report?.cluster_link_id === undefined || isDry ? {} : { link_id: report.cluster_link_id }),
      dry_run: isDry,
      configs: Object.fromEntries(shown),
    },
    warnings: report?.warnings,
  })
}
