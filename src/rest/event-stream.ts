/**
 * One answer as server-sent events: a heartbeat, a bound on what a slow reader may leave unread, an end. Used by routes that
 * stream; the route must have admitted the request before.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'

/** What is not read is kept up to here, and one more event, however large; then the reader is cut off. */
const UNREAD_BYTES_MAX = 1024 * 1024
const HEARTBEAT_MS = 15_000
/** Events that wait behind a history that is still being read. */
const PENDING_MAX = 5000

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
  /** Not written yet: they follow as fast as the reader reads. Empty = events are written as they come. */
  #pending: ServerSentEvent[] = []

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
    this.#raw.on('drain', () => this.#writePending())
    request.raw.on('error', () => this.#over())
    // Gone before anybody listened for it; told when the route has begun to listen to `closed`.
    if (this.#raw.destroyed || request.raw.socket.destroyed) queueMicrotask(() => this.#over())
  }

  /** Aborted when the client has gone, was cut off, or the stream has ended. */
  get closed(): AbortSignal {
    return this.#closed.signal
  }

  send(event: ServerSentEvent): void {
    if (this.#pending.length === 0) return this.#writeEvent(event)
    if (this.#pending.length < PENDING_MAX) this.#pending.push(event)
    else this.#cutOff()
  }

  /** What happened before: any amount of it, at the pace of the reader. What is sent meanwhile follows. */
  sendHistory(events: readonly ServerSentEvent[]): void {
    this.#pending.push(...events)
    this.#writePending()
  }

  #writePending(): void {
    let written = 0
    for (const event of this.#pending) {
      if (this.closed.aborted || this.#raw.writableLength > UNREAD_BYTES_MAX / 2) break
      this.#writeEvent(event)
      written++
    }
    this.#pending = this.#pending.slice(written)
  }

  #writeEvent({ id, event, data }: ServerSentEvent): void {
    const idLine = id === undefined ? '' : `id: ${id}\n`
    this.#write(`${idLine}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  end(): void {
    if (!this.closed.aborted) this.#raw.end()
    this.#over()
  }

  #write(text: string): void {
    if (this.closed.aborted) return
    if (this.#raw.writableLength > UNREAD_BYTES_MAX) this.#cutOff()
    else this.#raw.write(text)
  }

  /** Nobody knows when it will read on: it may come back and resume. */
  #cutOff(): void {
    this.#raw.destroy()
    this.#over()
  }

  #over(): void {
    clearInterval(this.#heartbeat)
    this.#pending = []
    this.#closed.abort()
  }
}
