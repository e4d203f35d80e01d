/** The cleaner of a node: its partitions, Kafka's `log.cleaner.*` as they are now, and its figures; node.ts starts it. */
import { Gauge, Registry } from 'prom-client'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { type CleanerSettings, LogCleaner } from '../log/cleaner/log-cleaner.ts'
import { configLayers, effectiveBrokerConfig } from '../metadata/config-resolution.ts'
import type { MetadataImage } from '../metadata/metadata-image.ts'
import type { Replica } from '../replica/replica.ts'
import type { ReplicaSet } from '../replica/replica-set.ts'
import type { MetricsSource } from '../rest/ports.ts'

export interface LogCleaningOptions {
  readonly replicas: Pick<ReplicaSet, 'hosted' | 'storageFailed'>
  readonly image: () => MetadataImage
  readonly brokerId: number
  readonly file: ReadonlyMap<string, string>
  readonly clock: Clock
  readonly logger: Logger
}

export interface LogCleaning {
  readonly metrics: readonly MetricsSource[]
  close(): Promise<void>
}

/** Does nothing if `log.cleaner.enable` is off. */
export function startLogCleaner(options: LogCleaningOptions): LogCleaning {
  const { replicas, clock, logger } = options
  if (textOf(options, 'log.cleaner.enable').trim().toLowerCase() === 'false')
    return { metrics: [], close: async () => {} }
  const cleaner = new LogCleaner<Replica>({
    partitions: () => replicas.hosted,
    failed: (partition, error) => replicas.storageFailed(partition, error),
    settings: () => settingsOf(options),
    clock,
    logger,
  })
  return { metrics: [cleanerMetrics(cleaner)], close: () => cleaner.close() }
}

function settingsOf(options: LogCleaningOptions): CleanerSettings {
  const number = (name: string): number => Number(textOf(options, name))
  return {
    threads: number('log.cleaner.threads'),
    backoffMs: number('log.cleaner.backoff.ms'),
    dedupeBufferBytes: number('log.cleaner.dedupe.buffer.size'),
    dedupeBufferLoadFactor: number('log.cleaner.io.buffer.load.factor'),
    ioBufferBytes: number('log.cleaner.io.buffer.size'),
    ioBytesPerSecondMax: number('log.cleaner.io.max.bytes.per.second'),
  }
}

const textOf = ({ image, brokerId, file }: LogCleaningOptions, name: string): string =>
  effectiveBrokerConfig(name, configLayers(image(), { brokerId, file })) ?? ''

/** What the cleaner does, for /metrics. */
function cleanerMetrics(cleaner: LogCleaner<Replica>): MetricsSource {
  const registry = new Registry()
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `lockstep_log_cleaner_${name}`, help, labelNames, registers: [registry] })
  const uncleanable = gauge('uncleanable_partition', 'Logs that cannot be cleaned; the reason is in the node log', [
    'partition',
  ])
  const dirtiest = gauge('max_dirty_ratio', 'Dirty part of the dirtiest log at the last look, 0 to 1')
  const delay = gauge('max_compaction_delay_seconds', 'How long max.compaction.lag.ms was passed at the last look')
  const age = gauge('seconds_since_last_run', 'Time since logs to clean were last looked for')
  const passes = gauge('passes', 'Logs cleaned since the start')
  const bytes = gauge('bytes', 'Bytes read and written by cleaning since the start', ['direction'])
  const removed = gauge('records_removed', 'Records removed by cleaning since the start')
  return {
    text: () => {
      const figures = cleaner.figures
      uncleanable.reset()
      for (const { partition } of figures.uncleanable) uncleanable.set({ partition }, 1)
      dirtiest.set(figures.dirtiestRatio)
      delay.set(figures.overdueMsMax / 1000)
      age.set(figures.msSinceLastLook / 1000)
      passes.set(figures.passes)
      bytes.set({ direction: 'read' }, figures.bytesRead)
      bytes.set({ direction: 'written' }, figures.bytesWritten)
      removed.set(figures.recordsRemoved)
      return registry.metrics()
    },
  }
}
