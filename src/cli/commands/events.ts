/** `lockstep events`: follows what happens, a line for each event, and goes on where it was when the node comes back. */
import type { LinkEngineEvent } from '../../rest/schemas/events.ts'
import type { CommandAction } from '../command-row.ts'
import type { CommandContext } from '../context.ts'
import type { ServerEvent } from '../event-stream.ts'
import { wholeNumber } from '../number-option.ts'
import { paint } from '../output.ts'
import { pause } from '../pause.ts'
import { isAway } from '../rest-failure.ts'
import { UsageError } from '../usage-error.ts'
import { counted, dateText, grouped, timeText } from '../words.ts'

interface Options {
  readonly link?: string
  readonly type?: readonly string[]
  readonly after?: string
  readonly max?: string
}

const TYPES = ['state', 'task', 'lag', 'link']
const RETRY_MS = 1000

export const followEvents: CommandAction<Options> = async (context, _args, options) => {
  const unknown = (options.type ?? []).find(type => !TYPES.includes(type))
  if (unknown !== undefined) throw new UsageError(`--type must be one of ${TYPES.join(', ')}, not "${unknown}"`)
  const max = wholeNumber('--max', options.max, 1) ?? Number.POSITIVE_INFINITY
  await context.terminal.interruptible(async interrupted => {
    const signal = AbortSignal.any([interrupted, context.terminal.outClosed])
    let shown = 0
    for await (const event of allEvents(context, options, signal)) {
      if (!isWanted(event, options)) continue
      context.terminal.out(lineOf(context, event))
      shown++
      if (shown >= max) return
    }
  })
}

/** Goes on behind the last event when the connection is lost. The first connection must succeed. */
async function* allEvents(
  context: CommandContext,
  { after, link, type }: Options,
  signal: AbortSignal,
): AsyncGenerator<KnownEvent> {
  let lastEventId = after
  const query = { link_name: link, types: type?.join(',') }
  let wasConnected = false
  while (!signal.aborted) {
    try {
      for await (const event of context.rest.events('GET', '/events', { query, lastEventId, signal })) {
        wasConnected = true
        if (event.id !== '') lastEventId = event.id
        yield known(event)
      }
      wasConnected = true
    } catch (error) {
      if (signal.aborted) return
      if (!isAway(error) || !wasConnected) throw error
      context.terminal.err(`${error.message}; trying again\n`)
    }
    await pause(RETRY_MS, signal)
  }
}

interface KnownEvent {
  readonly id: string
  readonly type: string
  readonly data: Partial<LinkEngineEvent> & { readonly type: string }
}

function known({ id, event, data }: ServerEvent): KnownEvent {
  const parsed = JSON.parse(data) as LinkEngineEvent
  const type = parsed.type ?? event
  return { id, type, data: { ...parsed, type } as KnownEvent['data'] }
}

function isWanted({ type, data }: KnownEvent, options: Options): boolean {
  // That events were missed concerns everybody.
  if (type === 'missed') return true
  if (options.type !== undefined && !options.type.includes(type)) return false
  return options.link === undefined || ('link_name' in data && data.link_name === options.link)
}

/** A line of text or JSON, or a document of YAML. */
function lineOf({ format, toYaml, terminal }: CommandContext, { id, data }: KnownEvent): string {
  if (format === 'human') return `${humanLine(data as LinkEngineEvent, text => paint(terminal, text))}\n`
  const all = id === '' ? data : { id, ...data }
  return toYaml ? `---\n${toYaml(all)}` : `${JSON.stringify(all)}\n`
}

function humanLine(event: LinkEngineEvent, painted: (text: string) => string): string {
  const parts = [dateText(event.time_ms), event.type.padEnd(6), ...factsOf(event, painted)]
  return parts.filter(part => part !== '').join('  ')
}

function factsOf(event: LinkEngineEvent, painted: (text: string) => string): string[] {
  const of = (topic: string) => ('link_name' in event ? `${event.link_name}/${topic}` : topic)
  switch (event.type) {
    case 'state': {
      const before = event.previous_status === null ? '' : `${painted(event.previous_status)} → `
      const change = event.previous_status === event.mirror_status ? '' : before
      const status = event.mirror_status === null ? 'no mirror any more' : painted(event.mirror_status)
      return [of(event.mirror_topic_name), change + status, event.event ?? '', event.reason ?? '']
    }
    case 'task':
      return [
        of(event.task_name),
        painted(event.state),
        event.errors.map(error => `${error.error_code}: ${error.error_message}`).join('; '),
      ]
    case 'link': {
      const error = event.link_error === 'NO_ERROR' ? '' : (event.link_error ?? '')
      return [event.link_name, painted(event.link_state ?? 'deleted'), error, event.link_error_message ?? '']
    }
    case 'lag': {
      const lag = event.max_lag === null ? 'lag not known' : `lag ${grouped(event.max_lag)}`
      const time = event.max_lag_ms === null ? '' : timeText(event.max_lag_ms)
      return [event.link_name, lag, time, counted(event.topics.length, 'topic')]
    }
    case 'missed':
      return [event.message]
    default:
      return [JSON.stringify(event)]
  }
}
