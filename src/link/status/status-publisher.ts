/**
 * Keeps `__lockstep_status` equal to what the state says: after every change, after a restart, and again and again. Level-
 * triggered: it compares what is there with what should be, so nothing that was missed stays missed. Run by the engine.
 */
import { Backoff } from '../../core/backoff.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Random } from '../../core/random.ts'
import { ZERO_UUID } from '../../core/uuid.ts'
import { NotLinkCoordinator, type StateLog, type StateRecord } from '../ports.ts'
import { decodeStateKey, encodeStateKey, type StateKey, stateKeyText } from '../state-records/state-key.ts'
import { knownEnd } from './source-chain.ts'
import { decodeStatusRecord } from './status-codec.ts'
import { statusKinds } from './status-key.ts'
import type { MirrorStatus } from './status-records.ts'
import { WantedStatus, type WantedStatusParts } from './wanted-status.ts'

/** Records of one append; the cluster's own record is in the last, so a reader who sees it misses nothing. */
const recordsMax = 500

/** How often it looks for what changed without telling. */
const lookAgainMs = 10_000

/** Changes that come one after the other are published together. */
const gatherMs = 100

export interface StatusPublisherOptions extends WantedStatusParts {
  /** The topic; written by whoever is the link coordinator. */
  readonly log: StateLog
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

export class StatusPublisher {
  readonly #o: StatusPublisherOptions
  readonly #wanted: WantedStatus
  readonly #backoff: Backoff
  /** What is in the topic, by key. */
  readonly #published = new Map<string, StateRecord & { readonly value: Buffer }>()
  #isOpen = false
  /** When topic configs are looked at again. */
  #lookAgainAtMs = Number.NEGATIVE_INFINITY
  #running: Promise<void> | undefined
  #again = false
  #next: { readonly timer: Timer; readonly atMs: number } | undefined
  #isStarted = false
  /** The first comparison has come to an end, whatever end. */
  #hasTried = false
  #failing = false
  /** Who waits for the next comparison to be published. */
  #waiting: PromiseWithResolvers<void>[] = []

  constructor(options: StatusPublisherOptions) {
    this.#o = options
    this.#wanted = new WantedStatus(options)
    this.#backoff = new Backoff({ initialMs: 200, maxMs: 10_000, random: options.random })
    options.chains.onChange(() => this.changed())
  }

  /** It is about to publish for the first time: what others read until then may be old, or nothing. A topic that cannot be written is not waited for. */
  get isDue(): boolean {
    return this.#isStarted && !this.#hasTried
  }

  /** To be called once the state is replayed and this node is the link coordinator. Never waits for the topic. */
  start(): void {
    this.#isStarted = true
    this.#run()
  }

  /** Something may have changed. */
  changed(): void {
    if (!this.#isStarted) return
    if (this.#running) this.#again = true
    else this.#later(gatherMs)
  }

  /** Resolves when what the state says now is published; rejects if that fails, or somebody else publishes now. */
  published(): Promise<void> {
    const waiting = Promise.withResolvers<void>()
    if (!this.#isStarted) waiting.reject(notPublishing())
    else {
      this.#waiting.push(waiting)
      if (this.#running) this.#again = true
      else this.#run()
    }
    return waiting.promise
  }

  /** Somebody else publishes now; what is there is read anew by the next start. */
  pause(): void {
    this.#isStarted = false
    this.#isOpen = false
    this.#next?.timer.cancel()
    for (const { reject } of this.#waiting.splice(0)) reject(notPublishing())
  }

  /** Resolves when nothing is written any more. */
  async stop(): Promise<void> {
    this.pause()
    await this.#running
    await this.#o.log.close()
  }

  /** Unless it compares before that anyway. */
  #later(delayMs: number): void {
    const { clock } = this.#o
    const atMs = clock.monotonicMs() + delayMs
    if (this.#next && this.#next.atMs <= atMs) return
    this.#next?.timer.cancel()
    this.#next = { timer: clock.after(delayMs, () => this.#run()), atMs }
  }

  #run(): void {
    this.#next?.timer.cancel()
    this.#next = undefined
    if (this.#running || !this.#isStarted) return
    this.#again = false
    this.#running = this.#publish().then(delayMs => {
      this.#running = undefined
      this.#hasTried = true
      if (this.#isStarted) this.#later(this.#again ? Math.min(delayMs, gatherMs) : delayMs)
    })
  }

  /** One comparison; resolves to when to compare again. */
  async #publish(): Promise<number> {
    const { log, logger } = this.#o
    const waiting = this.#waiting.splice(0)
    try {
      if (!this.#isOpen) await log.open(records => this.#replay(records))
      this.#isOpen = true
      const changes = this.#changes()
      for (let from = 0; from < changes.length; from += recordsMax)
        await log.append(changes.slice(from, from + recordsMax))
      this.#backoff.reset()
      if (this.#failing) logger.info('the status topic is written again')
      this.#failing = false
      for (const { resolve } of waiting) resolve()
      return lookAgainMs
    } catch (error) {
      for (const { reject } of waiting) reject(error)
      if (!this.#failing)
        logger.warn('the status topic cannot be written; it is tried again', { error: messageOf(error) })
      this.#failing = true
      return this.#backoff.nextMs()
    }
  }

  /** What has to be written, removals first. */
  #changes(): StateRecord[] {
    const nowMs = this.#o.clock.monotonicMs()
    const lookAgain = nowMs >= this.#lookAgainAtMs
    if (lookAgain) this.#lookAgainAtMs = nowMs + lookAgainMs
    const wanted = this.#wanted.records({ lookAgain })
    const removals = [...this.#published].flatMap(([text, { key }]) => {
      return wanted.has(text) || !this.#mayRemove(decodeStateKey(key)) ? [] : [{ key, value: null }]
    })
    const additions = [...wanted].flatMap(([text, record]) => {
      const there = this.#published.get(text)
      return record.value !== null && there?.value.equals(record.value) ? [] : [record]
    })
    return [...removals, ...additions]
  }

  /** Not what another version publishes, nor what is about records of the state that cannot be read here. */
  #mayRemove({ kind, scope }: StateKey): boolean {
    const { desired } = this.#o
    if (!(Object.values(statusKinds) as number[]).includes(kind)) return false
    if (desired.problemOf(ZERO_UUID) !== undefined || desired.problemOf(scope) !== undefined) return false
    return !desired.unreadable().some(({ key }) => key.scope === scope)
  }

  #replay(records: readonly StateRecord[]): void {
    for (const { key, value } of records) {
      const change = decodeStatusRecord({ key, value })
      if (change.kind === 'garbage') continue
      const text = stateKeyText(change.key)
      if (value === null) this.#published.delete(text)
      else this.#published.set(text, { key: encodeStateKey(change.key), value })
      if (change.kind === 'mirror') this.#recall(change.record)
    }
  }

  /** What an earlier life of the link coordinator found out is true until somebody knows better. */
  #recall({ linkId, mirrorTopic, topicId, chain, chainEnd }: MirrorStatus): void {
    const [source] = chain
    if (!source) return
    const of = { sourceClusterId: source.clusterId, sourceTopic: source.topic, sourceTopicId: source.topicId }
    this.#o.chains.recall(
      { linkId, mirrorTopic, topicId, ...of },
      { hops: chain, end: knownEnd(chainEnd), isLoop: false },
    )
  }
}

const notPublishing = () => new NotLinkCoordinator('this node does not publish the state of mirrors now')
