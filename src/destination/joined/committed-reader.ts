/** Follows one of Lockstep's own topics over the network, as a consumer of its leader: what is below the high watermark, in order, for ever. Used where this node does not lead the topic. */
import { Backoff } from '../../core/backoff.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { offsetFromWire } from '../../core/offset.ts'
import type { Random } from '../../core/random.ts'
import type { BrokerConnection } from '../../network/broker-connection.ts'
import { completeBytes } from '../../protocol/batches/batch-iteration.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { FetchApi } from '../../protocol/messages/01-fetch.ts'
import { ListOffsetsApi } from '../../protocol/messages/02-list-offsets.ts'
import type { OwnTopic } from './own-topic.ts'

/** Its own connection to a broker: fetches wait at the broker. */
export interface FetchConnections {
  open(brokerId: number): Promise<Pick<BrokerConnection, 'send' | 'versionFor' | 'close'>>
}

export interface CommittedReaderOptions {
  readonly topic: OwnTopic
  /** Where to go on. */
  readonly position: () => number
  /** Whole batches from `position` on. Must not throw for what can be read later. */
  readonly onBatches: (bytes: Buffer) => void
  /** The log begins above `position` now. */
  readonly onGone: (logStartOffset: number) => void
  /** Told the end of the log first, where reading does not go on but begins there. */
  readonly startsAtEnd?: (end: number) => void
  readonly connections: FetchConnections
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** The last version in which the leader answers consumers itself, rather than to send them to another replica (KIP-392). */
const FETCH_VERSION = { min: 4, max: 10 }
const EARLIEST = -2n
const LATEST = -1n
const WAIT_MS = 500
const PATIENCE_MS = 15_000
const BYTES_MAX = 4 * 1024 * 1024

export class CommittedReader {
  readonly #o: CommittedReaderOptions
  readonly #stopping = new AbortController()
  readonly #waiting: (() => void)[] = []
  readonly #backoff: Backoff
  #connection: { readonly brokerId: number; readonly to: Awaited<ReturnType<FetchConnections['open']>> } | undefined
  #running: Promise<void> | undefined
  /** Of the last answer: the leader's high watermark; undefined = none answered yet. */
  #highWatermark: number | undefined
  #trouble: string | undefined
  #knowsEnd = false

  constructor(options: CommittedReaderOptions) {
    this.#o = options
    this.#backoff = new Backoff({ initialMs: 50, maxMs: 2000, random: options.random })
  }

  /** Why nothing comes now; undefined = the leader answers. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Resolves when everything has been given out that was below the high watermark in an answer after this call; rejects after a while, or when stopped. */
  async caughtUp(): Promise<void> {
    const { clock, topic } = this.#o
    this.#highWatermark = undefined
    const reached = new AbortController()
    this.#waiting.push(() => reached.abort())
    await sleep(clock, PATIENCE_MS, AbortSignal.any([reached.signal, this.#stopping.signal]))
    if (!reached.signal.aborted)
      throw new Error(`${topic.name} cannot be read now: ${this.#trouble ?? 'its leader does not answer'}`)
  }

  /** Nothing is given out any more when it resolves. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#connection?.to.close()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock, logger, topic } = this.#o
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#fetch()
        this.#trouble = undefined
        this.#backoff.reset()
        this.#release()
      } catch (error) {
        this.#disconnect()
        if (signal.aborted) return
        const trouble = messageOf(error)
        if (trouble !== this.#trouble) logger.warn('a topic of Lockstep cannot be read', { topic: topic.name, trouble })
        this.#trouble = trouble
        await sleep(clock, this.#backoff.nextMs(), signal)
      }
    }
  }

  async #fetch(): Promise<void> {
    const { topic, position, onBatches, onGone } = this.#o
    const connection = await this.#connected()
    if (this.#o.startsAtEnd && !this.#knowsEnd) {
      this.#o.startsAtEnd(await this.#offsetAt(connection, LATEST))
      this.#knowsEnd = true
    }
    const fetchOffset = BigInt(position())
    const partition = { partition: 0, fetchOffset, partitionMaxBytes: BYTES_MAX, currentLeaderEpoch: -1 }
    const { response, release } = await connection.send(
      FetchApi,
      {
        ...{ replicaId: -1, maxWaitMs: WAIT_MS, minBytes: 1, maxBytes: BYTES_MAX, isolationLevel: 0 },
        topics: [{ topic: topic.name, partitions: [partition] }],
        forgottenTopicsData: [],
      },
      { version: connection.versionFor(FetchApi.key, FETCH_VERSION) },
    )
    try {
      const answer = response.responses[0]?.partitions[0]
      if (!answer) throw new Error(errorName(response.errorCode))
      if (this.#stopping.signal.aborted) return
      if (answer.errorCode === ErrorCode.OFFSET_OUT_OF_RANGE) {
        const begin = await this.#offsetAt(connection, EARLIEST)
        if (begin <= position()) throw new Error(`it ends before offset ${position()}, up to which it was read`)
        return onGone(begin)
      }
      if (answer.errorCode !== ErrorCode.NONE) throw new Error(errorName(answer.errorCode))
      const { records } = answer
      // They are looked at later than the frame may be used again.
      if (records && records.length > 0) onBatches(Buffer.from(records.subarray(0, completeBytes(records))))
      this.#highWatermark = offsetFromWire(answer.highWatermark)
    } finally {
      release()
    }
  }

  async #offsetAt(connection: Pick<BrokerConnection, 'send'>, timestamp: bigint): Promise<number> {
    const { topic } = this.#o
    const { response } = await connection.send(ListOffsetsApi, {
      ...{ replicaId: -1, isolationLevel: 0 },
      topics: [{ name: topic.name, partitions: [{ partitionIndex: 0, timestamp }] }],
    })
    const answer = response.topics[0]?.partitions[0]
    if (answer?.errorCode !== ErrorCode.NONE) throw new Error(errorName(answer?.errorCode ?? -1))
    return offsetFromWire(answer.offset)
  }

  async #connected() {
    const { topic, connections } = this.#o
    const { leader } = topic
    if (leader < 0) throw new Error(`${topic.name} has no leader now`)
    if (this.#connection?.brokerId !== leader) {
      this.#disconnect()
      const to = await connections.open(leader)
      if (this.#stopping.signal.aborted) to.close()
      this.#connection = { brokerId: leader, to }
    }
    return this.#connection.to
  }

  #disconnect(): void {
    this.#connection?.to.close()
    this.#connection = undefined
  }

  #release(): void {
    if (this.#highWatermark === undefined || this.#o.position() < this.#highWatermark) return
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
