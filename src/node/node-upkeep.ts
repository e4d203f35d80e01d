/** Starts what removes old data: whole segments by age and size, records by key. Called by both kinds of start. */
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { linkRetentionGate } from '../destination/link-retention-gate.ts'
import type { Engine } from '../link/index.ts'
import type { Controller } from '../metadata/controller-port.ts'
import { LogRetention } from '../replica/log-retention.ts'
import type { ReplicaSet } from '../replica/replica-set.ts'
import { type LogCleaning, startLogCleaner } from './log-cleaning.ts'
import { type NodeSettings, numberOf } from './settings.ts'
import type { Startup } from './startup.ts'

export interface UpkeepOptions {
  readonly settings: NodeSettings
  readonly controller: Pick<Controller, 'image'>
  readonly replicas: ReplicaSet
  readonly engine: Pick<Engine, 'writeStatus' | 'fences'>
  readonly clock: Clock
  readonly logger: Logger
}

export function startUpkeep(of: UpkeepOptions, startup: Startup): LogCleaning {
  const { settings, controller, replicas, engine, clock, logger } = of
  const retention = new LogRetention({
    replicas,
    gate: linkRetentionGate(
      (topicId, topic) => engine.writeStatus(topicId, topic),
      topicId => engine.fences.trueConfigs(topicId),
    ),
    intervalMs: numberOf(settings, 'log.retention.check.interval.ms'),
    clock,
    logger,
  })
  startup.onStop('retention', () => retention.close())
  const { nodeId: brokerId, kafka: file } = settings
  const cleaner = startLogCleaner({ replicas, image: () => controller.image, brokerId, file, clock, logger })
  startup.onStop('log cleaner', () => cleaner.close())
  return cleaner
}
