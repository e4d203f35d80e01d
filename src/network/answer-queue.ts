/** The answers that one connection owes, in the order of its requests; ServerConnection puts requests in and is told what failed. */
import type { Socket } from 'node:net'
import type { ByteBudget } from '../core/byte-budget.ts'
import { type ParsedHeader, responsePrefix } from './headers.ts'
import type { RequestProgress } from './request-handler.ts'
import { writeChunks } from './socket-writer.ts'

/** Requests accepted and not answered, per connection. */
const UNANSWERED_MAX = 64
/** Their bytes: what a pipelining client can make us hold beyond the one request that may be larger. */
const UNANSWERED_BYTES_MAX = 4 * 1024 * 1024
/** Answers are handed to the kernel in pieces of this size, so that progress is seen. */
const PIECE_BYTES = 1024 * 1024
/** Smaller answers are not counted against the budget of answers. */
const UNCOUNTED_BYTES_MAX = 64 * 1024

/** A request that is complete. */
export interface BegunRequest {
  readonly header: ParsedHeader
  readonly bytes: number
  /** Gives its memory back; called when it is answered. */
  readonly release: (() => void) | undefined
}

/** One request as its handler and its answer see it. */
class Exchange implements RequestProgress {
  readonly request: BegunRequest
  /** Resolves when the next request of this API may begin. */
  readonly mayOvertake: Promise<void>
  readonly accepted: () => void
  readonly pause: (ms: number) => void
  readonly #releases: (() => void)[] = []
  #answered = false

  constructor(request: BegunRequest, pause: (ms: number) => void) {
    this.request = request
    this.pause = pause
    const { promise, resolve } = Promise.withResolvers<void>()
    this.mayOvertake = promise
    this.accepted = resolve
  }

  /** Has the handler taken care of the answer's memory itself? */
  get isCounted(): boolean {
    return this.#releases.length > 0
  }

  onAnswered(release: () => void): void {
    if (this.#answered) release()
    else this.#releases.push(release)
  }

  /** The answer is written, or never will be. */
  end(): void {
    this.#answered = true
    for (const release of this.#releases.splice(0)) release()
    this.request.release?.()
    this.accepted()
  }
}

export interface AnswerQueueOptions {
  readonly socket: Socket
  /** Memory of answers of all connections; answers that their handlers did not reserve are counted here. */
  readonly budget: ByteBudget | undefined
  /** Called after each piece that the kernel took. */
  readonly onProgress: () => void
  /** A handler rejected; called once, nothing is written any more. */
  readonly onFailure: (error: unknown) => void
  /** Nothing is owed any more. */
  readonly onIdle: () => void
  /** A handler asks that no further request is begun for so long. */
  readonly onPause: (ms: number) => void
}

/** Handlers may run side by side, answers are written one after the other. */
export class AnswerQueue {
  readonly #options: AnswerQueueOptions
  #written: Promise<void> = Promise.resolve()
  #unanswered = 0
  #unansweredBytes = 0
  #apiKey = -1
  #failed = false
  #taken = 0
  /** The socket is corked until the end of the turn. */
  #gathering = false

  constructor(options: AnswerQueueOptions) {
    this.#options = options
  }

  /** Requests begun and not answered. */
  get length(): number {
    return this.#unanswered
  }

  /** Bytes of answers that the client, or the kernel for it, has taken. */
  get takenBytes(): number {
    return this.#taken
  }

  /** May a request of this API begin? Others of it were accepted and are few, all else is answered. */
  hasRoom(apiKey: number): boolean {
    if (this.#unanswered === 0 || this.#failed) return true
    const isFull = this.#unanswered >= UNANSWERED_MAX || this.#unansweredBytes >= UNANSWERED_BYTES_MAX
    return !isFull && this.#apiKey === apiKey
  }

  /** Resolves when there is room. */
  async room(apiKey: number): Promise<void> {
    while (!this.hasRoom(apiKey)) await this.#next()
  }

  /** Starts the handler; resolves when the next request may be looked at. Failures are told through `onFailure`. */
  async begin(
    request: BegunRequest,
    handle: (progress: RequestProgress) => Promise<readonly Buffer[] | undefined>,
  ): Promise<void> {
    const exchange = new Exchange(request, this.#options.onPause)
    this.#apiKey = request.header.apiKey
    this.#unanswered++
    this.#unansweredBytes += request.bytes
    const answer = handle(exchange)
    // Looked at in turn, below.
    answer.catch(() => {})
    this.#written = this.#written.then(() => this.#answer(exchange, answer))
    await exchange.mayOvertake
  }

  /** Never rejects. */
  async #answer(exchange: Exchange, answer: Promise<readonly Buffer[] | undefined>): Promise<void> {
    try {
      const body = await answer
      if (body && !this.#failed)
        return await this.#write(exchange, [responsePrefix(exchange.request.header, body), ...body])
    } catch (error) {
      if (!this.#failed) {
        this.#failed = true
        // What was answered before is on its way.
        this.#writeOut()
        this.#options.onFailure(error)
      }
    }
    this.#end(exchange)
  }

  #end(exchange: Exchange): void {
    this.#unanswered--
    this.#unansweredBytes -= exchange.request.bytes
    exchange.end()
    this.#wake()
    if (this.#unanswered === 0) this.#options.onIdle()
  }

  /** The exchange ends when the kernel has the answer. Resolves when the next answer may be written. */
  async #write(exchange: Exchange, chunks: readonly Buffer[]): Promise<void> {
    const { socket, budget, onProgress } = this.#options
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
    const written = () => {
      onProgress()
      this.#taken += bytes
      this.#end(exchange)
    }
    onProgress()
    if (bytes <= UNCOUNTED_BYTES_MAX) {
      this.#gather()
      void writeChunks(socket, chunks).then(written)
      return
    }
    if (budget && !exchange.isCounted) exchange.onAnswered(budget.take(bytes))
    for (const piece of pieces(chunks)) {
      if (socket.destroyed) return this.#end(exchange)
      await writeChunks(socket, piece)
      onProgress()
    }
    written()
  }

  /** Small answers that are ready together, as after a flush that several requests shared, leave in one write. */
  #gather(): void {
    if (this.#gathering) return
    this.#gathering = true
    this.#options.socket.cork()
    process.nextTick(() => this.#writeOut())
  }

  #writeOut(): void {
    if (!this.#gathering) return
    this.#gathering = false
    this.#options.socket.uncork()
  }

  #wake = () => {}

  #next(): Promise<void> {
    return new Promise(resolve => {
      const before = this.#wake
      this.#wake = () => {
        this.#wake = () => {}
        before()
        resolve()
      }
    })
  }
}

/** Groups chunks into pieces of about PIECE_BYTES, cutting large ones. */
function* pieces(chunks: readonly Buffer[]): Generator<Buffer[]> {
  let piece: Buffer[] = []
  let room = PIECE_BYTES
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + room)
      piece.push(part)
      at += part.length
      room -= part.length
      if (room > 0) continue
      yield piece
      piece = []
      room = PIECE_BYTES
    }
  }
  if (piece.length > 0) yield piece
}
