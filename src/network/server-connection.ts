/** One accepted connection: reads requests, has them handled in order, answers in order; the listener makes one per socket. */
import type { Socket } from 'node:net'
import type { ByteBudget, ReleaseBytes } from '../core/byte-budget.ts'
import { type Clock, sleep, type Timer } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { AnswerQueue } from './answer-queue.ts'
import { ConnectionPause } from './connection-pause.ts'
import { FrameAssembler, FrameError } from './frame-assembler.ts'
import { noHeader, type ParsedHeader, parseRequestHeader, RequestRefused, type ServedApis } from './headers.ts'
import { softwareOf, unsupportedApiVersionsAnswer } from './introduction.ts'
import { type LoginRequest, type LoginSettings, SaslSession } from './login/sasl-session.ts'
import type { ClientContext, ClientSoftware, IncomingRequest, Principal, RequestHandler } from './request-handler.ts'

/** What every connection of a listener shares. */
export interface ServerConnectionSettings {
  readonly listenerName: string
  readonly requestBytesMax: number
  readonly served: ServedApis
  readonly handler: RequestHandler
  readonly answerBudget: ByteBudget | undefined
  readonly requestBudget: ByteBudget | undefined
  readonly clock: Clock
  readonly logger: Logger
}

/** What is known of the client when it has connected, and what it still has to do. */
export interface Admission {
  /** Until the login, if there is one. */
  readonly principal: Principal
  readonly login: LoginSettings | undefined
}

/** A client that has not logged in by then is closed. */
const LOGIN_MS_MAX = 30_000
/** Unparsed input above which the socket is not read: the next requests of a client that pipelines wait in the kernel. */
const INPUT_BYTES_MAX = 64 * 1024
/** A request's buffer grows beyond this only as its bytes arrive. */
const ALLOCATE_AT_ONCE_BYTES_MAX = 1024 * 1024
/** Smaller requests are not counted against the budget of requests. */
const UNCOUNTED_BYTES_MAX = INPUT_BYTES_MAX
/** Answers are no larger than this before the client has shown that it reads them. */
const UNPROVEN_ANSWER_BYTES_MAX = 1024 * 1024
/** More than the buffers of both kernels hold: who has taken so much has read. */
const PROVEN_BYTES = 16 * 1024 * 1024
/** Time after which the system asks a silent client's machine whether it is still there. */
const KEEP_ALIVE_MS = 60_000

/**
 * The connection handles one request after the other; only where a handler says so does the next one begin before the answer
 * is written. Meanwhile input is taken only up to INPUT_BYTES_MAX (to notice a client that goes away) and not parsed: Kafka's
 * muting.
 */
export class ServerConnection implements ClientContext {
  readonly connectionId: string
  readonly remoteAddress: string
  readonly remotePort: number
  readonly listener: string
  readonly closed: Promise<void>
  readonly #settings: ServerConnectionSettings
  readonly #socket: Socket
  readonly #logger: Logger
  readonly #gone = new AbortController()
  readonly #assembler: FrameAssembler
  #input: Buffer[] = []
  readonly #answers: AnswerQueue
  readonly #admission: Admission
  readonly #login: SaslSession | undefined
  readonly #loginTimer: Timer | undefined
  #inputBytes = 0
  /** Memory for the request under way, if it is a large one. */
  #admitted: ReleaseBytes | undefined
  /** Input is being worked off. */
  #handling = false
  /** No request is begun any more: we close, or (`#clientEnded`) the client sent its last and those are still answered. */
  #draining = false
  #clientEnded = false
  readonly #pause: ConnectionPause
  #lastProgressMs: number
  #clientSoftware: ClientSoftware | undefined

  /** @param place.number how many came before, on this listener */
  constructor(socket: Socket, place: Admission & { number: number }, settings: ServerConnectionSettings) {
    this.#settings = settings
    this.#admission = place
    this.#socket = socket
    this.remoteAddress = socket.remoteAddress ?? 'unknown'
    this.remotePort = socket.remotePort ?? 0
    this.listener = settings.listenerName
    this.connectionId = `${socket.localAddress}:${socket.localPort}-${this.remoteAddress}:${this.remotePort}-${place.number}`
    this.#logger = settings.logger.child({ connection: this.connectionId, listener: this.listener })
    const { login } = place
    this.#login = login && new SaslSession(login, settings.clock)
    this.#loginTimer = login && settings.clock.after(LOGIN_MS_MAX, () => this.destroy('did not log in'))
    this.#assembler = new FrameAssembler({
      frameBytesMax: login ? Math.min(login.requestBytesMax, settings.requestBytesMax) : settings.requestBytesMax,
      mayAlias: true,
      allocateAtOnceBytesMax: ALLOCATE_AT_ONCE_BYTES_MAX,
    })
    this.#lastProgressMs = settings.clock.monotonicMs()
    this.#pause = new ConnectionPause(settings.clock)
    this.#answers = new AnswerQueue({
      socket,
      budget: settings.answerBudget,
      onProgress: () => {
        this.#lastProgressMs = settings.clock.monotonicMs()
      },
      onFailure: error => this.#giveUp(error),
      onIdle: () => this.#endIfDone(),
      onPause: ms => this.#pause.extend(ms),
    })
    this.closed = new Promise(resolve => socket.once('close', () => resolve(this.#onClose())))
    socket.setNoDelay(true)
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    socket.on('data', chunk => this.#onData(chunk))
    socket.on('end', () => this.#onEnd())
    socket.on('error', error => this.#logger.debug('connection failed', { error: error.message }))
  }

  get principal(): Principal {
    return this.#login?.principal ?? this.#admission.principal
  }

  get signal(): AbortSignal {
    return this.#gone.signal
  }

  get clientSoftware(): ClientSoftware | undefined {
    return this.#clientSoftware
  }

  get answerBytesMax(): number {
    return this.#answers.takenBytes < PROVEN_BYTES ? UNPROVEN_ANSWER_BYTES_MAX : Number.MAX_SAFE_INTEGER
  }

  /** Milliseconds without a byte taken in or a piece of an answer written; 0 while a handler works. */
  idleMs(nowMs: number): number {
    return this.#isBusy && this.#socket.writableLength === 0 ? 0 : nowMs - this.#lastProgressMs
  }

  /** Milliseconds for which the client has not taken the answer that is being written; 0 without one. */
  stalledMs(nowMs: number): number {
    return this.#socket.writableLength === 0 ? 0 : nowMs - this.#lastProgressMs
  }

  /** Milliseconds for which a large request that holds memory has not gone on; 0 without one. */
  unfinishedMs(nowMs: number): number {
    return this.#admitted === undefined || this.#isBusy ? 0 : nowMs - this.#lastProgressMs
  }

  /** Lets requests that are being handled end, then closes; at once if there is none. */
  drain(): void {
    this.#draining = true
    this.#pause.cancel()
    this.#endIfDone()
  }

  /** Closes at once; what waits for the client's sake is aborted. */
  destroy(reason: string): void {
    if (this.#socket.destroyed) return
    this.#logger.debug('connection closed', { reason })
    this.#socket.destroy()
  }

  #onClose(): void {
    this.#input = []
    this.#inputBytes = 0
    this.#admitted?.()
    this.#loginTimer?.cancel()
    this.#gone.abort(new Error('the client connection is closed'))
  }

  /** The client sent its last byte. What it sent before is still answered (Produce without acks, then close), but nothing waits for it. */
  #onEnd(): void {
    this.#clientEnded = true
    this.#gone.abort(new Error('the client ended the connection'))
    this.#endIfDone()
  }

  get #isBusy(): boolean {
    return this.#handling || this.#answers.length > 0
  }

  #endIfDone(): void {
    if ((this.#draining || this.#clientEnded) && !this.#isBusy) this.#socket.destroy()
  }

  #onData(chunk: Buffer): void {
    this.#lastProgressMs = this.#settings.clock.monotonicMs()
    this.#input.push(chunk)
    this.#inputBytes += chunk.length
    if (!this.#handling) void this.#handleInput()
    else if (this.#inputBytes >= INPUT_BYTES_MAX) this.#socket.pause()
  }

  /** Begins every complete request of the input, one at a time. Never rejects. */
  async #handleInput(): Promise<void> {
    this.#handling = true
    try {
      while (!this.#draining) {
        if (this.#pause.isActive) await this.#pause.end(this.signal)
        const frame = this.#nextFrame()
        if (frame) await this.#begin(frame)
        else if (!(await this.#admit())) break
        if (this.#socket.destroyed) return
        this.#lastProgressMs = this.#settings.clock.monotonicMs()
      }
    } catch (error) {
      this.#giveUp(error)
      return
    }
    this.#handling = false
    this.#endIfDone()
    if (this.#socket.isPaused()) this.#socket.resume()
  }

  #nextFrame(): Buffer | undefined {
    for (let chunk = this.#input[0]; chunk; chunk = this.#input[0]) {
      const consumed = this.#assembler.push(chunk, 0)
      this.#inputBytes -= consumed
      if (consumed === chunk.length) this.#input.shift()
      else this.#input[0] = chunk.subarray(consumed)
      const frame = this.#assembler.take()
      if (frame) return frame
    }
    return undefined
  }

  /** Waits for memory where the rest of a large request is to come; false if there is nothing to wait for. */
  async #admit(): Promise<boolean> {
    const { requestBudget } = this.#settings
    const bytes = this.#assembler.claimedBytes
    if (!requestBudget || this.#admitted || bytes <= UNCOUNTED_BYTES_MAX) return false
    try {
      this.#admitted = requestBudget.tryAcquire(bytes) ?? (await requestBudget.acquire(bytes, this.signal))
    } catch {
      // The client left meanwhile, and its request with it.
      return false
    }
    if (this.#socket.destroyed) this.#admitted()
    return true
  }

  /** Resolves when the next request may be looked at. */
  async #begin(frame: Buffer): Promise<void> {
    const receivedMs = this.#settings.clock.monotonicMs()
    const header = this.#login?.takesBareToken ? noHeader : parseRequestHeader(frame, this.#settings.served)
    if (!this.#answers.hasRoom(header.apiKey)) await this.#answers.room(header.apiKey)
    if (this.#socket.destroyed) return
    const release = this.#admitted
    this.#admitted = undefined
    const request = { header, bytes: frame.length, release }
    await this.#answers.begin(request, progress => this.#answer(header, frame, { receivedMs, progress }))
  }

  async #answer(header: ParsedHeader, frame: Buffer, rest: Pick<IncomingRequest, 'receivedMs' | 'progress'>) {
    const { apiKey, apiVersion, correlationId, clientId } = header
    const body = frame.subarray(header.bodyStart)
    if (this.#login?.concerns(apiKey)) return await this.#logIn(this.#login, { apiKey, apiVersion, body })
    if (this.#login?.isExpired) throw new RequestRefused('the session of its login has expired')
    if (header.unsupportedApiVersions) return [unsupportedApiVersionsAnswer(this.#settings.served)]
    this.#clientSoftware = softwareOf(header, body) ?? this.#clientSoftware
    return await this.#settings.handler({ apiKey, apiVersion, correlationId, clientId, body, ...rest }, this)
  }

  /** A failed login is answered late, and nothing else is. */
  async #logIn(login: SaslSession, request: LoginRequest): Promise<Buffer[] | undefined> {
    const { body, failure } = await login.answer(request)
    if (failure === undefined) {
      if (login.principal) {
        this.#loginTimer?.cancel()
        this.#assembler.limitFrames(this.#settings.requestBytesMax)
      }
    } else {
      const { mechanism, failureDelayMs } = login
      this.#logger.warn('a login failed', { client: this.remoteAddress, mechanism, reason: failure })
      this.#draining = true
      await sleep(this.#settings.clock, failureDelayMs, this.signal)
    }
    return body && [body]
  }

  #giveUp(error: unknown): void {
    if (error instanceof FrameError || error instanceof RequestRefused)
      this.#logger.warn(`closing the connection of ${this.remoteAddress}: ${error.message}`)
    else if (!this.#socket.destroyed)
      this.#logger.error('closing the connection: its request failed', {
        error: messageOf(error),
        stack: stackOf(error),
      })
    this.#socket.destroy()
  }
}

const stackOf = (error: unknown): string | undefined => (error instanceof Error ? error.stack : undefined)
