/** The coordinators of a node, groups, transactions and the state of share groups, wired to each other and subscribed behind the replicas; node.ts starts them. */
import type { GroupCoordinator } from '../coordinator/groups/group-coordinator.ts'
import { openGroups } from '../coordinator/groups/open-groups.ts'
import { openSharePartitions } from '../coordinator/share-partitions/open-share-partitions.ts'
import type { SharePartitions } from '../coordinator/share-partitions/share-partitions.ts'
import { openShareState } from '../coordinator/share-state/open-share-state.ts'
import type { ShareCoordinator } from '../coordinator/share-state/share-coordinator.ts'
import type { SharePersister } from '../coordinator/share-state/share-persister.ts'
import { type OpenTransactionsOptions, openTransactions } from '../coordinator/transactions/open-transactions.ts'
import type { TransactionCoordinator } from '../coordinator/transactions/transaction-coordinator.ts'
import type { Controller } from '../metadata/controller-port.ts'
import type { MetricsSource } from '../rest/ports.ts'
import { coordinatorMetrics } from './coordinator-metrics.ts'
import { shareMetrics } from './share-metrics.ts'
import type { Startup } from './startup.ts'

export interface Coordinators {
  readonly groups: GroupCoordinator
  readonly transactions: TransactionCoordinator
  readonly shareState: ShareCoordinator
  readonly sharePartitions: SharePartitions
  /** How this node's share groups and share partitions reach it. */
  readonly sharePersister: SharePersister
  readonly metrics: MetricsSource
  readonly shareMetrics: MetricsSource
}

/** What coordinators need of the controller. */
export type CoordinatorsController = Pick<Controller, 'image' | 'subscribe' | 'createTopics'>

/** They load in the background: until a key's state is there, it is answered with COORDINATOR_LOAD_IN_PROGRESS. */
export async function openCoordinators(
  options: Omit<OpenTransactionsOptions, 'offsetsEnded'> & { readonly controller: CoordinatorsController },
  startup: Startup,
): Promise<Coordinators> {
  const { coordinator: shareState, persister: sharePersister } = openShareState(options)
  startup.onStop('share state', () => shareState.close())
  await options.controller.subscribe(shareState.partitions)
  await options.controller.subscribe(shareState)
  const sharePartitions = openSharePartitions({ ...options, persister: sharePersister })
  startup.onStop('share partitions', () => sharePartitions.close())
  await options.controller.subscribe(sharePartitions)
  const groups = openGroups({ ...options, persister: sharePersister })
  startup.onStop('groups', () => groups.close())
  const transactions = openTransactions({
    ...options,
    offsetsEnded: (partition, producerId, committed) => groups.transactionCompleted(partition, producerId, committed),
  })
  startup.onStop('transactions', () => transactions.close())
  await options.controller.subscribe(groups)
  await options.controller.subscribe(transactions.partitions)
  const metrics = coordinatorMetrics({ groups: () => groups.figures, transactions: () => transactions.figures })
  const ofShares = shareMetrics({ partitions: () => sharePartitions.figures, state: () => shareState.figures })
  return { groups, transactions, shareState, sharePersister, sharePartitions, metrics, shareMetrics: ofShares }
}
