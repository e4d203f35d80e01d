/** `--wait`: follows mirror topics until all are in an end state, with a line for each topic. */
import type { MirrorVerbFacts } from '../../../rest/schemas/mirror-verbs.ts'
import type { MirrorData, MirrorDataList } from '../../../rest/schemas/mirrors.ts'
import type { CommandContext } from '../../context.ts'
import { Interrupted, PartlyFailed } from '../../failure.ts'
import { pause } from '../../pause.ts'
import { ProgressLines } from '../../progress-lines.ts'
import { mirrorsPath } from '../../resource-paths.ts'
import { isAway } from '../../rest-failure.ts'
import { grouped } from '../../words.ts'
import { maxLag } from './list.ts'

const PERIOD_MS = 250

export interface EndState extends Pick<MirrorVerbFacts, 'reached' | 'endsAtPeer'> {
  /** It may have made the topic an ordinary one, which is no mirror any more. */
  readonly mayBeOrdinary?: boolean
  /** Statuses that say that nothing comes of it, since somebody gave it up; FAILED is another. */
  readonly givenUp?: readonly string[]
}

interface Goal {
  readonly link: string
  readonly end: EndState
  readonly timeoutMs: number
}

/**
 * Resolves to the mirrors when all topics are in one of the states. Throws after the timeout, or when a topic fails, naming those that are
 * not there: PartlyFailed if others are. Ctrl-C ends the waiting only.
 */
export function waitUntil(context: CommandContext, topics: readonly string[], goal: Goal): Promise<MirrorData[]> {
  return context.terminal.interruptible(signal => followUntil(context, topics, { ...goal, signal }))
}

async function followUntil(
  context: CommandContext,
  topics: readonly string[],
  { link, end, timeoutMs, signal }: Goal & { signal: AbortSignal },
): Promise<MirrorData[]> {
  const { terminal } = context
  const deadline = performance.now() + timeoutMs
  const lines = new ProgressLines(terminal)
  for (let away = false; ; ) {
    const answer = await mirrorsNow(context, link, performance.now() <= deadline)
    if (!answer) {
      lines.end()
      if (!away)
        terminal.err('The node does not answer; what it has accepted goes on when it is back. Waiting for it.\n')
      away = true
      await pause(PERIOD_MS, signal)
      if (signal.aborted) throw new Interrupted('\nStopped waiting.')
      continue
    }
    away = false
    const { data } = answer
    const now = new Map(data.map(mirror => [mirror.mirror_topic_name, mirror]))
    lines.show(topics.map(topic => ({ name: topic, text: progressText(now.get(topic), end) })))
    const isThere = (topic: string) => isReached(now.get(topic), end)
    const late = topics.filter(topic => !isThere(topic))
    if (late.length === 0) {
      lines.end()
      return topics.flatMap(topic => now.get(topic) ?? [])
    }
    const isOver = late.every(topic => isLost(now.get(topic)?.mirror_status ?? 'FAILED', end))
    if (isOver || performance.now() > deadline) {
      lines.end()
      const after = isOver ? '' : `after ${timeoutMs / 1000} s `
      const also = end.endsAtPeer ? ' with a counterpart that follows' : ''
      const message = `${after}these topics are not ${end.reached.join(' or ')}${also}: ${late.join(', ')}`
      throw late.length === topics.length ? new Error(message) : new PartlyFailed(message)
    }
    await pause(PERIOD_MS, signal)
    if (!signal.aborted) continue
    lines.end()
    throw new Interrupted(`\nStopped waiting; the node goes on. Look with: lockstep mirror list --link ${link}`)
  }
}

function isReached(mirror: MirrorData | undefined, end: EndState): boolean {
  const { reached, endsAtPeer = false, mayBeOrdinary = false } = end
  if (mirror === undefined) return mayBeOrdinary
  return reached.includes(mirror.mirror_status) && (!endsAtPeer || (mirror.reversal?.read_only_ms ?? null) !== null)
}

const isLost = (status: string, { givenUp = [] }: EndState): boolean => status === 'FAILED' || givenUp.includes(status)

/** Undefined while the node is away and there is still time. */
async function mirrorsNow(
  context: CommandContext,
  link: string,
  mayBeAway: boolean,
): Promise<MirrorDataList | undefined> {
  try {
    return await context.rest.get<MirrorDataList>(mirrorsPath(link))
  } catch (error) {
    if (mayBeAway && isAway(error)) return undefined
    throw error
  }
}

function progressText(mirror: MirrorData | undefined, { mayBeOrdinary }: EndState): string {
  if (!mirror) return mayBeOrdinary ? 'an ordinary topic' : 'gone'
  const status = mirror.mirror_status
  const lag = maxLag(mirror)
  const behind = mirror.mirror_status.startsWith('PENDING') && lag !== null && lag > 0 ? ` lag ${grouped(lag)}` : ''
  const own = `${status}${behind}${mirror.reason === null ? '' : ` (${mirror.reason})`}`
  return mirror.reversal ? `${own}; other side: ${peerText(mirror.reversal)}` : own
}

/** The other one of two that change roles. */
export const peerText = ({ peer_status: status, peer_reason: reason }: NonNullable<MirrorData['reversal']>): string =>
  `${status ?? 'an ordinary topic'}${reason === null ? '' : ` (${reason})`}`
