/** `lockstep verify`: starts a verification on the node, shows its progress and prints its result. Differences: exit code 3. */
import type { VerificationData, VerifyMirrorsBody } from '../../../rest/schemas/verification.ts'
import type { CommandAction } from '../../command-row.ts'
import type { CommandContext } from '../../context.ts'
import { Interrupted, PartlyFailed } from '../../failure.ts'
import { wholeNumber } from '../../number-option.ts'
import { pause } from '../../pause.ts'
import { ProgressLines } from '../../progress-lines.ts'
import { linkPath, mirrorsPath } from '../../resource-paths.ts'
import { UsageError } from '../../usage-error.ts'
import { printVerification, progressText, verdictText } from './verification-text.ts'

interface Options {
  readonly link: string
  readonly pattern?: string
  readonly partition?: readonly string[]
  readonly fromOffset?: string
  readonly toOffset?: string
  readonly maxBytesPerSecond?: string
}

const PERIOD_MS = 250

export const verifyMirrors: CommandAction<Options> = async (context, topics, options) => {
  const body = bodyOf(topics, options)
  const { link } = options
  const started = await context.rest.post<VerificationData>(`${mirrorsPath(link)}:verify`, { body })
  const result = await context.terminal.interruptible(signal => follow(context, started, signal))
  printVerification(context, result)
  if (result.outcome === 'EQUAL') return
  const failed = result.topics.filter(topic => topic.error_code !== null).length
  if (failed === result.topics.length && failed > 0) throw new Error(verdictText(result))
  throw new PartlyFailed(verdictText(result))
}

/** Polls until the verification has ended. Ctrl-C ends the verification on the node, too. */
async function follow(
  context: CommandContext,
  started: VerificationData,
  signal: AbortSignal,
): Promise<VerificationData> {
  const path = `${linkPath(started.link_name)}/verifications/${encodeURIComponent(started.verification_id)}`
  const lines = new ProgressLines(context.terminal)
  let now = started
  while (now.state === 'RUNNING') {
    if (context.terminal.errIsScreen) lines.show([{ name: 'verify', text: progressText(now) }])
    await pause(PERIOD_MS, signal)
    if (signal.aborted) {
      await context.rest.delete(path)
      throw new Interrupted('\nThe verification was cancelled.')
    }
    now = await context.rest.get<VerificationData>(path)
  }
  if (context.terminal.errIsScreen) lines.show([{ name: 'verify', text: progressText(now) }])
  return now
}

function bodyOf(topics: readonly string[], options: Options): VerifyMirrorsBody {
  const { pattern } = options
  if (topics.length > 0 === (pattern !== undefined)) throw new UsageError('give the names of topics, or --pattern')
  const from = wholeNumber('--from-offset', options.fromOffset)
  const to = wholeNumber('--to-offset', options.toOffset)
  const rate = wholeNumber('--max-bytes-per-second', options.maxBytesPerSecond, 1)
  const partitions = (options.partition ?? []).map(text => wholeNumber('--partition', text) ?? 0)
  return {
    ...(pattern === undefined ? { mirror_topic_names: [...topics] } : { mirror_topic_name_pattern: pattern }),
    ...(partitions.length === 0 ? {} : { partitions }),
    ...(from === undefined ? {} : { from_offset: from }),
    ...(to === undefined ? {} : { to_offset: to }),
    ...(rate === undefined ? {} : { max_bytes_per_second: rate }),
  }
}
