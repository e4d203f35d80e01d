/**
 * One answer as server-sent events: a heartbeat, a bound on what a slow reader may leave unread, an end. Used by routes that
 * stream; the route must have admitted the request before.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'

/** What is not read is kept up to here; then the reader is cut off. */
const UNREAD_BYTES_MAX = 1024 * 1024
const HEARTBEAT_MS = 15_000

export interface ServerSentEvent {
  /** What Last-Event-ID may give back; absent = the event cannot be asked for again. */
  readonly id?: string
  readonly event: string
  readonly data: unknown
}

export class EventStream {
  readonly #raw: FastifyReply['raw']
  readonly #heartbeat: NodeJS.Timeout
  readonly #closed = new AbortController()

  /** `stillAllowed` is asked now and then: rights may be withdrawn while somebody listens. */
  constructor(request: FastifyRequest, reply: FastifyReply, stillAllowed: () => boolean) {
    reply.hijack()
    this.#raw = reply.raw
    this.#raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      connection: 'keep-alive',
      'x-accel-buffering': 'no',
    })
    this.#raw.write(': lockstep\n\n')
    this.#heartbeat = setInterval(() => {
      if (stillAllowed()) this.#write(': heartbeat\n\n')
      else this.end()
    }, HEARTBEAT_MS)
    this.#heartbeat.unref()
    this.#raw.on('close', () => this.#over())
    this.#raw.on('error', () => this.#over())
    request.raw.on('error', () => this.#over())
  }

  /** Aborted when the client has gone, was cut off, or the stream has ended. */
  get closed(): AbortSignal {
    return this.#closed.signal
  }

  send({ id, event, data }: ServerSentEvent): void {
    const idLine = id === undefined ? '' : `id: ${id}\n`
    this.#write(`${idLine}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  end(): void {
    if (!this.closed.aborted) this.#raw.end()
    this.#over()
  }

  #write(text: string): void {
    if (this.closed.aborted) return
    this.#raw.write(text)
    if (this.#raw.writableLength <= UNREAD_BYTES_MAX) return
    // Nobody knows when it will read on: it may come back and resume.
    this.#raw.destroy()
    this.#over()
  }

  #over(): void {
    clearInterval(this.#heartbeat)
    this.#closed.abort()
  }
}
