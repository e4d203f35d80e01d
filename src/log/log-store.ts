/** A data directory: its identity, its checkpoints and the logs in it; the node makes one, replica/ and controller/ open logs here. */
import { forEachBounded } from '../core/bounded-work.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { Uuid } from '../core/uuid.ts'
import { loadCleanShutdown, removeCleanShutdown, saveCleanShutdown } from './clean-shutdown.ts'
import type { DamagePolicy } from './damage.ts'
import {
  isDeletedDirectory,
  parsePartitionDirectory,
  partitionDirectoryName,
  strayDirectoryName,
} from './file-names.ts'
import type { FileSystem } from './file-system.ts'
import { IndexCache } from './index-cache.ts'
import type { LogCheckpoint } from './log-checkpoint.ts'
import type { LogConfig } from './log-config.ts'
import { LogError } from './log-error.ts'
import { identifyDirectory, type MetaProperties } from './meta-properties.ts'
import { nodeFileSystem } from './node-file-system.ts'
import { PartitionLog } from './partition-log.ts'
import { loadPartitionMetadata } from './partition-metadata.ts'
import { StoreCheckpoints } from './store-checkpoints.ts'

export interface LogStoreOptions {
  /** Absolute; created if absent. */
  readonly directory: string
  /** What `meta.properties` must say, or will say in a new directory. */
  readonly identity: { readonly clusterId: string; readonly nodeId: number }
  readonly clock: Clock
  readonly logger: Logger
  /** Default: the disk. */
  readonly fs?: FileSystem
  /** Topics whose logs are in the directory but are opened, and recovered, by others. */
  readonly foreignTopics?: readonly string[]
  /** Between a change and its saving in the checkpoints; default 5 s. */
  readonly checkpointDelayMs?: number
}

/** One partition found on disk. */
export interface StoredPartition {
  readonly topic: string
  readonly partition: number
  readonly topicId: Uuid | undefined
}

/** What to open. */
export interface OpenLogOptions {
  readonly topic: string
  readonly partition: number
  readonly topicId?: Uuid
  readonly config: LogConfig
  /** See PartitionLogOptions. */
  readonly damage?: DamagePolicy
}

const CHECKPOINT_DELAY_MS = 5_000
const PARALLEL_CLOSES = 16
/** Kafka's `log.flush.offset.checkpoint.interval.ms`. */
const RECOVERY_POINT_DELAY_MS = 60_000

export class LogStore {
  readonly directory: string
  readonly meta: MetaProperties
  /** The last stop was clean; then also the broker epoch it had, if any. */
  readonly previousStop: { readonly clean: boolean; readonly brokerEpoch: number | undefined }
  readonly #options: LogStoreOptions
  readonly #fs: FileSystem
  readonly #cache = new IndexCache()
  readonly #logs = new Map<string, PartitionLog>()
  /** Partitions that need recovery when they are opened. */
  readonly #unverified: Set<string>
  readonly #checkpoints: StoreCheckpoints
  /** As found on disk, for the opening that follows: to read ten thousand small files twice takes its time. */
  readonly #topicIds = new Map<string, Uuid>()
  readonly #busy = new Map<string, Promise<unknown>>()
  readonly #planned = new Set<number>()
  #closed = false

  private constructor(
    options: LogStoreOptions,
    fs: FileSystem,
    found: {
      meta: MetaProperties
      previousStop: { clean: boolean; brokerEpoch: number | undefined }
      names: readonly string[]
      checkpoints: StoreCheckpoints
    },
  ) {
    this.directory = options.directory
    this.#options = options
    this.#fs = fs
    this.meta = found.meta
    this.previousStop = found.previousStop
    this.#unverified = new Set(found.previousStop.clean ? [] : found.names)
    this.#checkpoints = found.checkpoints
  }

  /**
   * Opens or formats a data directory; its logs are opened one by one. Rejects with LogError 'identity' if it belongs to
   * another cluster or node. From here on a crash is an unclean stop.
   */
  static async open(options: LogStoreOptions): Promise<LogStore> {
    const { directory } = options
    const fs = options.fs ?? nodeFileSystem()
    await fs.createDirectory(directory)
    const meta = await identifyDirectory(fs, options)
    const shutdown = await loadCleanShutdown(fs, directory)
    const names = (await fs.list(directory)) ?? []
    for (const name of names.filter(isDeletedDirectory)) await fs.removeDirectory(`${directory}/${name}`)
    const store = new LogStore(options, fs, {
      meta,
      previousStop: { clean: shutdown !== undefined, brokerEpoch: shutdown?.brokerEpoch },
      names: names.filter(name => isOurs(name, options)),
      checkpoints: await StoreCheckpoints.load(fs, directory, new Set(names)),
    })
    await removeCleanShutdown(fs, directory)
    return store
  }

  /** This directory's id, as the cluster knows it. */
  get directoryId(): Uuid {
    return this.meta.directoryId
  }

  /** Open logs. */
  get logs(): Iterable<PartitionLog> {
    return this.#logs.values()
  }

  log(topic: string, partition: number): PartitionLog | undefined {
    return this.#logs.get(partitionDirectoryName(topic, partition))
  }

  /** Partitions on disk, open or not. */
  async partitions(): Promise<StoredPartition[]> {
    const found: StoredPartition[] = []
    for (const name of (await this.#fs.list(this.directory)) ?? []) {
      const parsed = isOurs(name, this.#options)
      if (!parsed) continue
      const topicId = await loadPartitionMetadata(this.#fs, `${this.directory}/${name}`)
      if (topicId && !this.#logs.has(name)) this.#topicIds.set(name, topicId)
      found.push({ ...parsed, topicId })
    }
    return found
  }

  /** Renames the directory of a log that is not open, so that nothing takes it for one; resolves to where it is now. */
  async setAside(topic: string, partition: number): Promise<string> {
    const name = partitionDirectoryName(topic, partition)
    return await this.#alone(name, async () => {
      // Durably before the directory goes: a later log of that name must not inherit them.
      this.#checkpoints.forget(name)
      await this.saveCheckpoints()
      const target = `${this.directory}/${strayDirectoryName(topic, partition)}`
      await this.#fs.rename(`${this.directory}/${name}`, target)
      await this.#fs.syncDirectory(this.directory)
      this.#unverified.delete(name)
      this.#topicIds.delete(name)
      return target
    })
  }

  /** Opens a log, recovering it if the last stop was not clean, or creates it. An open one is answered as it is. */
  openLog(options: OpenLogOptions): Promise<PartitionLog> {
    const name = partitionDirectoryName(options.topic, options.partition)
    return this.#alone(name, async () => {
      const open = this.#logs.get(name)
      if (open) return open
      const { clock, logger } = this.#options
      const recover = this.#unverified.has(name)
      const storedTopicId = this.#topicIds.get(name)
      this.#topicIds.delete(name)
      const log = await PartitionLog.open({
        ...options,
        directory: `${this.directory}/${name}`,
        clock,
        logger,
        fs: this.#fs,
        cache: this.#cache,
        recover,
        ...(storedTopicId ? { storedTopicId } : {}),
        checkpoint: this.#checkpointOf(name),
      })
      this.#logs.set(name, log)
      this.#unverified.delete(name)
      // What was found is durable now, which a next recovery should know.
      if (recover) this.#planSave()
      if (this.#checkpoints.note(name, log.checkpointState)) await this.saveCheckpoints()
      return log
    })
  }

  /** Closes a log that has failed and opens it again with recovery. */
  async reopenLog(options: OpenLogOptions): Promise<PartitionLog> {
    const name = partitionDirectoryName(options.topic, options.partition)
    await this.#alone(name, async () => {
      const failed = this.#logs.get(name)
      if (failed) this.#checkpoints.note(name, failed.checkpointState)
      await failed?.close()
      this.#logs.delete(name)
      this.#unverified.add(name)
    })
    return this.openLog(options)
  }

  /** Closes and removes a log, open or not. */
  deleteLog(topic: string, partition: number): Promise<void> {
    const name = partitionDirectoryName(topic, partition)
    return this.#alone(name, async () => {
      const log = this.#logs.get(name)
      this.#logs.delete(name)
      this.#unverified.delete(name)
      this.#topicIds.delete(name)
      // Durably before the directory goes, as in setAside.
      this.#checkpoints.forget(name)
      await this.saveCheckpoints()
      if (log) await log.delete()
      else await this.#fs.removeDirectory(`${this.directory}/${name}`)
    })
  }

  /** High watermark as last saved. */
  savedHighWatermark(topic: string, partition: number): number | undefined {
    return this.#checkpoints.highWatermark(partitionDirectoryName(topic, partition))
  }

  /** To be saved with the next checkpoint. */
  noteHighWatermark(log: PartitionLog, highWatermark: number): void {
    this.#checkpoints.noteHighWatermark(partitionDirectoryName(log.topic, log.partition), highWatermark)
    this.#planSave()
  }

  /** Makes the checkpoints durable as the logs are now. */
  async saveCheckpoints(): Promise<void> {
    for (const [name, log] of this.#logs) this.#checkpoints.note(name, log.checkpointState)
    await this.#checkpoints.save()
  }

  /** Closes all logs; if all of them closed cleanly the next start need not verify them. */
  async close(options: { brokerEpoch?: number } = {}): Promise<{ readonly clean: boolean }> {
    if (this.#closed) return { clean: false }
    this.#closed = true
    await Promise.allSettled(this.#busy.values())
    let clean = this.#unverified.size === 0
    await forEachBounded(this.#logs.values(), PARALLEL_CLOSES, async log => {
      if (!(await log.close()).clean) clean = false
    })
    await this.saveCheckpoints()
    if (clean) await saveCleanShutdown(this.#fs, this.directory, options.brokerEpoch ?? -1)
    return { clean }
  }

  #checkpointOf(name: string): LogCheckpoint {
    return {
      load: () => this.#checkpoints.state(name),
      cleanedOffset: () => this.#checkpoints.cleanedOffset(name),
      cleaned: offset => {
        this.#checkpoints.noteCleaned(name, offset)
        this.#planSave()
      },
      save: () => this.saveCheckpoints(),
      changed: () => this.#planSave(),
      flushed: () => this.#planSave(RECOVERY_POINT_DELAY_MS),
    }
  }

  #planSave(delayMs = this.#options.checkpointDelayMs ?? CHECKPOINT_DELAY_MS): void {
    if (this.#planned.has(delayMs) || this.#closed) return
    this.#planned.add(delayMs)
    this.#options.clock.after(delayMs, () => {
      this.#planned.delete(delayMs)
      if (this.#closed) return
      this.saveCheckpoints().catch(error => {
        this.#options.logger.warn('checkpoints not saved', { directory: this.directory, error: String(error) })
        this.#planSave()
      })
    })
  }

  /** Opening and deleting one partition happen one after the other. */
  #alone<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new LogError('closed', `${this.directory} is closed`))
    const before = this.#busy.get(name) ?? Promise.resolve()
    const result = before.then(work, work)
    const settled: Promise<unknown> = result.catch(() => {})
    this.#busy.set(name, settled)
    settled.then(() => {
      if (this.#busy.get(name) === settled) this.#busy.delete(name)
    })
    return result
  }
}

function isOurs(name: string, { foreignTopics = [] }: LogStoreOptions) {
  const parsed = parsePartitionDirectory(name)
  return parsed && !foreignTopics.includes(parsed.topic) ? parsed : undefined
}
