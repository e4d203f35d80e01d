/** A listening port that speaks Kafka: accepts connections and hands their requests to a handler; node/ and tests start one per listener. */
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, Server as TlsServer } from 'node:tls'
import type { ByteBudget } from '../core/byte-budget.ts'
import { type Clock, sleep, type Timer } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { ConnectionQuota } from './connection-quota.ts'
import type { ServedApis } from './headers.ts'
import { type ListenerSecurity, openListener } from './listener-security.ts'
import { ANONYMOUS, type Principal, type RequestHandler } from './request-handler.ts'
import { ServerConnection } from './server-connection.ts'
import { tlsPrincipal } from './tls/tls-principal.ts'

export interface ListenOptions {
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  /** Listener name as in Kafka's `listeners`, e.g. PLAINTEXT. */
  readonly name: string
  /** Larger requests close their connection (Kafka's socket.request.max.bytes). */
  readonly maxRequestBytes: number
  /** A connection without a request, or with an answer nobody reads, is closed after this (connections.max.idle.ms); below 0 never. */
  readonly idleTimeoutMs: number
  /** More connections than this are closed as they come, whatever the quota. Default 10 000. */
  readonly maxConnections?: number
  /** Shared by all listeners of a node. Default: as many as come. */
  readonly connectionQuota?: ConnectionQuota
  /** Requests of other apis or versions close their connection. Contains ApiVersions (18). */
  readonly served: ServedApis
  readonly handler: RequestHandler
  /** Default: anybody may connect, without TLS. */
  readonly security?: ListenerSecurity
  /**
   * Memory of answers that wait for their clients, shared by all listeners of a node. While somebody waits for it, clients that
   * take nothing of their answer for some seconds are closed.
   */
  readonly answerBudget?: ByteBudget
  /** Memory of requests above 64 KiB that are received or handled, shared likewise (Kafka's queued.max.request.bytes). */
  readonly requestBudget?: ByteBudget
  readonly clock: Clock
  readonly logger: Logger
}

const CONNECTIONS_MAX_DEFAULT = 10_000
/** A node has 10 s for its whole stop. */
const CLOSE_TIMEOUT_MS_DEFAULT = 3000
const SWEEP_MS_MAX = 60_000
const TLS_HANDSHAKE_MS_MAX = 30_000
const STALL_CHECK_MS = 1000
/** A client that takes nothing for so long while others wait for memory is given up. */
const STALLED_MS_MAX = 5000
/** Pending connections that the kernel may queue: 5 000 clients reconnect at once after a restart. */
const BACKLOG = 4096

/** Binds and listens. Rejects with the system's error (EADDRINUSE, EACCES, ...). */
export async function listen(options: ListenOptions): Promise<KafkaServer> {
  const tls = options.security?.tls?.options
  const server = tls
    ? createTlsServer({ ...tls, allowHalfOpen: true, handshakeTimeout: TLS_HANDSHAKE_MS_MAX })
    : createServer({ allowHalfOpen: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: options.host, port: options.port, backlog: BACKLOG }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return new KafkaServer(server, options)
}

export class KafkaServer {
  readonly host: string
  readonly port: number
  readonly #options: ListenOptions
  readonly #server: Server
  readonly #connections = new Set<ServerConnection>()
  /** In their TLS handshake, by the client's address. */
  readonly #handshakes = new Map<string, Socket>()
  /** They wait for others to leave, or for their time to come. */
  readonly #held = new Set<Socket>()
  /** How long after its arrival a connection begins. */
  readonly #delaysMs = new WeakMap<Socket, number>()
  readonly #quota: ConnectionQuota
  #security: ListenerSecurity
  #sweep: Timer | undefined
  #stallCheck: Timer | undefined
  #accepted = 0
  #closing: Promise<void> | undefined

  constructor(server: Server, options: ListenOptions) {
    const address = server.address()
    this.host = options.host
    this.port = typeof address === 'object' && address ? address.port : options.port
    this.#options = options
    this.#server = server
    server.maxConnections = options.maxConnections ?? CONNECTIONS_MAX_DEFAULT
    this.#security = options.security ?? openListener
    this.#quota = options.connectionQuota ?? new ConnectionQuota()
    if (server instanceof TlsServer) this.#acceptTls(server)
    else server.on('connection', socket => this.#enters(socket) && this.#admit(socket, ANONYMOUS))
    server.on('drop', drop =>
      options.logger.warn(`refusing a connection of ${drop?.remoteAddress}: ${server.maxConnections} are open`),
    )
    server.on('error', error => options.logger.error(`listener ${options.name}: ${error.message}`))
    this.#sweep = this.#sweepLater()
    this.#stallCheck = this.#checkStallsLater()
  }

  /** Open connections. */
  get connectionCount(): number {
    return this.#connections.size
  }

  /** Connections that come from now on are asked for this; whether there is TLS, and whether clients need a certificate, stays. */
  changeSecurity(security: ListenerSecurity): void {
    this.#security = security
    if (security.tls && this.#server instanceof TlsServer) this.#server.setSecureContext(security.tls.options)
  }

  /**
   * Stops accepting, lets requests that are being answered end for at most `timeoutMs`, then closes the rest.
   * Resolves when every connection is closed; further calls get the same promise.
   */
  close(timeoutMs = CLOSE_TIMEOUT_MS_DEFAULT): Promise<void> {
    this.#closing ??= this.#close(timeoutMs)
    return this.#closing
  }

  async #close(timeoutMs: number): Promise<void> {
    this.#sweep?.cancel()
    this.#stallCheck?.cancel()
    const stopped = new Promise<void>(resolve => this.#server.close(() => resolve()))
    const open = [...this.#connections]
    for (const connection of open) connection.drain()
    for (const socket of [...this.#handshakes.values(), ...this.#held]) socket.destroy()
    const drained = new AbortController()
    const allClosed = Promise.all(open.map(connection => connection.closed)).then(() => drained.abort())
    await sleep(this.#options.clock, timeoutMs, drained.signal)
    for (const connection of open) connection.destroy('the listener closes')
    await Promise.all([allClosed, stopped])
  }

  #acceptTls(server: TlsServer): void {
    const { logger } = this.#options
    server.on('connection', (socket: Socket) => {
      if (!this.#enters(socket)) return
      const client = addressOf(socket)
      this.#handshakes.set(client, socket)
      socket.once('close', () => this.#handshakes.delete(client))
      if (this.#closing) socket.destroy()
    })
    server.on('tlsClientError', (error, socket) => {
      const detail = { client: socket.remoteAddress ?? 'unknown', reason: messageOf(error) }
      if (isHangUp(error)) logger.debug('a client left during the TLS handshake', detail)
      else logger.warn('a TLS handshake failed', detail)
      socket.destroy()
    })
    server.on('secureConnection', socket => {
      this.#handshakes.delete(addressOf(socket))
      try {
        this.#admit(socket, tlsPrincipal(socket, this.#security))
      } catch (error) {
        const client = socket.remoteAddress ?? 'unknown'
        logger.warn('a client certificate is refused', { client, reason: messageOf(error) })
        socket.destroy()
      }
    })
  }

  /** False: too many come from that address, and the socket is closed. */
  #enters(socket: Socket): boolean {
    const address = plainAddress(socket.remoteAddress)
    const { name, clock } = this.#options
    const arrival = this.#quota.rates.arrives({ listener: name, address, nowMs: clock.monotonicMs() })
    if (arrival.verdict === 'refuse') {
      this.#refuseLater(socket, arrival.ms)
      return false
    }
    this.#delaysMs.set(socket, arrival.ms)
    const leave = this.#quota.enter(address)
    if (leave) {
      socket.once('close', leave)
      return true
    }
    this.#options.logger.info('a connection is refused: too many from its address', { client: address })
    // Nobody else listens for what may go wrong with it.
    socket.on('error', () => {})
    socket.destroy()
    return false
  }

  /** Whoever comes too often waits for the refusal, and trying again costs time. */
  #refuseLater(socket: Socket, delayMs: number): void {
    const { clock, logger } = this.#options
    logger.debug('a connection is refused: its address is over its quota of connections per second', {
      client: addressOf(socket),
    })
    socket.pause()
    socket.on('error', () => {})
    this.#held.add(socket)
    const timer = clock.after(delayMs, () => socket.destroy())
    socket.once('close', () => {
      timer.cancel()
      this.#held.delete(socket)
    })
    if (this.#closing) socket.destroy()
  }

  /** Begins to read from the client when connections may come again and there is room for it. */
  #admit(socket: Socket, principal: Principal): void {
    const delayMs = this.#delaysMs.get(socket) ?? 0
    if (delayMs === 0) return this.#admitNow(socket, principal)
    socket.on('error', () => {})
    this.#held.add(socket)
    const timer = this.#options.clock.after(delayMs, () => this.#admitNow(socket, principal))
    socket.once('close', () => {
      timer.cancel()
      this.#held.delete(socket)
    })
    if (this.#closing) socket.destroy()
  }

  #admitNow(socket: Socket, principal: Principal): void {
    const { name, logger } = this.#options
    let begun = false
    socket.on('error', () => {})
    const leave = this.#quota.admit(name, () => {
      begun = true
      if (!socket.destroyed) this.#accept(socket, principal)
    })
    if (leave) socket.once('close', leave)
    else socket.destroy()
    if (begun) return
    this.#held.add(socket)
    socket.once('close', () => this.#held.delete(socket))
    logger.debug('a connection waits for others to close', { client: addressOf(socket) })
    if (this.#closing) socket.destroy()
  }

  #accept(socket: Socket, principal: Principal): void {
    this.#held.delete(socket)
    const { name, maxRequestBytes, served, handler, answerBudget, requestBudget, clock, logger } = this.#options
    const limits = { listenerName: name, requestBytesMax: maxRequestBytes, answerBudget, requestBudget }
    const settings = { ...limits, served, handler, clock, logger }
    const place = { principal, login: this.#security.login, number: this.#accepted++ }
    const connection = new ServerConnection(socket, place, settings)
    this.#connections.add(connection)
    void connection.closed.then(() => this.#connections.delete(connection))
    if (this.#closing) connection.destroy('the listener closes')
  }

  /** One timer for all connections: closes each at most a tenth of the timeout (and a minute) late. */
  #sweepLater(): Timer | undefined {
    const { clock, idleTimeoutMs } = this.#options
    if (idleTimeoutMs < 0) return undefined
    return clock.after(Math.min(SWEEP_MS_MAX, Math.max(1, Math.ceil(idleTimeoutMs / 10))), () => {
      const now = clock.monotonicMs()
      for (const connection of this.#connections)
        if (connection.idleMs(now) >= idleTimeoutMs) connection.destroy(`idle for ${idleTimeoutMs} ms`)
      this.#sweep = this.#sweepLater()
    })
  }

  #checkStallsLater(): Timer | undefined {
    const { clock, answerBudget, requestBudget } = this.#options
    if (!answerBudget && !requestBudget) return undefined
    return clock.after(STALL_CHECK_MS, () => {
      const now = clock.monotonicMs()
      if (answerBudget && answerBudget.waitingCount > 0)
        this.#giveUp('take their answers', connection => connection.stalledMs(now))
      if (requestBudget && requestBudget.waitingCount > 0)
        this.#giveUp('finish their requests', connection => connection.unfinishedMs(now))
      this.#stallCheck = this.#checkStallsLater()
    })
  }

  #giveUp(what: string, stalledMs: (connection: ServerConnection) => number): void {
    const stalled = [...this.#connections].filter(connection => stalledMs(connection) >= STALLED_MS_MAX)
    for (const connection of stalled) connection.destroy(`does not ${what}`)
    if (stalled.length === 0) return
    const { logger } = this.#options
    logger.warn(`closed ${stalled.length} connections that do not ${what}: others wait for the memory`)
  }
}

/** IPv4 addresses as such, also on a listener of both families. */
const plainAddress = (address: string | undefined): string => address?.replace(/^::ffff:(?=\d)/, '') ?? 'unknown'

const addressOf = (socket: Socket): string => `${socket.remoteAddress} ${socket.remotePort}`

const isHangUp = (error: Error & { code?: string }): boolean => error.code === 'ECONNRESET'
