/** `lockstep mirror failover` */
import type { Command } from 'commander'
import type { MirrorDataList } from '../../../rest/schemas/mirrors.ts'
import { type CliEnvironment, type CommandContext, confirm, contextOf } from '../../context.ts'
import { alterMirrors } from './alter.ts'
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
  await alterMirrors(context, { verb: 'failover', topics, options }, async accepted => {
    if (timeoutMs !== undefined)
      await waitUntil(context, accepted, { link: options.link, status: 'STOPPED', timeoutMs })
  })
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
