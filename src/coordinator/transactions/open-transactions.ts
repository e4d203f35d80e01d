/** Builds the transaction coordinator of a node from its properties; the composition root and the broker's test node call it. */
import { brokerConfig } from '../../metadata/broker-configs.ts'
import type { ReplicaSet } from '../../replica/replica-set.ts'
import { transactionsTopic } from '../runtime/internal-topics.ts'
import { TransactionCoordinator, type TransactionCoordinatorOptions } from './transaction-coordinator.ts'
import { type MarkerContext, markerWriter } from './transaction-markers.ts'
import { transactionSettings } from './transaction-settings.ts'

export interface OpenTransactionsOptions
  extends Omit<TransactionCoordinatorOptions, 'topic' | 'settings' | 'writeMarker' | 'replicas'>,
    Pick<MarkerContext, 'writeGate' | 'offsetsEnded'> {
  /** The server's properties file. */
  readonly file: ReadonlyMap<string, string>
  readonly replicas: ReplicaSet
}

/** Serves nothing before it is subscribed to the controller (`partitions`), behind the replicas. Close it before them. */
export function openTransactions(options: OpenTransactionsOptions): TransactionCoordinator {
  const property = (name: string) => options.file.get(name)?.trim() ?? brokerConfig(name)?.property.default ?? ''
  return new TransactionCoordinator({
    ...options,
    topic: transactionsTopic(property),
    settings: transactionSettings(property),
    writeMarker: markerWriter(options),
  })
}
