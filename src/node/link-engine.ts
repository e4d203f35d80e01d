/** Makes the link engine of a node: its topics, its sources and the key of its secrets; called by the composition root. */
import { resolve } from 'node:path'
import { ByteBudget } from '../core/byte-budget.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { Random } from '../core/random.ts'
import { Engine, type EngineOptions } from '../link/index.ts'
import { type KafkaSourceOptions, kafkaSource } from '../source/source-cluster.ts'
import { openSecretKeyBox } from './secret-key-box.ts'
import type { NodeSettings } from './settings.ts'
import { tailExports } from './tail-exports.ts'

/** To be started when its logs are open and clients can be answered. */
export async function linkEngine(
  of: Pick<EngineOptions, 'stateLog' | 'statusLog' | 'destination' | 'peers'> & {
    readonly settings: NodeSettings
    readonly observe: NonNullable<KafkaSourceOptions['observe']>
    readonly clock: Clock
    readonly random: Random
    readonly logger: Logger
  },
): Promise<Engine> {
  const { settings, observe, clock, random, logger } = of
  const { secretKeyFile: file, dataDirectory: directory } = settings
  const secrets = await openSecretKeyBox({ file, directory })
  const nodeBudget = new ByteBudget(settings.fetchInFlightBytesMax)
  return new Engine({
    ...of,
    sources: kafkaSource({ clock, random, logger, nodeBudget, secrets, observe }),
    secrets,
    // Kafka takes every directory among its logs for one.
    reverseTransactionWaitMs: settings.reverseTransactionWaitMs,
    tailExports: tailExports(settings.exportDirectory ?? `${resolve(directory)}-exports`),
  })
}
