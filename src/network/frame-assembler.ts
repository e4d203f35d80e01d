/** Cuts a byte stream into Kafka's size-prefixed frames, whatever the size of the pieces; both ends of a connection use it. */

/** Why a stream is not Kafka's; the connection cannot go on. */
export class FrameError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'FrameError'
  }
}

const PREFIX_BYTES = 4
const EMPTY = Buffer.alloc(0)
/**
 * Feed with `push`, then `take` the frame when there is one. One frame at a time: the rest of the input stays with the
 * caller, which is how a server leaves later requests unparsed while it handles one.
 */
export class FrameAssembler {
  #frameBytesMax: number
  readonly #mayAlias: boolean
  readonly #allocateAtOnceBytesMax: number
  readonly #allocate: (bytes: number) => Buffer
  readonly #prefix = Buffer.alloc(PREFIX_BYTES)
  #prefixLength = 0
  #size = -1
  #body: Buffer = EMPTY
  #length = 0
  #frame: Buffer | undefined

  /**
   * @param options.frameBytesMax larger frames are a FrameError
   * @param options.mayAlias the pushed buffers are never written again, so a frame that lies in one piece is a view of it
   * @param options.allocateAtOnceBytesMax a frame's buffer starts no larger than this and doubles as bytes arrive, so that
   * a size which a stranger only claims costs no memory; frames up to this size are written into place once
   * @param options.allocate where the memory of frames comes from, by default fresh
   */
  constructor(options: {
    frameBytesMax: number
    mayAlias: boolean
    allocateAtOnceBytesMax: number
    allocate?: (bytes: number) => Buffer
  }) {
    this.#frameBytesMax = options.frameBytesMax
    this.#mayAlias = options.mayAlias
    this.#allocateAtOnceBytesMax = options.allocateAtOnceBytesMax
    this.#allocate = options.allocate ?? Buffer.allocUnsafeSlow
  }

  /** Another limit, for frames that have not begun. */
  limitFrames(bytesMax: number): void {
    this.#frameBytesMax = bytesMax
  }

  /** Bytes held for a frame that is not complete. */
  get pendingBytes(): number {
    return this.#prefixLength + this.#length
  }

  /** Size that the frame under way claims to have; 0 without one. */
  get claimedBytes(): number {
    return Math.max(0, this.#size)
  }

  /**
   * Consumes bytes of `input` from `position` until a frame is complete or the input is used up; returns the position
   * behind what was consumed. Throws FrameError on an impossible size.
   */
  push(input: Buffer, position: number): number {
    if (this.#frame) return position
    let at = position
    if (this.#size < 0) {
      at = this.#pushPrefix(input, at)
      if (this.#size < 0) return at
      if (this.#mayAlias && input.length - at >= this.#size) {
        const end = at + this.#size
        this.#complete(input.subarray(at, end))
        return end
      }
      this.#body = this.#allocate(Math.min(this.#size, this.#allocateAtOnceBytesMax))
    }
    const take = Math.min(this.#size - this.#length, input.length - at)
    this.#reserve(this.#length + take)
    input.copy(this.#body, this.#length, at, at + take)
    this.#length += take
    if (this.#length === this.#size) this.#complete(this.#body)
    return at + take
  }

  /** Where the next bytes of a frame belong that has begun: what is read into it is told with `filled` instead of `push`. */
  get space(): Buffer | undefined {
    return this.#length < this.#body.length ? this.#body.subarray(this.#length) : undefined
  }

  /** So many bytes were written to the beginning of `space`. */
  filled(bytes: number): void {
    this.#length += bytes
    if (this.#length === this.#size) this.#complete(this.#body)
  }

  /** The completed frame without its size prefix, once. */
  take(): Buffer | undefined {
    const frame = this.#frame
    this.#frame = undefined
    return frame
  }

  #pushPrefix(input: Buffer, position: number): number {
    const take = Math.min(PREFIX_BYTES - this.#prefixLength, input.length - position)
    input.copy(this.#prefix, this.#prefixLength, position, position + take)
    this.#prefixLength += take
    if (this.#prefixLength === PREFIX_BYTES) {
      const size = this.#prefix.readInt32BE(0)
      if (size < 0 || size > this.#frameBytesMax)
        throw new FrameError(describeBadSize(this.#prefix, this.#frameBytesMax))
      this.#size = size
    }
    return position + take
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#body.length) return
    const larger = this.#allocate(Math.min(this.#size, Math.max(bytes, this.#body.length * 2)))
    this.#body.copy(larger, 0, 0, this.#length)
    this.#body = larger
  }

  #complete(frame: Buffer): void {
    this.#frame = frame
    this.#body = EMPTY
    this.#length = 0
    this.#prefixLength = 0
    this.#size = -1
  }
}

/** Names what usually speaks to a Kafka port by mistake. */
function describeBadSize(prefix: Buffer, limit: number): string {
  const size = prefix.readInt32BE(0)
  const text = prefix.toString('latin1')
  if (/^(GET|POST|PUT|HEAD|HTTP|DELE|OPTI|PATC)/.test(text)) return `the other side speaks HTTP, not the Kafka protocol`
  if (prefix[0] === 0x16 && prefix[1] === 3) return 'the other side starts a TLS handshake on a connection without TLS'
  if (prefix[0] === 0x15 && prefix[1] === 3) return 'the other side answers with a TLS alert: it expects TLS'
  return size < 0 ? `a frame of negative size ${size}` : `a frame of ${size} bytes, above the limit of ${limit}`
}
