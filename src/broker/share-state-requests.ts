/** What the requests of the share coordinator (83–87) have in common: topics with partitions, each answered alone; the handlers call it. */
import { CoordinatorError, coordinatorErrorCode } from '../coordinator/runtime/coordinator-error.ts'
import type { ShareKey } from '../coordinator/share-state/share-persister.ts'
import type { Uuid } from '../core/uuid.ts'
import { ErrorCode, errorName } from '../protocol/errors.ts'
import type { BrokerContext } from './handler.ts'

interface StateRequest<P> {
  readonly groupId: string
  readonly topics: readonly { readonly topicId: Uuid; readonly partitions: readonly P[] }[]
}

interface PartitionOutcome {
  readonly partition: number
  readonly errorCode: number
  readonly errorMessage: string | null
}

/** Asks for every partition, side by side. An empty group id, like an empty request, gives no results, as in Kafka. */
export async function forEachSharePartition<P extends { readonly partition: number }, R extends object>(
  { logger }: Pick<BrokerContext, 'logger'>,
  { groupId, topics }: StateRequest<P>,
  ask: (key: ShareKey, partition: P) => Promise<R>,
): Promise<{ results: { topicId: Uuid; partitions: (PartitionOutcome & Partial<R>)[] }[] }> {
  if (groupId === '') return { results: [] }
  const answer = async (topicId: Uuid, partition: P): Promise<PartitionOutcome & Partial<R>> => {
    const index = partition.partition
    try {
      const result = await ask({ groupId, topicId, partition: index }, partition)
      return { partition: index, errorCode: ErrorCode.NONE, errorMessage: null, ...result }
    } catch (error) {
      if (!(error instanceof CoordinatorError)) logger.error('a share state request failed', { error: String(error) })
      const errorCode = coordinatorErrorCode(error)
      return { partition: index, errorCode, errorMessage: errorName(errorCode) } as PartitionOutcome & Partial<R>
    }
  }
  const results = topics.map(async ({ topicId, partitions }) => ({
    topicId,
    partitions: await Promise.all(partitions.map(partition => answer(topicId, partition))),
  }))
  return { results: await Promise.all(results) }
}

/** Every partition with the error. */
export const allSharePartitions = <P extends { readonly partition: number }>(
  { topics }: StateRequest<P>,
  errorCode: number,
): { results: { topicId: Uuid; partitions: PartitionOutcome[] }[] } => ({
  results: topics.map(({ topicId, partitions }) => ({
    topicId,
    partitions: partitions.map(({ partition }) => ({ partition, errorCode, errorMessage: errorName(errorCode) })),
  })),
})
