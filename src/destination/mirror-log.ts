/** A mirror partition of this node as the link engine's MirrorLog: the engine's words for what replica/ does. */

import { type MirrorLog, MirrorLogConflict, type MirrorLogState, type OpenTransaction } from '../link/ports.ts'
import { isAppendConflict } from '../replica/log-failure.ts'
import { type MirrorContext, MirrorPartition } from '../replica/mirror-partition.ts'
import type { Partition } from '../replica/partition.ts'
import { PartitionUnavailable } from '../replica/partition-unavailable.ts'

export class LocalMirrorLog implements MirrorLog {
  readonly capabilities = { truncate: true, startAnywhere: true }
  readonly #partition: Partition
  readonly #mirror: MirrorPartition

  constructor(partition: Partition, context: MirrorContext) {
    this.#partition = partition
    this.#mirror = new MirrorPartition(partition, context)
  }

  state(): MirrorLogState {
    return this.#mirror.state()
  }

  append(batches: Buffer, { expectedEndOffset }: { expectedEndOffset: number }): Promise<MirrorLogState> {
    const { leaderEpoch } = this.#mirror.state()
    return conflicts(this.#mirror.append(batches, { endOffset: expectedEndOffset, leaderEpoch }))
  }

  startAt(offset: number): Promise<MirrorLogState> {
    return conflicts(this.#mirror.startAt(offset))
  }

  raiseLogStart(offset: number): Promise<MirrorLogState> {
    return conflicts(this.#mirror.raiseLogStart(offset))
  }

  truncateTo(offset: number): Promise<MirrorLogState> {
    return conflicts(this.#mirror.truncateTo(offset))
  }

  openTransactions(): readonly OpenTransaction[] {
    return this.#mirror.openTransactions()
  }

  abortOpenTransactions(): Promise<readonly OpenTransaction[]> {
    return conflicts(this.#mirror.abortOpenTransactions())
  }

  lastBatch(): Promise<{ baseOffset: number; lastOffset: number; crc: number } | undefined> {
    return this.#partition.log.lastBatch()
  }

  async readBatches({ offset, maxBytes }: { offset: number; maxBytes: number }): Promise<Buffer> {
    const { log } = this.#partition
    const result = await log.read({ offset, maxBytes, maxOffset: log.logEndOffset, minOneBatch: true })
    if (result.kind === 'batches') return result.records
    throw new RangeError(
      `${this.#partition.name} holds offsets ${result.logStartOffset} to ${result.logEndOffset - 1}, not ${offset}`,
    )
  }

  producerIdMax(): bigint {
    return this.#partition.log.maxProducerId
  }

  flush(): Promise<void> {
    return this.#mirror.flush()
  }
}

/** Somebody else moved the log, or leads it now. */
async function conflicts<T>(operation: Promise<T>): Promise<T> {
  try {
    return await operation
  } catch (error) {
    const lost = error instanceof PartitionUnavailable || isAppendConflict(error)
    throw lost ? new MirrorLogConflict(error.message) : error
  }
}
