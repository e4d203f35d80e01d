/** A client connection to one Kafka broker that speaks typed messages in negotiated versions; source/, controller/ and replica/ use it. */
import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import { apiOf } from '../protocol/api-registry.ts'
import { type BrokerApis, negotiateVersions } from './api-negotiation.ts'
import { BrokerChannel, type ChannelOptions } from './broker-channel.ts'
import { ConnectionError } from './connection-error.ts'
import type { VersionRange } from './headers.ts'
import type { ClientMechanism } from './login/client-exchange.ts'
import { ClientSession } from './login/client-session.ts'
import type { ClientSoftware } from './request-handler.ts'

export interface ConnectOptions extends ChannelOptions {
  /** Default of every request. A request without an answer in time closes the connection: later answers queue behind it. */
  readonly requestTimeoutMs: number
  /** How we introduce ourselves (KIP-511). */
  readonly software?: ClientSoftware
  /** Told how long each answer took. */
  readonly onAnswer?: ((api: string, ms: number) => void) | undefined
  /** Default: no login. */
  readonly login?: ClientMechanism | undefined
}

/** An api to call, e.g. `{ request: FetchRequest, response: FetchResponse }` of protocol/messages. */
export interface CallableApi<Q, R> {
  readonly request: {
    readonly name: string
    readonly apiKey: number
    readonly versions: VersionRange
    encodeChunks(value: Q, version: number): Buffer[]
  }
  readonly response: { decode(buffer: Buffer, version: number): R }
}

export interface SendOptions {
  /** Default: the highest that both sides have. */
  readonly version?: number | undefined
  readonly timeoutMs?: number | undefined
  /** Gives up waiting; the connection stays usable. */
  readonly signal?: AbortSignal | undefined
}

const SOFTWARE_DEFAULT: ClientSoftware = { name: 'lockstep', version: '0.1.0' }

/** Every failure is a ConnectionError, or the reason of the caller's own signal. */
export class BrokerConnection {
  readonly host: string
  readonly port: number
  /** What the broker serves, by api key. */
  readonly brokerApis: BrokerApis
  readonly #channel: BrokerChannel
  readonly #requestTimeoutMs: number
  readonly #session: ClientSession | undefined
  readonly #clock: Clock
  readonly #onAnswer: ConnectOptions['onAnswer']
  /** Of the last request, or the last answer (monotonic). */
  #usedMs: number

  private constructor(
    channel: BrokerChannel,
    of: { brokerApis: BrokerApis; session: ClientSession | undefined },
    options: ConnectOptions,
  ) {
    this.host = options.host
    this.port = options.port
    this.brokerApis = of.brokerApis
    this.#session = of.session
    this.#channel = channel
    this.#requestTimeoutMs = options.requestTimeoutMs
    this.#clock = options.clock
    this.#onAnswer = options.onAnswer
    this.#usedMs = options.clock.monotonicMs()
  }

  /** Connects to the first address that answers, learns the broker's api versions, and logs in. */
  static async connect(options: ConnectOptions): Promise<BrokerConnection> {
    const channel = await BrokerChannel.open(options)
    try {
      const { requestTimeoutMs: timeoutMs, signal, login: mechanism, clock } = options
      const software = options.software ?? SOFTWARE_DEFAULT
      const brokerApis = await negotiateVersions(channel, { software, timeoutMs, signal })
      const session = mechanism && new ClientSession({ channel, mechanism, brokerApis, timeoutMs, clock })
      await session?.start(signal)
      return new BrokerConnection(channel, { brokerApis, session }, options)
    } catch (error) {
      channel.close()
      throw error
    }
  }

  get isOpen(): boolean {
    return this.#channel.isOpen
  }

  /** Resolves when the connection is gone: with the reason, or undefined if it was closed here. */
  get closed(): Promise<Error | undefined> {
    return this.#channel.closed
  }

  /** Requests sent and not answered. */
  get pendingCount(): number {
    return this.#channel.pendingCount
  }

  /** For how long nothing has been asked; 0 while an answer is waited for. */
  get idleMs(): number {
    return this.pendingCount > 0 ? 0 : this.#clock.monotonicMs() - this.#usedMs
  }

  /** The highest version of an api that the broker, our tables and `range` have in common. */
  versionFor(apiKey: number, range?: VersionRange): number | undefined {
    const theirs = this.brokerApis.get(apiKey)
    const ours = apiOf(apiKey)?.request.versions
    if (!theirs || !ours) return undefined
    const max = Math.min(theirs.max, ours.max, range?.max ?? ours.max)
    return max >= Math.max(theirs.min, ours.min, range?.min ?? 0) ? max : undefined
  }

  /**
   * Sends at once (other requests may be under way), or as soon as the login is renewed, and waits for the answer. Records and bytes in it are views of its frame;
   * `release` may be called, once, when nobody looks at them any more.
   */
  async send<Q, R>(
    api: CallableApi<Q, R>,
    request: Q,
    options: SendOptions = {},
  ): Promise<{ version: number; response: R; release: () => void }> {
    const { name, apiKey } = api.request
    const version = options.version ?? this.versionFor(apiKey)
    if (version === undefined) throw this.#noVersion(api)
    const renewal = this.#session?.renewal
    if (renewal) await renewal
    const sentMs = this.#clock.monotonicMs()
    this.#usedMs = sentMs
    const answer = await this.#channel.exchange({
      apiKey,
      version,
      body: api.request.encodeChunks(request, version),
      timeoutMs: options.timeoutMs ?? this.#requestTimeoutMs,
      signal: options.signal,
    })
    this.#usedMs = this.#clock.monotonicMs()
    this.#onAnswer?.(name, this.#usedMs - sentMs)
    try {
      const response = api.response.decode(answer, version)
      return { version, response, release: () => this.#channel.release(answer) }
    } catch (error) {
      const what = `the answer of ${this.#channel.peer} to ${name} version ${version} cannot be decoded`
      throw new ConnectionError('protocol', `${what}: ${messageOf(error)}`, { cause: error })
    }
  }

  /** Closes at once; what waits is rejected with kind closed. */
  close(): void {
    this.#channel.close()
  }

  #noVersion<Q, R>(api: CallableApi<Q, R>): ConnectionError {
    const { name, apiKey, versions: ours } = api.request
    const theirs = this.brokerApis.get(apiKey)
    const detail = theirs
      ? `it serves ${theirs.min} to ${theirs.max}, we speak ${ours.min} to ${ours.max}`
      : 'it has none'
    return new ConnectionError(
      'unsupported-version',
      `${this.#channel.peer} has no usable version of ${name}: ${detail}`,
    )
  }
}
