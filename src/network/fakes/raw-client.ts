/** A client that writes bytes and collects frames: tests of the listener use it to misbehave. */
import { connect, type Socket } from 'node:net'
import { FrameAssembler } from '../frame-assembler.ts'

/** Adds the size prefix. */
export function frameOf(...parts: readonly Uint8Array[]): Buffer {
  const prefix = Buffer.alloc(4)
  prefix.writeInt32BE(parts.reduce((sum, part) => sum + part.length, 0))
  return Buffer.concat([prefix, ...parts])
}

export class RawClient {
  readonly socket: Socket
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>
  readonly #assembler = new FrameAssembler({ frameBytesMax: 1 << 28, mayAlias: true, allocateAtOnceBytesMax: 1 << 16 })
  readonly #frames: Buffer[] = []
  readonly #waiting: ((frame: Buffer) => void)[] = []

  private constructor(socket: Socket) {
    this.socket = socket
    this.closed = new Promise(resolve => socket.once('close', () => resolve()))
    socket.on('error', () => {})
    socket.on('data', chunk => this.#onData(chunk))
  }

  static connect(port: number): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true })
      socket.once('connect', () => resolve(new RawClient(socket)))
      socket.once('error', reject)
    })
  }

  /** Resolves when the kernel has the bytes. */
  write(bytes: Buffer): Promise<void> {
    return new Promise(resolve => this.socket.write(bytes, () => resolve()))
  }

  /** The next frame from the server. */
  next(): Promise<Buffer> {
    const frame = this.#frames.shift()
    if (frame) return Promise.resolve(frame)
    return new Promise(resolve => this.#waiting.push(resolve))
  }

  /** Frames that arrived and were not taken. */
  get unread(): number {
    return this.#frames.length
  }

  close(): Promise<void> {
    this.socket.destroy()
    return this.closed
  }

  #onData(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      at = this.#assembler.push(chunk, at)
      const frame = this.#assembler.take()
      if (!frame) continue
      const waiting = this.#waiting.shift()
      if (waiting) waiting(frame)
      else this.#frames.push(frame)
    }
  }
}
