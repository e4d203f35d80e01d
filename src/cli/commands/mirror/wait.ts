/** `--wait`: follows mirror topics until all have reached a state, with a line for each change. */
import type { MirrorDataList } from '../../../rest/schemas/mirrors.ts'
import type { CommandContext } from '../../context.ts'
import { UsageError } from '../../usage-error.ts'

const DEFAULT_SECONDS = 300
const PERIOD_MS = 250

/** The value of --wait in milliseconds; undefined = do not wait. */
export function parseWait(value: string | true | undefined): number | undefined {
  if (value === undefined) return undefined
  const seconds = value === true ? DEFAULT_SECONDS : Number(value.replace(/s$/, ''))
  if (!(seconds > 0)) throw new UsageError(`--wait must be a number of seconds, not "${value}"`)
  return seconds * 1000
}

/** Resolves when all topics show `status`; throws, naming those that do not, after the timeout. */
export async function waitUntil(
  context: CommandContext,
  topics: readonly string[],
  goal: { link: string; status: string; timeoutMs: number },
): Promise<void> {
  const deadline = performance.now() + goal.timeoutMs
  const shown = new Map<string, string>()
  for (;;) {
    const { data } = await context.rest.get<MirrorDataList>(`/links/${encodeURIComponent(goal.link)}/mirrors`)
    const now = new Map(data.map(mirror => [mirror.mirror_topic_name, mirror]))
    for (const topic of topics) {
      const mirror = now.get(topic)
      const text = mirror ? mirror.mirror_status + (mirror.reason === null ? '' : ` (${mirror.reason})`) : 'gone'
      if (shown.get(topic) !== text) context.terminal.err(`${topic}: ${text}\n`)
      shown.set(topic, text)
    }
    const late = topics.filter(topic => now.get(topic)?.mirror_status !== goal.status)
    if (late.length === 0) return
    if (performance.now() > deadline)
      throw new Error(`after ${goal.timeoutMs / 1000} s these topics are not ${goal.status}: ${late.join(', ')}`)
    await new Promise(resolve => setTimeout(resolve, PERIOD_MS))
  }
}
