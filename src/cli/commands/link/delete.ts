/** `lockstep link delete` */
import type { LinkData, LinkReport } from '../../../rest/schemas/links.ts'
import type { MirrorDataList } from '../../../rest/schemas/mirrors.ts'
import type { CommandAction } from '../../command-row.ts'
import { type CommandContext, confirm } from '../../context.ts'
import { failureText, PartlyFailed } from '../../failure.ts'
import { printData } from '../../output.ts'
import { linkPath, mirrorsPath } from '../../resource-paths.ts'
import { RestFailure } from '../../rest-failure.ts'
import { counted } from '../../words.ts'

interface Options {
  readonly force?: boolean
  readonly failOverMirrors?: boolean
  readonly dryRun?: boolean
}

interface Outcome {
  readonly link_name: string
  readonly deleted: boolean
  readonly failed_over?: readonly string[]
  readonly warnings?: readonly string[]
  readonly error_message?: string
}

export const deleteLinks: CommandAction<Options> = async (context, names, options) => {
  const { dryRun: isDry = false } = options
  if (!isDry) await confirm(context, options.force, () => question(context, names, options))
  const outcomes: Outcome[] = []
  for (const name of names) {
    try {
      outcomes.push(await deleteLink(context, name, options))
    } catch (error) {
      if (!(error instanceof RestFailure) || names.length === 1) throw error
      outcomes.push({ link_name: name, deleted: false, error_message: error.message })
      context.terminal.err(failureText(error))
    }
  }
  if (context.format !== 'human') printData(context, outcomes)
  const failed = outcomes.filter(outcome => outcome.error_message !== undefined).length
  const message = `${failed} of ${names.length} links were not deleted`
  if (failed > 0) throw failed === names.length ? new Error(message) : new PartlyFailed(message)
}

async function deleteLink(context: CommandContext, name: string, options: Options): Promise<Outcome> {
  const { dryRun: isDry = false } = options
  const report = await askNode(context, name, { ...options, dryRun: isDry })
  if (context.format === 'human') {
    const also = report.failed_over?.length ? `, failed over: ${report.failed_over.join(', ')}` : ''
    context.terminal.out(`${isDry ? '[DRY RUN] ' : ''}Deleted cluster link "${name}"${also}.\n`)
    for (const warning of report.warnings) context.terminal.err(`Warning: ${warning}\n`)
  }
  return { link_name: name, deleted: !isDry, failed_over: report.failed_over ?? [], warnings: report.warnings }
}

function askNode(context: CommandContext, name: string, options: Options): Promise<LinkReport> {
  return context.rest.delete<LinkReport>(linkPath(name), {
    query: {
      report: 'true',
      force: options.failOverMirrors ? 'true' : undefined,
      validate_only: options.dryRun ? 'true' : undefined,
    },
  })
}

/** Names what goes, in numbers; a link that cannot be deleted is refused here, before anybody is asked. */
async function question(context: CommandContext, names: readonly string[], options: Options): Promise<string> {
  const losses: string[] = []
  for (const name of names) {
    const dry = await askNode(context, name, { ...options, dryRun: true }).catch(error => {
      if (names.length === 1) throw error
      return undefined
    })
    if (dry) losses.push(...(await lossesOf(context, name, dry)))
  }
  const quoted = names.map(name => `"${name}"`).join(', ')
  const what = `Are you sure you want to delete cluster link${names.length > 1 ? 's' : ''} ${quoted}?`
  return [...losses, what].join(' ')
}

async function lossesOf(context: CommandContext, name: string, dry: LinkReport): Promise<string[]> {
  const failedOver = new Set(dry.failed_over ?? [])
  if (failedOver.size === 0) {
    const { topic_names: topics } = await context.rest.get<LinkData>(linkPath(name))
    return topics.length === 0
      ? []
      : [
          `The history of ${counted(topics.length, 'mirror topic')} of link "${name}" will be forgotten; the topics stay.`,
        ]
  }
  const { data } = await context.rest.get<MirrorDataList>(mirrorsPath(name))
  const lags = data.filter(mirror => failedOver.has(mirror.mirror_topic_name)).flatMap(mirror => mirror.mirror_lags)
  const missing = lags.reduce((sum, { lag }) => sum + (lag ?? 0), 0)
  return [
    `${counted(failedOver.size, 'mirror topic')} of link "${name}" will be failed over:`,
    `they stop following their source for good and become writable, without ${counted(missing, 'record')}`,
    'that, as last seen, have not arrived.',
  ]
}
