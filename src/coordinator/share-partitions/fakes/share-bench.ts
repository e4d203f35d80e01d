/** A node in memory with a topic that a share group reads, in the short forms that tests of share partitions need. */
import { TestNode } from '../../../broker/fakes/test-node.ts'
import { ByteBudget } from '../../../core/byte-budget.ts'
import { ManualClock } from '../../../core/clock.ts'
import { randomUuid, type Uuid } from '../../../core/uuid.ts'
import { MemoryFileSystem } from '../../../log/fakes/memory-file-system.ts'
import { topicByName } from '../../../metadata/metadata-image.ts'
import { batchesIn } from '../../../protocol/batches/batch-iteration.ts'
import { buildBatch } from '../../../protocol/batches/build-batch.ts'
import { recordsOf } from '../../../protocol/batches/records-of.ts'
import { errorName } from '../../../protocol/errors.ts'
import { AnswerMemory } from '../../../replica/answer-memory.ts'
import { CoordinatorError } from '../../runtime/coordinator-error.ts'
import type { ShareKey } from '../../share-state/share-persister.ts'
import type { AcquiredRecords } from '../acquire-records.ts'
import type { RecordEvent } from '../record-state.ts'
import type { AcquireRequest, SharePartition } from '../share-partition.ts'
import type { SharePartitions } from '../share-partitions.ts'

export interface Fetched {
  readonly acquired: readonly AcquiredRecords[]
  /** Values of the records that were acquired. */
  readonly values: readonly string[]
}

export class ShareBench {
  readonly clock = new ManualClock()
  readonly fs = new MemoryFileSystem()
  readonly #clusterId = randomUuid()
  readonly #file: ReadonlyMap<string, string>
  #node: TestNode | undefined

  private constructor(file: Readonly<Record<string, string>>) {
    this.#file = new Map(Object.entries({ 'share.coordinator.state.topic.num.partitions': '1', ...file }))
  }

  /** With topic `t` of one partition and group `g`, which begins at `startOffset`; −1 = where its configs say. */
  static async start(startOffset = 0, file: Readonly<Record<string, string>> = {}): Promise<ShareBench> {
    const bench = new ShareBench(file)
    await bench.#open()
    await bench.node.createTopic('t')
    await bench.settled(bench.node.sharePersister.initialize(bench.key, { stateEpoch: 1, startOffset }))
    return bench
  }

  get node(): TestNode {
    if (!this.#node) throw new Error('not started')
    return this.#node
  }

  get partitions(): SharePartitions {
    return this.node.sharePartitions
  }

  get key(): ShareKey {
    return { groupId: 'g', topicId: topicByName(this.node.controller.image, 't')?.id as Uuid, partition: 0 }
  }

  get log() {
    return this.node.partition('t')
  }

  /** Lets time pass until the promise is settled. */
  async settled<T>(promise: Promise<T>): Promise<T> {
    let done = false
    const watched = promise.finally(() => {
      done = true
    })
    watched.catch(() => {})
    for (let turn = 0; turn < 1000 && !done; turn++) await this.clock.advance(turn < 50 ? 0 : 10)
    return await watched
  }

  open(): Promise<SharePartition> {
    return this.settled(this.partitions.open(this.key))
  }

  /** The node dies with what is not synced; another one starts on what is left. */
  async crash(random: () => number): Promise<void> {
    this.fs.crash(random)
    await this.#open()
  }

  /** A batch with these values. */
  async produce(values: readonly string[], some: Partial<Parameters<typeof buildBatch>[0]> = {}): Promise<void> {
    const records = values.map(value => ({
      timestamp: BigInt(this.clock.nowMs()),
      key: null,
      value: Buffer.from(value),
    }))
    const { log } = this
    await log.writes.run(async () => {
      const batch = buildBatch({ records, ...some })
      const origin = some.transactional ? 'coordinator' : 'client'
      const result = await log.log.appendAsLeader(batch, { leaderEpoch: log.leaderEpoch, origin })
      if (result.kind === 'refused') throw new Error(result.message)
      log.appended(batch.length)
    })
    await log.log.flush()
  }

  /** What the member gets now. */
  async fetch(memberId: string, some: Partial<AcquireRequest> = {}): Promise<Fetched> {
    const share = await this.open()
    const memory = new AnswerMemory(new ByteBudget(1e9), new AbortController().signal)
    const read = await this.settled(share.read({ bytesMax: 1_000_000, memory }))
    if (!read) return { acquired: [], values: [] }
    const request = { memberId, recordsMax: 500, batchSize: 500, mode: 'batch_optimized', ...some } as const
    const { acquired, position, endPosition } = share.acquire(read, request)
    const bytes = read.records.subarray(position, endPosition)
    const values = [...batchesIn(bytes)].flatMap(header =>
      recordsOf(bytes, header)
        .filter(({ offset }) =>
          acquired.some(({ firstOffset, lastOffset }) => firstOffset <= offset && offset <= lastOffset),
        )
        .map(({ value }) => String(value)),
    )
    return { acquired, values }
  }

  /** 'NONE' or the name of the error. */
  async say(memberId: string, event: RecordEvent, range: readonly [first: number, last: number]): Promise<string> {
    try {
      const share = await this.open()
      const [firstOffset, lastOffset] = range
      await this.settled(share.acknowledge(memberId, [{ firstOffset, lastOffset, events: [event] }]))
      return 'NONE'
    } catch (error) {
      if (error instanceof CoordinatorError) return errorName(error.errorCode)
      throw error
    }
  }

  async close(): Promise<void> {
    await this.settled(this.node.close())
  }

  async #open(): Promise<void> {
    const { clock, fs } = this
    this.#node = await TestNode.start({ clock, fs, file: this.#file, clusterId: this.#clusterId })
    await this.settled(this.#node.shareState.partitions.ensureTopic())
  }
}
