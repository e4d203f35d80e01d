/** The connections to one source cluster: finds a broker that answers, keeps one connection per broker for questions; opened by the source cluster. */
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { Random } from '../core/random.ts'
import { type SecretBox, type SourceBroker, type SourceConnectionSettings, SourceError } from '../link/ports.ts'
import { BrokerConnection } from '../network/broker-connection.ts'
import { ConnectionError } from '../network/connection-error.ts'
import type { FrameBuffers } from '../network/frame-buffers.ts'
import { type NameServices, placesOf } from './bootstrap-names.ts'
import type { HostPort } from './bootstrap-servers.ts'
import { ConnectTimeouts } from './connect-timeouts.ts'
import { IdleConnections } from './idle-connections.ts'
import { askMetadata } from './metadata-question.ts'
import type { ObservedRequest } from './observed-request.ts'
import { SourceSecurity } from './security/source-security.ts'
import { mostTelling, sourceErrorOf } from './source-error-of.ts'

export interface BrokerPoolOptions extends NameServices {
  readonly settings: SourceConnectionSettings
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly secrets?: SecretBox | undefined
  readonly frames?: FrameBuffers
  readonly observe?: ((request: ObservedRequest) => void) | undefined
  /** A connection could not be made, or was lost. */
  readonly onTrouble?: (() => void) | undefined
}

/** Known brokers asked before the bootstrap servers are tried again: a silent one costs a whole connect timeout. */
const KNOWN_BROKERS_TRIED = 2

/** Every failure is a SourceError, or the reason of the caller's signal. Names are resolved anew for every connection. */
export class BrokerPool {
  readonly #options: BrokerPoolOptions
  readonly #closing = new AbortController()
  readonly #shared = new Map<string, Promise<BrokerConnection>>()
  /** Everything open, whoever uses it. */
  readonly #open = new Set<BrokerConnection>()
  /** Addresses that answered once: their later silence is an outage, not a wrong advertised listener. */
  readonly #reached = new Set<string>()
  /** Brokers to which the last attempt to connect failed, by address. */
  readonly #unreached = new Map<string, SourceError>()
  readonly #security: SourceSecurity
  readonly #timeouts: ConnectTimeouts
  readonly #idle: IdleConnections
  #brokers = new Map<number, SourceBroker>()

  constructor(options: BrokerPoolOptions) {
    this.#options = options
    const { settings, secrets, clock, random } = options
    const { connectTimeoutMs: initialMs, connectTimeoutMaxMs: maxMs, idleMsMax } = settings
    this.#timeouts = new ConnectTimeouts({ initialMs, maxMs, random })
    this.#idle = new IdleConnections({ clock, idleMsMax })
    this.#security = new SourceSecurity(settings.security, { secrets, clock })
  }

  /** Aborted by close(). */
  get signal(): AbortSignal {
    return this.#closing.signal
  }

  get brokers(): readonly SourceBroker[] {
    return [...this.#brokers.values()]
  }

  broker(id: number): SourceBroker | undefined {
    return this.#brokers.get(id)
  }

  /** Takes the brokers of a fresh Metadata answer; connections to addresses that are no longer theirs are closed. */
  learnBrokers(brokers: readonly SourceBroker[]): void {
    if (brokers.length === 0) return
    this.#brokers = new Map(brokers.map(broker => [broker.id, broker]))
    const valid = new Set(brokers.map(addressOf))
    for (const address of this.#unreached.keys()) if (!valid.has(address)) this.#unreached.delete(address)
    for (const [address, connection] of this.#shared) {
      if (valid.has(address)) continue
      this.#shared.delete(address)
      connection.then(found => found.close()).catch(() => {})
    }
  }

  /** A new connection to a bootstrap server, tried in random order; the caller closes it. */
  async connectToBootstrap(signal?: AbortSignal): Promise<BrokerConnection> {
    const failures: SourceError[] = []
    for (const server of this.#shuffled(this.#options.settings.bootstrapServers)) {
      try {
        return await this.connectToServer(server, signal)
      } catch (error) {
        signal?.throwIfAborted()
        failures.push(sourceErrorOf(error))
      }
    }
    if (failures.length === 0) throw new SourceError('dns', 'bootstrap.servers is empty')
    throw mostTelling(failures)
  }

  /** A new connection to this entry of `bootstrap.servers`; the caller closes it. */
  async connectToServer(server: string, signal?: AbortSignal): Promise<BrokerConnection> {
    const failures: SourceError[] = []
    for (const place of await placesOf(server, this.#options.settings.bootstrapLookup, this.#options)) {
      try {
        return await this.#connect(place, signal)
      } catch (error) {
        signal?.throwIfAborted()
        failures.push(sourceErrorOf(error))
      }
    }
    throw mostTelling(failures)
  }

  /** A new connection to a broker; the caller closes it. */
  async connectTo(brokerId: number, signal?: AbortSignal): Promise<BrokerConnection> {
    const broker = this.#brokers.get(brokerId)
    if (!broker) throw new SourceError('retriable', `broker ${brokerId} is not in the metadata of the source`)
    try {
      const connection = await this.#connect(broker, signal)
      this.#unreached.delete(addressOf(broker))
      return connection
    } catch (error) {
      signal?.throwIfAborted()
      const failure = this.#advertisedListenerError(broker, sourceErrorOf(error))
      this.#unreached.set(addressOf(broker), failure)
      throw failure
    }
  }

  /** Brokers that the source advertises and to which the last attempt to connect failed. */
  get unreached(): readonly SourceBroker[] {
    return this.brokers.filter(broker => this.#unreached.has(addressOf(broker)))
  }

  isBootstrap(address: string): boolean {
    return this.#options.settings.bootstrapServers.includes(address)
  }

  /** Is there a connection to a broker, or was there ever one to its address? */
  wasReached({ host, port }: HostPort): boolean {
    return this.#reached.has(`${host}:${port}`)
  }

  /** The connection of a broker for questions; opened when there is none. */
  async questionsTo(brokerId: number, signal?: AbortSignal): Promise<BrokerConnection> {
    const broker = this.#brokers.get(brokerId)
    if (!broker) throw new SourceError('retriable', `broker ${brokerId} is not in the metadata of the source`)
    const address = addressOf(broker)
    const known = this.#shared.get(address)
    if (known) return await withSignal(known, signal)
    const opening = this.connectTo(brokerId, this.signal)
    this.#shared.set(address, opening)
    const forget = () => {
      if (this.#shared.get(address) === opening) this.#shared.delete(address)
    }
    opening.then(connection => connection.closed).then(forget, forget)
    return await withSignal(opening, signal)
  }

  /**
   * Puts a question to any broker: those with an open connection first, then a few known ones, then the bootstrap servers.
   * Another one is asked when a connection fails, not when the answer is an error.
   */
  async askAny<T>(question: (connection: BrokerConnection) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const ids = this.#shuffled([...this.#brokers.values()])
    const isOpen = (broker: SourceBroker) => this.#shared.has(addressOf(broker))
    const open = ids.filter(isOpen)
    const candidates = [...open, ...ids.filter(broker => !isOpen(broker))].slice(0, KNOWN_BROKERS_TRIED)
    for (const { id } of candidates) {
      try {
        return await question(await this.questionsTo(id, signal))
      } catch (error) {
        signal?.throwIfAborted()
        if (!isConnectionFailure(error)) throw sourceErrorOf(error)
        this.#options.logger.debug('a source broker did not answer', {
          broker: id,
          error: sourceErrorOf(error).message,
        })
      }
    }
    return await this.#askBootstrap(question, signal)
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    this.#closing.abort(new SourceError('retriable', 'the connection to the source is closed'))
    for (const connection of this.#open) connection.close()
    await Promise.allSettled(this.#shared.values())
  }

  async #askBootstrap<T>(question: (connection: BrokerConnection) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const connection = await this.connectToBootstrap(signal)
    try {
      return await question(connection)
    } catch (error) {
      signal?.throwIfAborted()
      throw sourceErrorOf(error)
    } finally {
      connection.close()
    }
  }

  /** Opens a connection and makes sure that it leads to the right cluster. */
  async #connect(place: HostPort, signal: AbortSignal | undefined): Promise<BrokerConnection> {
    const address = `${place.host}:${place.port}`
    const stop = signal ? AbortSignal.any([signal, this.signal]) : this.signal
    stop.throwIfAborted()
    try {
      const connection = await this.#dial(place, stop)
      this.#timeouts.opened(address)
      this.#reached.add(address)
      return connection
    } catch (error) {
      if (!stop.aborted) {
        this.#timeouts.failed(address)
        this.#options.onTrouble?.()
      }
      throw error
    }
  }

  async #dial({ host, port }: HostPort, stop: AbortSignal): Promise<BrokerConnection> {
    const { settings, clock, dnsLookup, frames, onTrouble } = this.#options
    const { clientId, requestTimeoutMs } = settings
    const times = { connectTimeoutMs: this.#timeouts.timeoutMs(`${host}:${port}`), requestTimeoutMs }
    const security = await withSignal(this.#security.forConnection(), stop)
    const { observe } = this.#options
    const onAnswer = observe && ((api: string, ms: number) => observe({ clientId, api, ms }))
    const sockets = { signal: stop, clock, dnsLookup, frames, onAnswer }
    const connection = await BrokerConnection.connect({ host, port, clientId, ...times, ...sockets, ...security })
    this.#open.add(connection)
    void connection.closed.then(reason => {
      this.#open.delete(connection)
      if (reason) onTrouble?.()
    })
    this.#idle.watch(connection)
    try {
      await this.#checkClusterId(connection, stop)
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /** An address may lead elsewhere after a change of names: nothing is read from another cluster. */
  async #checkClusterId(connection: BrokerConnection, signal: AbortSignal): Promise<void> {
    const pinned = this.#options.settings.clusterId
    if (pinned === undefined) return
    const { clusterId } = await askMetadata(connection, [], { signal })
    if (clusterId === pinned) return
    const where = `${connection.host}:${connection.port}`
    throw new SourceError(
      'cluster-id',
      `${where} belongs to cluster ${clusterId}, the link is bound to cluster ${pinned}`,
    )
  }

  #advertisedListenerError(broker: SourceBroker, error: SourceError): SourceError {
    const address = `${broker.host}:${broker.port}`
    const suspicious = error.failure === 'dns' || error.failure === 'timeout'
    if (!suspicious || this.#reached.has(address) || this.isBootstrap(address)) return error
    const what = `the source advertises broker ${broker.id} at ${address}, which cannot be reached from here`
    return new SourceError('advertised-listener', `${what}: ${error.message}`, { cause: error })
  }

  #shuffled<T>(items: readonly T[]): T[] {
    return items
      .map(item => ({ item, order: this.#options.random() }))
      .sort((a, b) => a.order - b.order)
      .map(({ item }) => item)
  }
}

const addressOf = (broker: SourceBroker): string => `${broker.id}@${broker.host}:${broker.port}`

/** Did the connection fail, rather than the broker answer with an error? */
function isConnectionFailure(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.kind !== 'unsupported-version' && error.kind !== 'protocol'
  return (
    error instanceof SourceError &&
    ['dns', 'tcp', 'timeout', 'advertised-listener', 'retriable'].includes(error.failure)
  )
}

/** The promise is shared: a caller that gives up leaves it to the others. */
function withSignal<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
