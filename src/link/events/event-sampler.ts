/**
 * Events about what is no record: health of links, errors of tasks, statuses that are shown instead of ACTIVE, lags. Looks now
 * and then and tells what changed. Started and stopped by the engine.
 */
import type { Clock, Timer } from '../../core/clock.ts'
import type { LinkView, MirrorLagView, MirrorStatus } from '../engine-api.ts'
import type { LagEvent } from '../event-api.ts'
import type { EventLog } from './event-log.ts'

/** A mirror as the sampler sees it. */
export interface SampledMirror {
  readonly linkName: string
  readonly mirrorTopicName: string
  readonly status: MirrorStatus
  readonly reason: string | null
}

export interface EventSamplerOptions {
  readonly events: EventLog
  readonly links: () => readonly LinkView[]
  readonly mirrors: () => readonly SampledMirror[]
  /** Asked for only while somebody listens. */
  readonly lags: (mirror: SampledMirror) => readonly MirrorLagView[]
  readonly clock: Clock
}

const periodMs = 1000
/** Nobody listens: for those who come back. */
const quietPeriodMs = 5000
const lagPeriodMs = 5000

export class EventSampler {
  readonly #o: EventSamplerOptions
  #timer: Timer | undefined
  #stopped = false
  #lagsToldMs = Number.NEGATIVE_INFINITY
  /** As they were told last; undefined = nothing yet, which is no change. */
  #links: Map<string, LinkView> | undefined
  #statuses = new Map<string, MirrorStatus>()

  constructor(options: EventSamplerOptions) {
    this.#o = options
  }

  start(): void {
    this.look()
    const { events, clock } = this.#o
    if (!this.#stopped) this.#timer = clock.after(events.hasListeners ? periodMs : quietPeriodMs, () => this.start())
  }

  stop(): void {
    this.#stopped = true
    this.#timer?.cancel()
  }

  /** A record has told it already. */
  statusTold(linkName: string, mirrorTopicName: string, status: MirrorStatus | null): void {
    const name = `${linkName}/${mirrorTopicName}`
    if (status === null) this.#statuses.delete(name)
    else this.#statuses.set(name, status)
  }

  look(): void {
    const { events, clock } = this.#o
    const links = this.#o.links()
    this.#lookAtLinks(links)
    const mirrors = this.#o.mirrors()
    this.#lookAtMirrors(mirrors)
    if (!events.hasListeners || clock.monotonicMs() - this.#lagsToldMs < lagPeriodMs) return
    this.#lagsToldMs = clock.monotonicMs()
    this.#tellLags(links, mirrors)
  }

  #lookAtLinks(links: readonly LinkView[]): void {
    const before = this.#links
    this.#links = new Map(links.map(link => [link.name, link]))
    if (!before) return
    const timeMs = this.#o.clock.nowMs()
    for (const link of links) {
      const known = before.get(link.name)
      const { name: linkName, state, error, errorMessage } = link
      const isNew = !known || known.state !== state || known.error !== error || known.errorMessage !== errorMessage
      if (isNew) this.#o.events.add({ type: 'link', timeMs, linkName, state, error, errorMessage })
      for (const task of link.tasks) {
        const old = known?.tasks.find(({ name }) => name === task.name)
        if (old && outcomeOf(old) === outcomeOf(task)) continue
        if (known) this.#o.events.add({ type: 'task', timeMs, linkName, task })
      }
    }
    for (const linkName of before.keys())
      if (!this.#links.has(linkName))
        this.#o.events.add({ type: 'link', timeMs, linkName, state: null, error: null, errorMessage: null })
  }

  #lookAtMirrors(mirrors: readonly SampledMirror[]): void {
    const timeMs = this.#o.clock.nowMs()
    for (const { linkName, mirrorTopicName, status, reason } of mirrors) {
      const previousStatus = this.#statuses.get(`${linkName}/${mirrorTopicName}`)
      if (previousStatus === status) continue
      this.statusTold(linkName, mirrorTopicName, status)
      if (previousStatus === undefined) continue
      const shown = { status, previousStatus, event: null, reason }
      this.#o.events.add({ type: 'state', timeMs, linkName, mirrorTopicName, ...shown })
    }
    if (this.#statuses.size > mirrors.length) {
      const present = new Set(mirrors.map(({ linkName, mirrorTopicName }) => `${linkName}/${mirrorTopicName}`))
      for (const name of this.#statuses.keys()) if (!present.has(name)) this.#statuses.delete(name)
    }
  }

  #tellLags(links: readonly LinkView[], mirrors: readonly SampledMirror[]): void {
    const timeMs = this.#o.clock.nowMs()
    const byLink = Map.groupBy(
      mirrors.filter(({ status }) => status !== 'STOPPED'),
      ({ linkName }) => linkName,
    )
    for (const { name: linkName, mirroredBytes } of links) {
      const topics = (byLink.get(linkName) ?? []).map(mirror => lagOf(mirror, this.#o.lags(mirror)))
      const lagMax = largest(topics.map(topic => topic.lagMax))
      const lagMsMax = largest(topics.map(({ lagMs }) => lagMs))
      this.#o.events.tell({ type: 'lag', timeMs, linkName, lagMax, lagMsMax, mirroredBytes, topics })
    }
  }
}

/** Times of success change all the time, and tell nothing. */
const outcomeOf = ({ state, errors }: LinkView['tasks'][number]): string => JSON.stringify([state, errors])

function lagOf({ mirrorTopicName }: SampledMirror, lags: readonly MirrorLagView[]): LagEvent['topics'][number] {
  const known = lags.flatMap(({ lag }) => (lag === null ? [] : [lag]))
  const lagTotal = known.length === lags.length ? known.reduce((sum, lag) => sum + lag, 0) : null
  return {
    mirrorTopicName,
    lagMax: largest(lags.map(({ lag }) => lag)),
    lagTotal,
    lagMs: largest(lags.map(({ lagMs }) => lagMs)),
  }
}

/** The largest that is known; null = none is. */
function largest(values: readonly (number | null)[]): number | null {
  let found: number | null = null
  for (const value of values) if (value !== null && (found === null || value > found)) found = value
  return found
}
