/** The mirrors of one link as a table shows them, kept up to date by events: thousands of them are not asked for again because one has changed. */
import { effect, signal } from '@preact/signals'
import type { MirrorData, MirrorDataList } from '../../rest/schemas/mirrors.ts'
import { call } from '../api/api-client.ts'
import type { HeardEvent } from '../api/event-feed.ts'
import { linkPath, mirrorPath } from '../api/paths.ts'
import { links, watchEvents } from './cluster-state.ts'

export interface MirrorRow {
  readonly name: string
  readonly source: string
  readonly status: string
  readonly reason: string | null
  readonly partitions: number
  readonly lag: number | null
  readonly lagMs: number | null
  readonly sinceMs: number
  readonly actions: readonly string[]
}

export function rowOf(mirror: MirrorData): MirrorRow {
  return {
    name: mirror.mirror_topic_name,
    source: mirror.source_topic_name,
    status: mirror.mirror_status,
    reason: mirror.reason,
    partitions: mirror.num_partitions,
    lag: lagOf(mirror),
    lagMs: mirror.lag_ms,
    sinceMs: mirror.state_time_ms,
    actions: mirror.allowed_actions,
  }
}

/** Records behind in all partitions; null where one is not known. */
export function lagOf({ mirror_lags: lags }: Pick<MirrorData, 'mirror_lags'>): number | null {
  let sum = 0
  for (const { lag } of lags) {
    if (lag === null) return null
    sum += lag
  }
  return sum
}

/** undefined = being asked for. */
export const mirrorRows = signal<ReadonlyMap<string, MirrorRow> | undefined>(undefined)

/** So many changed mirrors are asked for one by one; of more, all are. */
const SINGLE_MAX = 20
const SETTLE_MS = 300
const RETRY_MS = 3000

/** Follows the mirrors of the link; returns how to stop. `failed` hears why they cannot be told. */
export function followMirrors(link: string, failed: (error: unknown) => void): () => void {
  const ended = new AbortController()
  const changed = new Set<string>()
  let isAll = true
  let timer: ReturnType<typeof setTimeout> | undefined
  mirrorRows.value = undefined
  const all = async () => {
    const { data } = await call<MirrorDataList>('GET', linkPath(link, 'mirrors'), { signal: ended.signal })
    mirrorRows.value = new Map(data.map(mirror => [mirror.mirror_topic_name, rowOf(mirror)]))
  }
  const some = async (topics: readonly string[]) => {
    const found = await Promise.all(
      topics.map(topic =>
        call<MirrorData>('GET', mirrorPath(link, topic), { signal: ended.signal }).catch(() => undefined),
      ),
    )
    const rows = new Map(mirrorRows.peek())
    for (const [index, topic] of topics.entries()) {
      const mirror = found[index]
      if (mirror) rows.set(topic, rowOf(mirror))
      else rows.delete(topic)
    }
    mirrorRows.value = rows
  }
  const update = () => {
    timer = undefined
    const topics = [...changed]
    const asked = isAll || topics.length > SINGLE_MAX ? all() : some(topics)
    changed.clear()
    isAll = false
    asked
      .then(() => failed(undefined))
      .catch(error => {
        if (ended.signal.aborted) return
        failed(error)
        isAll = true
        timer ??= setTimeout(update, RETRY_MS)
      })
  }
  const stop = watchEvents(event => {
    if (event.type === 'lag' && event.link_name === link) applyLags(event)
    if (event.type === 'state' && event.link_name === link) changed.add(event.mirror_topic_name)
    if (event.type === 'missed') isAll = true
    if (isAll || changed.size > 0) timer ??= setTimeout(update, SETTLE_MS)
  })
  // A mirror that gets into trouble, or out of it, changes no state.
  let troubled: number | undefined
  const stopCounting = effect(() => {
    const count = links.value?.find(each => each.link_name === link)?.troubled_mirror_count
    if (count === troubled) return
    isAll ||= troubled !== undefined
    troubled = count
    if (isAll) timer ??= setTimeout(update, SETTLE_MS)
  })
  update()
  return () => {
    ended.abort()
    clearTimeout(timer)
    stop()
    stopCounting()
  }
}

function applyLags({ topics }: Extract<HeardEvent, { type: 'lag' }>): void {
  const known = mirrorRows.peek()
  if (!known || topics.length === 0) return
  const rows = new Map(known)
  for (const { mirror_topic_name: name, total_lag: lag, lag_ms: lagMs } of topics) {
    const row = rows.get(name)
    if (row) rows.set(name, { ...row, lag, lagMs })
  }
  mirrorRows.value = rows
}
