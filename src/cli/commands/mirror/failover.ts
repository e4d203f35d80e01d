/** `lockstep mirror failover` */
import type { Command } from 'commander'
import type { MirrorDataList } from '../../../rest/schemas/mirrors.ts'
import { type CliEnvironment, type CommandContext, contextOf } from '../../context.ts'
import { type StopOptions, stopMirrors, stopOptions, verbCommand } from './alter.ts'

export function addMirrorFailover(mirror: Command, environment: CliEnvironment): void {
  const description = 'stop mirroring now and make the topics writable; what the source has beyond them is lost here'
  stopOptions(verbCommand(mirror, 'failover', description)).action(
    (topics: string[], options: StopOptions, command: Command) => {
      const context = contextOf(command, environment)
      return stopMirrors(context, { verb: 'failover', topics, options }, meant =>
        question(context, meant, options.link),
      )
    },
  )
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
