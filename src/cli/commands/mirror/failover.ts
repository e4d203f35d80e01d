/** `lockstep mirror failover` */
import type { Command } from 'commander'
import type { AlterMirrorsAnswer, MirrorDataList } from '../../../rest/schemas/mirrors.ts'
import { type CliEnvironment, type CommandContext, confirm, contextOf, PartlyFailed } from '../../context.ts'
import { printAlterRows } from './alter-rows.ts'
import { parseWait, waitUntil } from './wait.ts'

interface Options {
  readonly link: string
  readonly dryRun?: boolean
  readonly force?: boolean
  readonly wait?: string | true
}

export function addMirrorFailover(mirror: Command, environment: CliEnvironment): void {
  mirror
    .command('failover <topic...>')
    .description('stop mirroring now and make the topics writable; what the source has beyond them is lost here')
    .requiredOption('--link <name>', 'the link that the mirrors belong to')
    .option('--dry-run', 'show what would happen and change nothing')
    .option('--force', 'do not ask')
    .option('--wait [timeout]', 'wait until all are STOPPED, at most so many seconds (default 300)')
    .action((topics: string[], options: Options, command: Command) =>
      failover(contextOf(command, environment), topics, options),
    )
}

async function failover(context: CommandContext, topics: readonly string[], options: Options): Promise<void> {
  const timeoutMs = parseWait(options.wait)
  if (!options.dryRun) await confirm(context, await question(context, topics, options.link), options.force)
  const answer = await context.rest.post<AlterMirrorsAnswer>(
    `/links/${encodeURIComponent(options.link)}/mirrors:failover`,
    {
      query: { validate_only: options.dryRun ? 'true' : undefined },
      body: { mirror_topic_names: topics },
    },
  )
  printAlterRows(context, answer)
  const refused = answer.data.filter(row => (row.error_code ?? 0) !== 0)
  const accepted = answer.data.filter(row => (row.error_code ?? 0) === 0).map(row => row.mirror_topic_name)
  if (timeoutMs !== undefined && !options.dryRun && accepted.length > 0)
    await waitUntil(context, accepted, { link: options.link, status: 'STOPPED', timeoutMs })
  if (refused.length === 0) return
  const message = `${refused.length} of ${answer.data.length} topics were refused`
  throw refused.length === answer.data.length ? new Error(message) : new PartlyFailed(message)
}

/** Names what will be lost, in numbers. */
async function question(context: CommandContext, topics: readonly string[], link: string): Promise<string> {
  const { data } = await context.rest.get<MirrorDataList>(`/links/${encodeURIComponent(link)}/mirrors`)
  const lags = data.filter(mirror => topics.includes(mirror.mirror_topic_name)).flatMap(mirror => mirror.mirror_lags)
  const known = lags.reduce((sum, { lag }) => sum + (lag ?? 0), 0)
  const unknown = lags.filter(({ lag }) => lag === null).length
  const more = unknown > 0 ? ` and an unknown number in ${unknown} partitions that were never fetched` : ''
  return (
    `Failing over ${topics.length} mirror topic(s) of link "${link}": they stop following their source for good. ` +
    `As last seen, ${known} records${more} have not arrived and will be missing here. Continue?`
  )
}
