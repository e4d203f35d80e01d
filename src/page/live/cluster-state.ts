/** What the page knows of the cluster: links with their figures, nodes, what has happened. Filled by the feed and by asking; views read the signals. */
import { batch, signal } from '@preact/signals'
import type { NodeData, NodeDataList } from '../../rest/schemas/clusters.ts'
import type { LinkData, LinkDataList } from '../../rest/schemas/links.ts'
import { ApiError, call, messageOf } from '../api/api-client.ts'
import { type HeardEvent, listen } from '../api/event-feed.ts'
import { clusterId, clusterPath } from '../api/paths.ts'
import { type Sample, withSample } from './samples.ts'

/** What is kept of what has happened. */
const EVENTS_MAX = 2000
/** Links are asked for anew so often, whatever the feed tells. */
const REFRESH_MS = 10_000
/** Events come in bursts; one question answers for all of them. */
const SETTLE_MS = 250
/** Of the first question, while the node does not answer. */
const RETRY_MS = 2000

/** undefined = not told yet. */
export const links = signal<readonly LinkData[] | undefined>(undefined)
export const nodes = signal<readonly NodeData[]>([])
/** By link. */
export const linkSamples = signal<ReadonlyMap<string, readonly Sample[]>>(new Map())
/** The newest first; samples of lags are not among them. */
export const happened = signal<readonly HeardEvent[]>([])
/** When links were last told (this machine's clock). */
export const refreshedMs = signal(Date.now())
/** Why links cannot be told now. */
export const trouble = signal<string | undefined>(undefined)

const watchers = new Set<(event: HeardEvent) => void>()

/** `hear` is called for every event; returns how to stop that. */
export function watchEvents(hear: (event: HeardEvent) => void): () => void {
  watchers.add(hear)
  return () => watchers.delete(hear)
}

/** Asks once, then listens, until `ended` is aborted. */
export async function followCluster(ended: AbortSignal): Promise<void> {
  links.value = undefined
  for (;;) {
    const found = await findCluster()
    if (found === 'login' || ended.aborted) return
    if (found === 'yes') break
    await new Promise(resolve => setTimeout(resolve, RETRY_MS))
  }
  const refresh = setInterval(refreshLinks, REFRESH_MS)
  ended.addEventListener('abort', () => clearInterval(refresh))
  await listen(hear, { signal: ended, connected: () => void refreshLinks() })
}

/** `login`: somebody has to log in first, which begins everything anew. */
async function findCluster(): Promise<'yes' | 'no' | 'login'> {
  try {
    const { data } = await call<{ data: { cluster_id: string }[] }>('GET', '/kafka/v3/clusters')
    clusterId.value = data[0]?.cluster_id
    trouble.value = undefined
    return 'yes'
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return 'login'
    trouble.value = messageOf(error)
    return 'no'
  }
}

function hear(event: HeardEvent): void {
  if (event.type === 'lag') {
    const { link_name: name, time_ms: timeMs, max_lag: lag, max_lag_ms: lagMs, mirrored_bytes: bytes } = event
    addSample(name, { timeMs, lag, lagMs, bytes })
    links.value = links
      .peek()
      ?.map(link => (link.link_name === name ? { ...link, max_lag: lag, max_lag_ms: lagMs } : link))
  } else {
    happened.value = [event, ...happened.peek().slice(0, EVENTS_MAX - 1)]
    refreshSoon()
  }
  for (const watcher of watchers) watcher(event)
}

let isSettling = false
let isWanted = false
/** Several calls in a row ask once, and one question at a time, however slow the node is. */
export function refreshSoon(): void {
  isWanted = true
  if (isSettling) return
  isSettling = true
  setTimeout(async () => {
    isWanted = false
    await refreshLinks()
    isSettling = false
    if (isWanted) refreshSoon()
  }, SETTLE_MS)
}

export async function refreshLinks(): Promise<void> {
  try {
    const [{ data: found }, { data: there }] = await Promise.all([
      call<LinkDataList>('GET', clusterPath('links'), { query: { include_tasks: 'true' } }),
      call<NodeDataList>('GET', clusterPath('nodes')),
    ])
    const timeMs = Date.now()
    batch(() => {
      links.value = found
      nodes.value = there
      refreshedMs.value = timeMs
      trouble.value = undefined
      for (const { link_name: name, max_lag: lag, max_lag_ms: lagMs, mirrored_bytes: bytes } of found)
        if (!linkSamples.peek().has(name)) addSample(name, { timeMs, lag, lagMs, bytes })
    })
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) trouble.value = messageOf(error)
  }
}

function addSample(link: string, sample: Sample): void {
  const known = linkSamples.peek()
  linkSamples.value = new Map(known).set(link, withSample(known.get(link) ?? [], sample))
}
