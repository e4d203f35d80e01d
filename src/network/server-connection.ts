/** One accepted connection: reads requests, has them answered one after the other, writes the answers; the listener makes one per socket. */
import type { Socket } from 'node:net'
import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { FrameAssembler, FrameError } from './frame-assembler.ts'
import { type ParsedHeader, parseRequestHeader, RequestRefused, responsePrefix, type ServedApis } from './headers.ts'
import { softwareOf, unsupportedApiVersionsAnswer } from './introduction.ts'
import {
  ANONYMOUS,
  type ClientContext,
  type ClientSoftware,
  type Principal,
  type RequestHandler,
} from './request-handler.ts'
import { writeChunks } from './socket-writer.ts'

/** What every connection of a listener shares. */
export interface ServerConnectionSettings {
  readonly listenerName: string
  readonly requestBytesMax: number
  readonly served: ServedApis
  readonly handler: RequestHandler
  readonly clock: Clock
  readonly logger: Logger
}

/** Unparsed input above which the socket is not read: the next requests of a client that pipelines wait in the kernel. */
const INPUT_BYTES_MAX = 64 * 1024
/** A request's buffer grows beyond this only as its bytes arrive. */
const ALLOCATE_AT_ONCE_BYTES_MAX = 1024 * 1024

/**
 * The connection is at any time either reading a request, or answering one. While it answers, input is taken only
 * up to INPUT_BYTES_MAX (to notice a client that goes away) and never parsed: Kafka's muting.
 */
export class ServerConnection implements ClientContext {
  readonly connectionId: string
  readonly remoteAddress: string
  readonly remotePort: number
  readonly listener: string
  readonly principal: Principal = ANONYMOUS
  readonly closed: Promise<void>
  readonly #settings: ServerConnectionSettings
  readonly #socket: Socket
  readonly #logger: Logger
  readonly #gone = new AbortController()
  readonly #assembler: FrameAssembler
  #input: Buffer[] = []
  #inputBytes = 0
  #answering = false
  /** No request is begun any more: we close, or (`#clientEnded`) the client sent its last and those are still answered. */
  #draining = false
  #clientEnded = false
  #lastProgressMs: number
  #clientSoftware: ClientSoftware | undefined

  constructor(socket: Socket, number: number, settings: ServerConnectionSettings) {
    this.#settings = settings
    this.#socket = socket
    this.remoteAddress = socket.remoteAddress ?? 'unknown'
    this.remotePort = socket.remotePort ?? 0
    this.listener = settings.listenerName
    this.connectionId = `${socket.localAddress}:${socket.localPort}-${this.remoteAddress}:${this.remotePort}-${number}`
    this.#logger = settings.logger.child({ connection: this.connectionId, listener: this.listener })
    this.#assembler = new FrameAssembler({
      frameBytesMax: settings.requestBytesMax,
      mayAlias: true,
      allocateAtOnceBytesMax: ALLOCATE_AT_ONCE_BYTES_MAX,
    })
    this.#lastProgressMs = settings.clock.monotonicMs()
    this.closed = new Promise(resolve => socket.once('close', () => resolve(this.#onClose())))
    socket.setNoDelay(true)
    socket.setKeepAlive(true)
    socket.on('data', chunk => this.#onData(chunk))
    socket.on('end', () => this.#onEnd())
    socket.on('error', error => this.#logger.debug('connection failed', { error: error.message }))
  }

  get signal(): AbortSignal {
    return this.#gone.signal
  }

  get clientSoftware(): ClientSoftware | undefined {
    return this.#clientSoftware
  }

  /** Milliseconds without a byte taken in or an answer written; 0 while a handler works. */
  idleMs(nowMs: number): number {
    return this.#answering && this.#socket.writableLength === 0 ? 0 : nowMs - this.#lastProgressMs
  }

  /** Lets a request that is being answered end, then closes; at once if there is none. */
  drain(): void {
    this.#draining = true
    if (!this.#answering) this.#socket.destroy()
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
    this.#gone.abort(new Error('the client connection is closed'))
  }

  /** The client sent its last byte. What it sent before is still answered (Produce without acks, then close), but nothing waits for it. */
  #onEnd(): void {
    this.#clientEnded = true
    this.#gone.abort(new Error('the client ended the connection'))
    if (!this.#answering) this.#socket.destroy()
  }

  #onData(chunk: Buffer): void {
    this.#lastProgressMs = this.#settings.clock.monotonicMs()
    this.#input.push(chunk)
    this.#inputBytes += chunk.length
    if (this.#answering) {
      if (this.#inputBytes >= INPUT_BYTES_MAX) this.#socket.pause()
    } else void this.#answerInput()
  }

  /** Answers every complete request of the input, one at a time. Never rejects. */
  async #answerInput(): Promise<void> {
    this.#answering = true
    try {
      for (let frame = this.#nextFrame(); frame && !this.#draining; frame = this.#nextFrame()) {
        await this.#answer(frame)
        if (this.#socket.destroyed) return
        this.#lastProgressMs = this.#settings.clock.monotonicMs()
      }
    } catch (error) {
      this.#giveUp(error)
      return
    }
    this.#answering = false
    if (this.#draining || this.#clientEnded) this.#socket.destroy()
    else if (this.#socket.isPaused()) this.#socket.resume()
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

  async #answer(frame: Buffer): Promise<void> {
    const receivedMs = this.#settings.clock.monotonicMs()
    const header = parseRequestHeader(frame, this.#settings.served)
    const { apiKey, apiVersion, correlationId, clientId } = header
    if (header.unsupportedApiVersions) return this.#write(header, [unsupportedApiVersionsAnswer(this.#settings.served)])
    const body = frame.subarray(header.bodyStart)
    this.#clientSoftware = softwareOf(header, body) ?? this.#clientSoftware
    const request = { apiKey, apiVersion, correlationId, clientId, body, receivedMs }
    const answer = await this.#settings.handler(request, this)
    if (answer) await this.#write(header, answer)
  }

  async #write(header: ParsedHeader, body: readonly Buffer[]): Promise<void> {
    if (this.#socket.destroyed) return
    this.#lastProgressMs = this.#settings.clock.monotonicMs()
    await writeChunks(this.#socket, [responsePrefix(header, body), ...body])
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
