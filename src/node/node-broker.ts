/** Makes the broker of a node out of its parts: coordinators, gates, memory; called by both kinds of start. */
import { statfs } from 'node:fs/promises'
import { Broker } from '../broker/broker.ts'
import { brokerSettings } from '../broker/broker-settings.ts'
import type { JoinedCluster } from '../broker/joined/joined-cluster.ts'
import type { ByteBudget } from '../core/byte-budget.ts'
import type { Clock } from '../core/clock.ts'
import type { Random } from '../core/random.ts'
import type { Controller } from '../metadata/controller-port.ts'
import type { ProducerIds } from '../replica/producer-ids.ts'
import type { ReplicaSet } from '../replica/replica-set.ts'
import type { WriteGate } from '../replica/write-gate.ts'
import { audited } from './audited-authorizer.ts'
import type { Coordinators } from './coordinators.ts'
import type { NodeEnvironment } from './running-node.ts'
import type { NodeSettings } from './settings.ts'

export interface NodeBrokerOptions {
  readonly settings: NodeSettings
  readonly environment: NodeEnvironment
  readonly controller: Controller
  readonly replicas: ReplicaSet
  readonly producerIds: ProducerIds
  readonly writeGate: WriteGate
  readonly coordinators: Pick<Coordinators, 'groups' | 'transactions' | 'shareState' | 'sharePartitions'>
  /** Shared with the listeners. */
  readonly answerBudget: ByteBudget
  /** Absent: this node is a cluster of its own. */
  readonly joined?: JoinedCluster
  readonly clock: Clock
  readonly random: Random
}

export function makeBroker(of: NodeBrokerOptions): Broker {
  const { settings, environment, coordinators, ...parts } = of
  const { nodeId: brokerId, kafka: file, authorizer, dataDirectory: path } = settings
  const { logger, loggers } = environment
  return new Broker({
    ...parts,
    ...coordinators,
    brokerId,
    authorizer: audited(authorizer, logger),
    settings: brokerSettings(file),
    logDirectory: { path, space: () => spaceOf(path) },
    loggers,
    logger,
  })
}

/** Of the volume that holds the directory, as DescribeLogDirs tells it. */
async function spaceOf(directory: string): Promise<{ totalBytes: bigint; usableBytes: bigint }> {
  const { blocks, bavail, bsize } = await statfs(directory, { bigint: true })
  return { totalBytes: blocks * bsize, usableBytes: bavail * bsize }
}
