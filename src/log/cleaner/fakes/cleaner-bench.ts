/** Compacted logs in memory, each filled segment by segment, for tests of the cleaner's choices. */
import { ManualClock } from '../../../core/clock.ts'
import { silentLogger } from '../../../core/logger.ts'
import { buildBatch } from '../../../protocol/batches/build-batch.ts'
import { MemoryFileSystem } from '../../fakes/memory-file-system.ts'
import { defaultLogConfig, type LogConfig } from '../../log-config.ts'
import { LogStore } from '../../log-store.ts'
import type { PartitionLog } from '../../partition-log.ts'
import type { CleanablePartition } from '../log-cleaner.ts'

export class CleanerBench {
  readonly fs = new MemoryFileSystem()
  readonly clock = new ManualClock()
  readonly partitions: (CleanablePartition & { readonly log: PartitionLog })[] = []
  #store: LogStore | undefined

  async open(topic: string, config: Partial<LogConfig> = {}): Promise<PartitionLog> {
    const { fs, clock } = this
    const identity = { clusterId: 'c', nodeId: 1 }
    this.#store ??= await LogStore.open({ directory: '/data', identity, clock, logger: silentLogger, fs })
    const merged = { ...defaultLogConfig, segmentBytes: 1000, compacts: true, ...config }
    const log = await this.#store.openLog({ topic, partition: 0, config: merged })
    this.partitions.push({
      name: `${topic}-0`,
      log,
      get lastStableOffset() {
        return log.lastStableOffset(log.logEndOffset)
      },
    })
    return log
  }

  /** Appends records of one batch each, of about 170 bytes: six fill a segment. */
  async fill(log: PartitionLog, keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      const timestamp = BigInt(this.clock.nowMs())
      const records = [{ timestamp, key: Buffer.from(key), value: Buffer.alloc(100) }]
      await log.appendAsLeader(buildBatch({ records }), { leaderEpoch: 0 })
    }
    await log.flush()
  }

  async close(): Promise<void> {
    await this.#store?.close()
  }
}
