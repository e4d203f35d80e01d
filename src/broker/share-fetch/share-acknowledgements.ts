/** The acknowledgements in ShareFetch and ShareAcknowledge requests: checked, then carried out per partition. */

import { coordinatorErrorCode } from '../../coordinator/runtime/coordinator-error.ts'
import type { Acknowledgement } from '../../coordinator/share-partitions/acknowledge-records.ts'
import { eventOfAcknowledgement } from '../../coordinator/share-partitions/record-state.ts'
import { offsetFromWire } from '../../core/offset.ts'
import type { Uuid } from '../../core/uuid.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { BrokerContext } from '../handler.ts'
import type { SharedPartition, ShareMember } from './share-sessions.ts'

interface WireBatch {
  readonly firstOffset: bigint
  readonly lastOffset: bigint
  readonly acknowledgeTypes: readonly number[]
}

interface WireTopic {
  readonly topicId: Uuid
  readonly partitions: readonly {
    readonly partitionIndex: number
    readonly acknowledgementBatches: readonly WireBatch[]
  }[]
}

export interface AcknowledgedPartition extends SharedPartition {
  readonly errorCode: number
}

interface Rules {
  readonly member: ShareMember
  /** The error of a partition that the member may not use; 0 for others. */
  readonly errorOf: (topicId: Uuid, partition: number) => number
  /** The request says that it renews locks; without, a renewal is not valid. */
  readonly renews: boolean
}

/** Acknowledgements of at least one partition? */
export const hasAcknowledgements = (topics: readonly WireTopic[]): boolean =>
  topics.some(({ partitions }) => partitions.some(({ acknowledgementBatches }) => acknowledgementBatches.length > 0))

/** Resolves when what was said is durable; with an outcome for every partition that something was said of. */
export function acknowledgeAll(
  broker: BrokerContext,
  topics: readonly WireTopic[],
  rules: Rules,
): Promise<AcknowledgedPartition[]> {
  const said = topics.flatMap(({ topicId, partitions }) =>
    partitions.flatMap(({ partitionIndex: partition, acknowledgementBatches: batches }) =>
      batches.length === 0 ? [] : { topicId, partition, batches },
    ),
  )
  return Promise.all(
    said.map(async ({ topicId, partition, batches }) => {
      const refused = rules.errorOf(topicId, partition)
      const errorCode = refused || (await acknowledge(broker, { topicId, partition, batches }, rules))
      return { topicId, partition, errorCode }
    }),
  )
}

async function acknowledge(
  { sharePartitions, logger }: BrokerContext,
  { topicId, partition, batches }: SharedPartition & { readonly batches: readonly WireBatch[] },
  { member, renews }: Rules,
): Promise<number> {
  const acknowledgements = parse(batches, renews)
  if (!acknowledgements) return ErrorCode.INVALID_REQUEST
  const share = sharePartitions.opened({ groupId: member.groupId, topicId, partition })
  if (!share) return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
  try {
    await share.acknowledge(member.memberId, acknowledgements)
    sharePartitions.count({ acknowledged: acknowledgements.reduce((sum, one) => sum + offsetsOf(one), 0) })
    return ErrorCode.NONE
  } catch (error) {
    const errorCode = coordinatorErrorCode(error)
    if (errorCode === ErrorCode.UNKNOWN_SERVER_ERROR)
      logger.error('acknowledgements of a share group failed', { groupId: member.groupId, error: String(error) })
    return errorCode
  }
}

const offsetsOf = ({ firstOffset, lastOffset }: Acknowledgement): number => lastOffset - firstOffset + 1

/** undefined unless every batch follows the one before, with one known type for all its offsets or one for each. */
function parse(batches: readonly WireBatch[], renews: boolean): Acknowledgement[] | undefined {
  const acknowledgements: Acknowledgement[] = []
  let before = -1
  for (const batch of batches) {
    const firstOffset = offsetFromWire(batch.firstOffset)
    const lastOffset = offsetFromWire(batch.lastOffset)
    const events = batch.acknowledgeTypes.flatMap(type => eventOfAcknowledgement(type) ?? [])
    const isOrdered = firstOffset <= lastOffset && firstOffset > before
    const isKnown = events.length > 0 && events.length === batch.acknowledgeTypes.length
    const isComplete = events.length === 1 || events.length === lastOffset - firstOffset + 1
    if (!isOrdered || !isKnown || !isComplete || (!renews && events.includes('renew'))) return undefined
    before = lastOffset
    acknowledgements.push({ firstOffset, lastOffset, events })
  }
  return acknowledgements
}
