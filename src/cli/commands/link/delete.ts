/** `lockstep link delete` */
import type { Command } from 'commander'
import type { LinkData, LinkReport } from '../../../rest/schemas/links.ts'
import { type CliEnvironment, type CommandContext, confirm, contextOf, PartlyFailed } from '../../context.ts'
import { RestFailure } from '../../rest-client.ts'

interface Options {
  readonly force?: boolean
  readonly failOverMirrors?: boolean
  readonly dryRun?: boolean
}

export function addLinkDelete(link: Command, environment: CliEnvironment): void {
  link
    .command('delete <link...>')
    .description('delete links; refused while a mirror is not STOPPED')
    .option('--force', 'do not ask')
    .option('--fail-over-mirrors', 'first fail over every mirror of the link that is not STOPPED')
    .option('--dry-run', 'check and change nothing')
    .action((names: string[], options: Options, command: Command) =>
      deleteLinks(contextOf(command, environment), names, options),
    )
}

async function deleteLinks(context: CommandContext, names: readonly string[], options: Options): Promise<void> {
  if (!options.dryRun) await confirm(context, await question(context, names, options), options.force)
  let failed = 0
  for (const name of names) {
    try {
      const report = await context.rest.delete<LinkReport>(`/links/${encodeURIComponent(name)}`, {
        query: {
          report: 'true',
          force: options.failOverMirrors ? 'true' : undefined,
          validate_only: options.dryRun ? 'true' : undefined,
        },
      })
      const also = report.failed_over?.length ? `, failed over: ${report.failed_over.join(', ')}` : ''
      context.terminal.out(`${options.dryRun ? '[DRY RUN] ' : ''}Deleted cluster link "${name}"${also}.\n`)
      for (const warning of report.warnings) context.terminal.err(`Warning: ${warning}\n`)
    } catch (error) {
      if (!(error instanceof RestFailure) || names.length === 1) throw error
      failed++
      context.terminal.err(`Error: ${error.message}\n`)
    }
  }
  if (failed > 0) throw new PartlyFailed(`${failed} of ${names.length} links were not deleted`)
}

async function question(context: CommandContext, names: readonly string[], options: Options): Promise<string> {
  const quoted = names.map(name => `"${name}"`).join(', ')
  const what = `Are you sure you want to delete cluster link ${quoted}?`
  if (!options.failOverMirrors) return what
  const links = await Promise.all(names.map(name => context.rest.get<LinkData>(`/links/${encodeURIComponent(name)}`)))
  const topics = links.reduce((sum, link) => sum + link.topic_names.length, 0)
  return `Up to ${topics} mirror topics will be failed over: they stop following their source and become writable. ${what}`
}
