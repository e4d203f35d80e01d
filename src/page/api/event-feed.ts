/** The node's events as they happen: one connection that is made again for ever, resumes where it broke, and knows how old the last word is. */
import { signal } from '@preact/signals'
import type { LinkEngineEvent } from '../../rest/schemas/events.ts'
import { ApiError, request } from './api-client.ts'
import { EventParser } from './event-parser.ts'
import { clusterPath } from './paths.ts'

/** Nothing heard for so long, heartbeats included: the connection is as good as lost. */
const SILENCE_MS = 35_000
const RETRY_FIRST_MS = 500
const RETRY_MAX_MS = 10_000

export type FeedState = 'connecting' | 'live' | 'lost'

export const feedState = signal<FeedState>('connecting')
/** When the node last said anything (this machine's clock). */
export const lastHeardMs = signal(Date.now())

/** What was heard, with its id where it has one. */
export type HeardEvent = LinkEngineEvent & { readonly id?: string }

/** Listens until `signal` is aborted. `hear` gets events in order; `connected` is called whenever a connection stands. */
export async function listen(
  hear: (event: HeardEvent) => void,
  { signal: ended, connected }: { readonly signal: AbortSignal; readonly connected: (isFirst: boolean) => void },
): Promise<void> {
  let lastId: string | undefined
  let isFirst = true
  let retryMs = RETRY_FIRST_MS
  while (!ended.aborted) {
    const attempt = new AbortController()
    const stop = () => attempt.abort()
    ended.addEventListener('abort', stop)
    const watch = setInterval(() => {
      if (Date.now() - lastHeardMs.peek() > SILENCE_MS) attempt.abort()
    }, 1000)
    try {
      lastHeardMs.value = Date.now()
      for await (const event of events(lastId, attempt.signal, () => {
        feedState.value = 'live'
        retryMs = RETRY_FIRST_MS
        connected(isFirst)
        isFirst = false
      })) {
        if (event.id !== undefined) lastId = event.id
        hear(event)
      }
    } catch (error) {
      // Somebody has to log in first, which begins everything anew.
      if (error instanceof ApiError && error.status === 401) return
    } finally {
      clearInterval(watch)
      ended.removeEventListener('abort', stop)
    }
    if (ended.aborted) return
    feedState.value = 'lost'
    await new Promise(resolve => setTimeout(resolve, retryMs))
    retryMs = Math.min(RETRY_MAX_MS, retryMs * 2)
  }
}

async function* events(
  lastId: string | undefined,
  signal: AbortSignal,
  connected: () => void,
): AsyncGenerator<HeardEvent> {
  const answer = await request('GET', clusterPath('events'), {
    query: { lag_topics: 'changed', history: 'true' },
    headers: { accept: 'text/event-stream', ...(lastId === undefined ? {} : { 'last-event-id': lastId }) },
    signal,
  })
  if (!answer.body) return
  connected()
  const parser = new EventParser()
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    lastHeardMs.value = Date.now()
    for (const { id, data } of parser.push(value))
      yield { ...(JSON.parse(data) as LinkEngineEvent), ...(id === undefined ? {} : { id }) }
  }
}
