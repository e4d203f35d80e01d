/** Live figures of one mirror partition, kept over stops and starts of its pipeline; views and other nodes read them as a PartitionReport. */
import type { Uuid } from '../../core/uuid.ts'
import type { PartitionReport } from '../peer-ports.ts'
import type { MirrorLogState } from '../ports.ts'
import { LagClock } from './lag-clock.ts'

/** What happened to a partition that an operator should be able to count. */
export const incidentKinds = [
  'out_of_range',
  'truncation',
  'topic_id_changed',
  'corruption',
  'fork',
  'foreign_write',
  'stalled',
  'fence_changed',
  'config_changed',
  'taken_away',
  'group_beyond_end',
] as const

export type IncidentKind = (typeof incidentKinds)[number]

export class PartitionFigures {
  readonly partition: number
  readonly lag = new LagClock()
  mirroredBytes = 0
  mirroredBatches = 0
  /** Where the last answered fetch left the mirror; -1 = never fetched. */
  lastSourceFetchOffset = -1
  /** Wall clock of the last answer with something new in it. */
  lastFetchTimeMs: number | undefined
  /** What the watchdog found at this log end; it is over as soon as the end moves. */
  stall: { readonly logEnd: number; readonly message: string } | undefined
  /** How often a trouble was met. */
  troublesSeen = 0
  #trouble: string | undefined
  /** The source is being asked and has answered. */
  #asked = false
  /** Monotonic time since when the source does not answer; undefined while it does. */
  silentSinceMs: number | undefined
  /** Offsets that became a hole because the source deleted them before they were mirrored. */
  lostOffsets = 0
  #log: { state(): MirrorLogState } | undefined
  #lastStableOffset: number | undefined

  constructor(partition: number) {
    this.partition = partition
  }

  /** What keeps the partition from going on, while it does. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  set trouble(trouble: string | undefined) {
    this.#trouble = trouble
    if (trouble !== undefined) this.troublesSeen++
  }

  /** The trouble, or else that nothing moves although there is none. */
  get reason(): string | undefined {
    return this.trouble ?? (this.stall?.logEnd === this.logState()?.logEndOffset ? this.stall?.message : undefined)
  }

  attach(log: { state(): MirrorLogState } | undefined): void {
    this.#log = log
  }

  logState(): MirrorLogState | undefined {
    return this.#log?.state()
  }

  /** An answer arrived and what it brought is appended. Both ends are from the same moment. */
  answered(answer: {
    highWatermark: number
    lastStableOffset: number
    receivedMs: number
    wallClockMs: number
    logEndOffset: number
  }): void {
    // An old broker does not tell it.
    this.#lastStableOffset = answer.lastStableOffset < 0 ? undefined : answer.lastStableOffset
    this.lag.seen(answer.highWatermark, answer.receivedMs)
    this.lag.reached(answer.logEndOffset)
    this.lastSourceFetchOffset = answer.logEndOffset
    this.lastFetchTimeMs = answer.wallClockMs
    this.#asked = true
    this.silentSinceMs = undefined
    this.trouble = undefined
  }

  /** Nobody asks the source any more (pause, failure, stop). */
  unasked(atMs: number): void {
    const log = this.logState()
    if (this.#asked && this.silentSinceMs === undefined && log) this.lag.silentFrom(atMs, log.logEndOffset)
    this.#asked = false
    this.silentSinceMs = undefined
  }

  /** The source's leader did not answer. */
  silent(message: string, atMs: number): void {
    this.trouble = message
    if (this.silentSinceMs !== undefined) return
    this.silentSinceMs = atMs
    const log = this.logState()
    if (log) this.lag.silentFrom(atMs, log.logEndOffset)
  }

  /** Both from the same moment. */
  lagsAt(atMs: number): Pick<PartitionReport, 'lag' | 'lagMs'> {
    const end = this.logState()?.logEndOffset
    if (end === undefined) return { lag: null, lagMs: null }
    // An answer about other partitions, or that there is no such topic any more, says nothing of what this one has.
    const answering = this.#asked && this.silentSinceMs === undefined && this.#trouble === undefined
    return { lag: this.lag.lag(end), lagMs: this.lag.lagMs(end, { atMs, answering }) }
  }

  /** As other nodes are told. */
  report(topicId: Uuid, atMs: number): PartitionReport {
    const log = this.logState()
    const end = log?.logEndOffset
    const stable = this.#lastStableOffset
    return {
      topicId,
      partition: this.partition,
      ...this.lagsAt(atMs),
      lastSourceFetchOffset: this.lastSourceFetchOffset,
      logStartOffset: log?.logStartOffset ?? null,
      logEndOffset: end ?? null,
      sourceHighWatermark: this.lag.highWatermark ?? null,
      sourceLastStableOffset: stable ?? null,
      stableLag: end === undefined || stable === undefined ? null : Math.max(0, stable - end),
      mirroredBytes: this.mirroredBytes,
      mirroredBatches: this.mirroredBatches,
      lastFetchTimeMs: this.lastFetchTimeMs ?? null,
      reason: this.reason ?? null,
      silentMs: this.silentSinceMs === undefined ? null : Math.max(0, Math.round(atMs - this.silentSinceMs)),
    }
  }
}
