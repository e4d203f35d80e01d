/** Frames over one socket to a broker: encoded requests out, answers in, matched by correlation id; BrokerConnection adds the api versions. */
import type { Socket } from 'node:net'
import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import { apiOf } from '../protocol/api-registry.ts'
import { RequestHeader } from '../protocol/messages/header.ts'
import { Reader } from '../protocol/schema/reader.ts'
import { ConnectionError, type ConnectionErrorKind } from './connection-error.ts'
import { type DnsLookup, dial } from './dial.ts'
import { FrameAssembler } from './frame-assembler.ts'
import type { FrameBuffers } from './frame-buffers.ts'
import { PendingRequests } from './pending-requests.ts'
import { writeChunks } from './socket-writer.ts'
import { type ClientTls, describeTlsError, isTlsError } from './tls/client-tls.ts'

export interface ChannelOptions {
  readonly host: string
  readonly port: number
  readonly clientId: string
  /** For name resolution, TCP and TLS. */
  readonly connectTimeoutMs: number
  /** A larger answer closes the connection. Default 256 MiB. */
  readonly maxResponseBytes?: number
  /** Aborts connecting; has no effect afterwards. */
  readonly signal?: AbortSignal | undefined
  readonly clock: Clock
  readonly dnsLookup?: DnsLookup | undefined
  /** Default: no TLS. */
  readonly tls?: ClientTls | undefined
  /** Where the memory of answers comes from, and goes if it is given back. Default: fresh memory. */
  readonly frames?: FrameBuffers | undefined
}

/** One encoded request. */
export interface EncodedRequest {
  readonly apiKey: number
  readonly version: number
  readonly body: readonly Buffer[]
  /** Without an answer in time the connection is closed: later answers queue behind the missing one. */
  readonly timeoutMs: number
  /** Gives up waiting; the connection stays usable. */
  readonly signal?: AbortSignal | undefined
}

/** Below what the first bytes of TLS and HTTP look like as a size. */
const RESPONSE_BYTES_MAX_DEFAULT = 256 * 1024 * 1024

export class BrokerChannel {
  /** `host:port`, for messages. */
  readonly peer: string
  /** Resolves when the connection is gone: with the reason, or undefined if it was closed here. */
  readonly closed: Promise<Error | undefined>
  readonly #clientId: string
  readonly #assembler: FrameAssembler
  readonly #pending: PendingRequests
  readonly #resolveClosed: (reason: Error | undefined) => void
  readonly #frames: FrameBuffers | undefined
  #socket: Socket | undefined
  #open = true
  /** The next bytes are read to where they belong in their frame. */
  #readingInPlace = false

  private constructor(options: ChannelOptions) {
    this.peer = `${options.host}:${options.port}`
    this.#clientId = options.clientId
    const frameBytesMax = options.maxResponseBytes ?? RESPONSE_BYTES_MAX_DEFAULT
    this.#frames = options.frames
    this.#assembler = new FrameAssembler({
      frameBytesMax,
      mayAlias: false,
      allocateAtOnceBytesMax: frameBytesMax,
      allocate: bytes => options.frames?.take(bytes) ?? Buffer.allocUnsafeSlow(bytes),
    })
    this.#pending = new PendingRequests(options.clock)
    const { promise, resolve } = Promise.withResolvers<Error | undefined>()
    this.closed = promise
    this.#resolveClosed = resolve
  }

  /** Rejects with ConnectionError (dns, tcp, tls, timeout) or the signal's reason. */
  static async open(options: ChannelOptions): Promise<BrokerChannel> {
    const channel = new BrokerChannel(options)
    const socket = await dial({
      ...options,
      onBytes: bytes => channel.#onBytes(bytes),
      readInto: () => channel.#readInto(),
    })
    channel.#socket = socket
    socket.on('error', error =>
      // With TLS 1.3 a broker looks at our certificate after our handshake is over.
      isTlsError(error)
        ? channel.#fail('tls', describeTlsError(error))
        : channel.#fail('closed', `the broker closed the connection (${error.message})`),
    )
    socket.on('end', () => channel.#fail('closed', 'the broker closed the connection'))
    socket.on('close', () => channel.#fail('closed', 'the broker closed the connection'))
    if (socket.destroyed) channel.#fail('closed', 'the broker closed the connection')
    return channel
  }

  get isOpen(): boolean {
    return this.#open
  }

  /** Requests sent and not answered. */
  get pendingCount(): number {
    return this.#pending.count
  }

  /** Sends at once and resolves to the answer's body, a view of its frame. Rejects with ConnectionError or the signal's reason. */
  exchange(request: EncodedRequest): Promise<Buffer> {
    const { apiKey, version, signal, timeoutMs } = request
    const api = apiOf(apiKey)
    if (!api) throw new TypeError(`no api has the key ${apiKey}`)
    const label = `${api.name} version ${version}`
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    if (signal?.aborted) reject(signal.reason)
    else if (!this.#open) reject(new ConnectionError('closed', `${label} to ${this.peer}: the connection is closed`))
    else {
      const succeed = (frame: Buffer) => {
        try {
          resolve(this.#bodyOf(frame, api.responseHeaderVersion(version)))
        } catch (error) {
          const what = `${label}: the answer of ${this.peer} has no readable header: ${messageOf(error)}`
          reject(new ConnectionError('protocol', what, { cause: error }))
        }
      }
      const id = this.#pending.add({ label, succeed, fail: reject }, timeoutMs, () =>
        this.#fail('timeout', `no answer to ${label} in ${timeoutMs} ms`),
      )
      if (signal) this.#abandonOnAbort(promise, { id, signal, reject })
      const header = { requestApiKey: apiKey, requestApiVersion: version, correlationId: id, clientId: this.#clientId }
      this.#write([RequestHeader.encode(header, api.requestHeaderVersion(version)), ...request.body])
    }
    return promise
  }

  /** Takes back the memory of an answer that nobody looks at any more. */
  release(answer: Buffer): void {
    this.#frames?.give(answer)
  }

  /** Closes at once; what waits is rejected with kind closed. */
  close(): void {
    this.#finish(new ConnectionError('closed', 'the connection was closed here'), undefined)
  }

  #abandonOnAbort(
    promise: Promise<unknown>,
    waiting: { id: number; signal: AbortSignal; reject: (reason: unknown) => void },
  ): void {
    const { id, signal, reject } = waiting
    const onAbort = () => {
      this.#pending.abandon(id)
      reject(signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    const forget = () => signal.removeEventListener('abort', onAbort)
    promise.then(forget, forget)
  }

  #write(chunks: readonly Buffer[]): void {
    if (!this.#socket) return
    const prefix = Buffer.allocUnsafe(4)
    let size = 0
    for (const chunk of chunks) size += chunk.length
    prefix.writeInt32BE(size, 0)
    void writeChunks(this.#socket, [prefix, ...chunks])
  }

  #readInto(): Buffer | undefined {
    const space = this.#assembler.space
    this.#readingInPlace = space !== undefined
    return space
  }

  #onBytes(bytes: Buffer): void {
    try {
      if (this.#readingInPlace) {
        this.#assembler.filled(bytes.length)
        const frame = this.#assembler.take()
        if (frame) this.#onFrame(frame)
        return
      }
      for (let at = 0; at < bytes.length && this.#open; ) {
        at = this.#assembler.push(bytes, at)
        const frame = this.#assembler.take()
        if (frame) this.#onFrame(frame)
      }
    } catch (error) {
      this.#fail('protocol', messageOf(error))
    }
  }

  #onFrame(frame: Buffer): void {
    const correlationId = frame.length < 4 ? undefined : frame.readInt32BE(0)
    if (correlationId === undefined) this.#fail('protocol', `an answer of ${frame.length} bytes`)
    else if (!this.#pending.settle(correlationId, frame))
      this.#fail('protocol', `an answer to request ${correlationId}, which was not asked`)
  }

  /** Skips the response header. */
  #bodyOf(frame: Buffer, headerVersion: number): Buffer {
    if (headerVersion === 0) return frame.subarray(4)
    const reader = new Reader(frame, 4)
    reader.skipTaggedFields()
    return frame.subarray(reader.position)
  }

  #fail(kind: ConnectionErrorKind, detail: string): void {
    const reason = new ConnectionError(kind, `${this.peer}: ${detail}`)
    this.#finish(reason, reason)
  }

  #finish(error: ConnectionError, reason: Error | undefined): void {
    if (!this.#open) return
    this.#open = false
    this.#socket?.destroy()
    this.#pending.failAll(label => new ConnectionError(error.kind, `${label}: ${error.message}`, { cause: error }))
    this.#resolveClosed(reason)
  }
}
