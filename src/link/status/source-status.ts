/** Reads `__lockstep_status` of a link's remote cluster, and later only what is new; one per connection, made by the link runtime. */
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { SerialQueue } from '../../core/serial-queue.ts'
import type { Uuid } from '../../core/uuid.ts'
import { type BatchHeader, compressionOf, isControl } from '../../protocol/batches/batch-header.ts'
import { batchesIn } from '../../protocol/batches/batch-iteration.ts'
import { recordsOf } from '../../protocol/batches/records-of.ts'
import { verifyBatch } from '../../protocol/batches/verify-batch.ts'
import { type SourceCluster, SourceError, type SourceTopic } from '../ports.ts'
import type { SourceStatusView } from './source-chain.ts'
import { decodeStatusRecord } from './status-codec.ts'
import { StatusContents } from './status-contents.ts'
import { statusTopicName } from './status-key.ts'

/** Bounds of one reading. What is not reached goes on with the next one. */
export const readingLimits = { timeoutMs: 15_000, readBytes: 1024 * 1024, bytesMax: 256 * 1024 * 1024 } as const

/** How long it is believed that there is none, or that it may not be read, where nobody waits for the newest answer. */
const absentMs = 60_000

/** Read as a whole again: whoever is away for a day may miss removals, which a compacted topic does not keep. */
const wholeAgainMs = 60 * 60_000

/** What has been read of the topic so far. */
interface Reading {
  readonly topicId: Uuid
  /** In another one what was read may not be what is there. */
  readonly leaderEpoch: number
  readonly contents: StatusContents
  readonly beganMs: number
  /** Everything below was applied. */
  position: number
}

export interface SourceStatusOptions {
  readonly source: SourceCluster
  /** Id of the cluster that the link belongs to; undefined until it is pinned. */
  readonly clusterId: () => string | undefined
  readonly clock: Clock
}

export class SourceStatus {
  readonly #o: SourceStatusOptions
  readonly #queue = new SerialQueue()
  readonly #closing = new AbortController()
  /** The last one that reached the end. */
  #whole: Reading | undefined
  /** The one that goes on. */
  #reading: Reading | undefined
  #view: SourceStatusView = { kind: 'failed', error: new Error('it was not read yet'), contents: undefined }
  /** When the reading of `#view` began. */
  #viewMs = Number.NEGATIVE_INFINITY
  /** Readings begun so far; `#view` is that of the last. */
  #readings = 0

  constructor(options: SourceStatusOptions) {
    this.#o = options
  }

  /** What the last reading found, which may be old; for display. */
  get latest(): SourceStatusView {
    return this.#view
  }

  /** As it is now: everything published before the call is in the answer. Never rejects. */
  newest(): Promise<SourceStatusView> {
    const asked = this.#readings + 1
    // Those who wait for the same reading share it.
    return this.#queue.run(() => (this.#readings < asked ? this.#read() : this.#view))
  }

  /** The newest where there is any; one that was not there a minute ago is not asked for again. Never rejects. */
  recent(): Promise<SourceStatusView> {
    const isThere = this.#view.kind === 'read' || this.#view.kind === 'failed'
    return isThere || this.#o.clock.monotonicMs() - this.#viewMs >= absentMs
      ? this.newest()
      : this.#queue.run(() => this.#view)
  }

  /** Ends what is being read. */
  async close(): Promise<void> {
    this.#closing.abort(new SourceError('retriable', 'the link is disconnected'))
    await this.#queue.idle()
  }

  async #read(): Promise<SourceStatusView> {
    this.#readings++
    this.#viewMs = this.#o.clock.monotonicMs()
    this.#view = await this.#question(this.#viewMs)
    return this.#view
  }

  async #question(nowMs: number): Promise<SourceStatusView> {
    const timeout = new AbortController()
    const { timeoutMs } = readingLimits
    const late = new SourceError('timeout', `reading it took longer than ${timeoutMs / 1000} s`)
    const timer = this.#o.clock.after(timeoutMs, () => timeout.abort(late))
    const signal = AbortSignal.any([timeout.signal, this.#closing.signal])
    try {
      signal.throwIfAborted()
      const found = await this.#follow(nowMs, signal)
      if (!found || found.clusterId === undefined) return { kind: 'absent' }
      this.#checkCluster(found.clusterId)
      return { kind: 'read', contents: found }
    } catch (error) {
      if (error instanceof SourceError && error.failure === 'authorization')
        return { kind: 'refused', message: `the link may not read ${statusTopicName}: ${error.message}` }
      return { kind: 'failed', error, contents: this.#whole?.contents }
    } finally {
      timer.cancel()
    }
  }

  #checkCluster(publishedId: string): void {
    const expected = this.#o.clusterId()
    if (expected === undefined || expected === publishedId) return
    throw new SourceError('cluster-id', `${statusTopicName} there is about cluster ${publishedId}, not ${expected}`)
  }

  /** Everything up to the end of the topic; undefined = there is no such topic. */
  async #follow(nowMs: number, signal: AbortSignal): Promise<StatusContents | undefined> {
    const { source } = this.#o
    const [topic] = await source.describeTopics([statusTopicName], signal)
    if (!topic || topic.partitions.length === 0) {
      this.#whole = undefined
      this.#reading = undefined
      return undefined
    }
    const range = { earliest: await this.#offset('earliest', signal), latest: await this.#offset('latest', signal) }
    const reading = this.#continued(topic, range, nowMs)
    this.#reading = reading
    let bytes = 0
    while (reading.position < range.latest) {
      const { readBytes, bytesMax } = readingLimits
      const { position: offset } = reading
      const batches = await source.readBatches(statusTopicName, 0, { offset, maxBytes: readBytes, signal })
      applyBatches(reading, batches, range.latest)
      bytes += batches.length
      if (reading.position === offset)
        throw new SourceError('retriable', `the remote cluster gave nothing of it at offset ${offset}`)
      if (bytes > bytesMax) throw new SourceError('protocol', `it holds more than ${bytesMax} bytes`)
    }
    this.#whole = reading
    return reading.contents
  }

  async #offset(spec: 'earliest' | 'latest', signal: AbortSignal): Promise<number> {
    const query = { spec, isolation: 'read_uncommitted', signal } as const
    return (await this.#o.source.listOffsets(statusTopicName, [0], query)).get(0) ?? 0
  }

  /** What goes on where it was, or begins anew: another topic, one that may have lost records, or one read long ago. */
  #continued(
    { topicId, partitions }: SourceTopic,
    range: { readonly earliest: number; readonly latest: number },
    nowMs: number,
  ): Reading {
    const leaderEpoch = partitions[0]?.leaderEpoch ?? -1
    const known = this.#reading
    const isSame =
      known?.topicId === topicId &&
      known.leaderEpoch === leaderEpoch &&
      known.position >= range.earliest &&
      known.position <= range.latest &&
      nowMs - known.beganMs < wholeAgainMs
    if (known && isSame) return known
    return { topicId, leaderEpoch, contents: new StatusContents(), beganMs: nowMs, position: range.earliest }
  }
}

/** What cannot be read is reported in the contents and passed over. */
function applyBatches(reading: Reading, bytes: Buffer, end: number): void {
  const { contents } = reading
  try {
    for (const header of batchesIn(bytes)) {
      if (header.lastOffset < reading.position) continue
      if (!isControl(header)) applyBatch(contents, bytes, header)
      reading.position = header.lastOffset + 1
    }
  } catch (error) {
    if (error instanceof RangeError) throw new SourceError('protocol', error.message, { cause: error })
    contents.damaged(`at offset ${reading.position}: ${messageOf(error)}`)
    reading.position = end
  }
}

function applyBatch(contents: StatusContents, bytes: Buffer, header: BatchHeader): void {
  let records: ReturnType<typeof recordsOf>
  try {
    verifyBatch(bytes, header)
    // Lockstep does not compress it, and what is compressed may be larger than what was fetched.
    if (compressionOf(header) !== 'none') throw new Error(`a batch is compressed (${compressionOf(header)})`)
    records = recordsOf(bytes, header)
  } catch (error) {
    return contents.damaged(`at offset ${header.baseOffset}: ${messageOf(error)}`)
  }
  for (const { key, value } of records) {
    if (key === null) contents.damaged('a record has no key')
    else contents.apply(decodeStatusRecord({ key, value }))
  }
}
