/** What adding partitions to a transaction, or asking whether they are in it, comes to; pure, the coordinator calls it. */
import { ErrorCode } from '../../protocol/errors.ts'
import { change, type Decision, refuse } from './decision.ts'
import {
  type PartitionSet,
  type TransactionMetadata,
  type TransactionVersion,
  withPartitions,
} from './transaction-metadata.ts'
import { isEnding } from './transaction-state.ts'

/** The producer that a request names. */
export interface ProducerClaim {
  readonly producerId: bigint
  readonly producerEpoch: number
}

/** No transition may be pending. */
export function decideAddPartitions(
  metadata: TransactionMetadata,
  claim: ProducerClaim,
  add: { readonly partitions: PartitionSet; readonly clientVersion: TransactionVersion; readonly nowMs: number },
): Decision {
  const errorCode = claimError(metadata, claim)
  if (errorCode !== ErrorCode.NONE) return refuse(errorCode)
  const known = [...add.partitions.keys()].every(key => metadata.partitions.has(key))
  if (metadata.state === 'Ongoing' && known) return { kind: 'done' }
  return change(withPartitions(metadata, add.partitions, add))
}

/**
 * The error of each partition by its key: NONE if it is in the transaction, else TRANSACTION_ABORTABLE; or one error for all.
 * A pending transition does not matter: the append is checked once more.
 */
export function verifyPartitions(
  metadata: TransactionMetadata,
  claim: ProducerClaim,
  partitions: PartitionSet,
): ReadonlyMap<string, number> {
  const errorCode = claimError(metadata, claim)
  return new Map(
    Array.from(partitions.keys(), key => {
      if (errorCode !== ErrorCode.NONE) return [key, errorCode]
      return [key, metadata.partitions.has(key) ? ErrorCode.NONE : ErrorCode.TRANSACTION_ABORTABLE]
    }),
  )
}

function claimError(metadata: TransactionMetadata, claim: ProducerClaim): number {
  if (metadata.producerId !== claim.producerId) return ErrorCode.INVALID_PRODUCER_ID_MAPPING
  if (metadata.producerEpoch !== claim.producerEpoch) return ErrorCode.PRODUCER_FENCED
  return isEnding(metadata.state) ? ErrorCode.CONCURRENT_TRANSACTIONS : ErrorCode.NONE
}
