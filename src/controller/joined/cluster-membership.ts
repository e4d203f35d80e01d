/** This node's membership in a cluster: registers, keeps the heartbeats honest, registers again when the cluster forgot us. A joined node owns one, over its observer. */
import type { Backoff } from '../../core/backoff.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { messageOf, OperationalError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { SerialQueue } from '../../core/serial-queue.ts'
import type { ImageSubscriber } from '../../metadata/controller-port.ts'
import type { EndpointImage, MetadataImage } from '../../metadata/metadata-image.ts'
import type { BrokerIncarnation } from './broker-incarnation.ts'
import { type JoiningBroker, joiningProblems, registerOnce, registrationRequest } from './broker-registration.ts'
import type { ControllerQuestions } from './controller-questions.ts'
import type { HeartbeatReport } from './heartbeat-loop.ts'
import type { HeartbeatMemory } from './heartbeat-memory.ts'
import { joinedError } from './joined-errors.ts'
import type { MetadataObserver } from './metadata-observer.ts'

/** The heartbeat thread, as the membership sees it. */
export interface Heartbeats {
  readonly memory: HeartbeatMemory
  beatSoon(): void
  close(): Promise<void>
}

export interface ClusterMembershipOptions {
  readonly observer: MetadataObserver
  readonly questions: ControllerQuestions
  readonly incarnation: BrokerIncarnation
  readonly node: Omit<JoiningBroker, 'incarnationId' | 'previousEpoch' | 'listeners'>
  /** Makes the thread; its reports go to the given function. */
  readonly heartbeats: (report: (report: HeartbeatReport) => void) => Heartbeats
  /** Between attempts to register. */
  readonly backoff: Backoff
  /** How long a registration may be refused because our own last session has not ended. */
  readonly registerMs: number
  readonly clock: Clock
  readonly logger: Logger
}

type Answered = Extract<HeartbeatReport, { kind: 'answered' }>

export class ClusterMembership {
  readonly #options: ClusterMembershipOptions
  readonly #heartbeats: Heartbeats
  readonly #closing = new AbortController()
  readonly #registrations = new SerialQueue()
  #brokerEpoch = -1
  #serving = false
  #listeners: readonly EndpointImage[] = []
  /** Of the last answer of the controller (monotonic). */
  #answeredMs: number | undefined
  /** Whoever waits for a heartbeat of a kind. */
  #waiting: { holds(answer: Answered): boolean; resolve(): void; reject(reason: unknown): void }[] = []
  #last: HeartbeatReport | undefined
  /** How often the main thread stood still so long that a heartbeat asked to be fenced, since the start. */
  stallsTotal = 0

  constructor(options: ClusterMembershipOptions) {
    this.#options = options
    this.#heartbeats = options.heartbeats(report => this.#heard(report))
    this.#heartbeats.memory.cordoned = true
  }

  /** −1 = not registered. Part of every request that only a broker may send. */
  get brokerEpoch(): number {
    return this.#brokerEpoch
  }

  /** Has the node asked to lead? Not while it starts, even if the session of its last life goes on. */
  get isServing(): boolean {
    return this.#serving
  }

  /** What the last heartbeat brought. */
  get lastHeartbeat(): HeartbeatReport | undefined {
    return this.#last
  }

  /** Subscribe it after everybody else: what it is shown, all of this node has followed. */
  get subscriber(): ImageSubscriber {
    return {
      name: 'membership',
      onImage: image => {
        this.#heartbeats.memory.metadataOffset = BigInt(image.offset)
      },
    }
  }

  /** For how long the controller has not answered a heartbeat; undefined = it never did. */
  get heartbeatAgeMs(): number | undefined {
    return this.#answeredMs === undefined ? undefined : this.#options.clock.monotonicMs() - this.#answeredMs
  }

  /**
   * A restart within the session: the last life of this incarnation is still alive to the cluster, and its heartbeats go on before
   * the start has come so far that the node can register again. Does nothing otherwise. The image must have been read.
   */
  keepAlive(): void {
    const { observer, node, incarnation, logger } = this.#options
    const known = observer.image.brokers.get(node.nodeId)
    if (known === undefined || !this.#goesOn(observer.image)) return
    logger.info('the session of the last life goes on', { brokerEpoch: known.epoch, incarnationId: incarnation.id })
    this.#brokerEpoch = known.epoch
    this.#heartbeats.memory.wantFence = false
    this.#heartbeats.memory.starting = true
    this.#heartbeats.memory.brokerEpoch = BigInt(known.epoch)
    this.#heartbeats.beatSoon()
  }

  /**
   * Registers with these listeners, as others reach them, and resolves when the image shows it; fenced, unless the last life of this
   * incarnation still is not. Rejects with REGISTRATION_REFUSED, or as `ControllerQuestions.ask`.
   */
  join(listeners: readonly EndpointImage[]): Promise<void> {
    this.#listeners = listeners
    return this.#registrations.run(() => this.#register())
  }

  /** Resolves when the controller has unfenced this node: from now on it may lead. */
  async serve(): Promise<void> {
    this.#serving = true
    this.#heartbeats.memory.starting = false
    this.#heartbeats.memory.wantFence = false
    await this.#until(({ fenced }) => !fenced)
  }

  /** This node must not lead any more, for example since it cannot follow the metadata: the next heartbeat, which is sent now, says so. */
  fence(): void {
    this.#serving = false
    this.#heartbeats.memory.wantFence = true
    this.#heartbeats.beatSoon()
  }

  /** The controller moves all leaderships away. Resolves when it has; afterwards this incarnation can only stop. */
  async handOver(): Promise<void> {
    this.#heartbeats.memory.wantShutDown = true
    await this.#until(({ shouldShutDown }) => shouldShutDown)
  }

  /** Shall new replicas stay away (metadata.version 4.3 and above)? On from the start. */
  cordon(wanted: boolean): void {
    this.#heartbeats.memory.cordoned = wanted
    this.#heartbeats.beatSoon()
  }

  /** Heartbeats end; the session with them, after its time. */
  async close(): Promise<void> {
    this.#closing.abort()
    for (const { reject } of this.#waiting.splice(0)) reject(joinedError('CONTROLLER_CLOSED', undefined))
    this.#options.questions.close()
    await this.#registrations.idle()
    await this.#heartbeats.close()
  }

  async #register(): Promise<void> {
    const { observer, incarnation, clock, registerMs, backoff, logger } = this.#options
    const deadline = clock.monotonicMs() + registerMs
    await this.#reached()
    this.#heartbeats.memory.wantFence = !this.#serving && !this.#goesOn(observer.image)
    for (;;) {
      const epoch = await this.#attempt(observer.image)
      if (epoch !== undefined) {
        await incarnation.registered(epoch)
        this.#brokerEpoch = epoch
        this.#heartbeats.memory.brokerEpoch = BigInt(epoch)
        // The registration has dropped the cordon, if there was one.
        this.#heartbeats.beatSoon()
        logger.info('registered as a broker of the cluster', { brokerEpoch: epoch, incarnationId: incarnation.id })
        await this.#reached()
        return backoff.reset()
      }
      const delay = backoff.nextMs()
      if (this.#closing.signal.aborted || clock.monotonicMs() + delay > deadline)
        throw joinedError('REGISTRATION_REFUSED', {
          error: 'DUPLICATE_BROKER_REGISTRATION',
          why: 'another process is registered under this node.id and alive',
        })
      await sleep(clock, delay, this.#closing.signal)
    }
  }

  /** As the observer's, but closing the membership ends the waiting, too. */
  async #reached(): Promise<void> {
    const { signal } = this.#closing
    const { promise, reject } = Promise.withResolvers<never>()
    const end = () => reject(joinedError('CONTROLLER_CLOSED', undefined))
    signal.addEventListener('abort', end, { once: true })
    try {
      if (signal.aborted) end()
      await Promise.race([this.#options.observer.reached(), promise])
    } finally {
      signal.removeEventListener('abort', end)
    }
  }

  /** Unfenced under this incarnation: a heartbeat that asked to be fenced would give away what a quick restart kept. */
  #goesOn(image: MetadataImage): boolean {
    const { node, incarnation } = this.#options
    const known = image.brokers.get(node.nodeId)
    return known !== undefined && !known.fenced && known.incarnationId === incarnation.id
  }

  async #attempt(image: MetadataImage): Promise<number | undefined> {
    const { node, incarnation, questions } = this.#options
    const { id: incarnationId, previousEpoch } = incarnation
    const broker = { ...node, listeners: this.#listeners, incarnationId, previousEpoch }
    // Somebody alive under our id may be our own last life, whose session ends: the controller decides.
    const problems = joiningProblems(image, {
      ...broker,
      incarnationId: image.brokers.get(node.nodeId)?.incarnationId ?? broker.incarnationId,
    })
    if (problems.length > 0)
      throw joinedError('REGISTRATION_REFUSED', { error: 'INVALID_REGISTRATION', why: problems.join('; ') })
    return await registerOnce(questions, registrationRequest(image, broker))
  }

  #heard(report: HeartbeatReport): void {
    const { logger } = this.#options
    const before = this.#last
    if (report.kind !== 'answered' && report.kind !== before?.kind) logger.warn('a heartbeat failed', { ...report })
    this.#last = report
    if (report.kind === 'answered') this.#answeredMs = this.#options.clock.monotonicMs()
    if (report.kind === 'stale' && report.brokerEpoch === this.#brokerEpoch) return this.#again()
    if (report.kind !== 'answered' || report.brokerEpoch !== this.#brokerEpoch) return
    if (report.hung && !(before?.kind === 'answered' && before.hung)) {
      this.stallsTotal++
      logger.warn('the main thread stood still, and this node asked to be fenced')
    }
    const done = this.#waiting.filter(({ holds }) => holds(report))
    this.#waiting = this.#waiting.filter(waiting => !done.includes(waiting))
    for (const { resolve } of done) resolve()
  }

  /** Somebody unregistered us, or the cluster came back from a copy of its metadata. */
  #again(): void {
    this.#brokerEpoch = -1
    this.#heartbeats.memory.brokerEpoch = -1n
    void this.join(this.#listeners).catch(error => {
      if (this.#closing.signal.aborted) return
      this.#options.logger.error('this node is no broker of the cluster any more', { reason: messageOf(error) })
      const delay = error instanceof OperationalError && !error.retriable ? 60_000 : this.#options.backoff.nextMs()
      void sleep(this.#options.clock, delay, this.#closing.signal).then(() => {
        if (!this.#closing.signal.aborted) this.#again()
      })
    })
  }

  #until(holds: (answer: Answered) => boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    if (this.#closing.signal.aborted) reject(joinedError('CONTROLLER_CLOSED', undefined))
    else this.#waiting.push({ holds, resolve, reject })
    this.#heartbeats.beatSoon()
    return promise
  }
}
