/** What the end of a transaction comes to, asked by its producer or by the coordinator itself, in both versions; pure, the coordinator calls it. */
import { ErrorCode } from '../../protocol/errors.ts'
import type { ProducerClaim } from './decide-partitions.ts'
import { change, type Decision, refuse } from './decision.ts'
import {
  CLIENT_EPOCH_MAX,
  ending,
  fencingEpoch,
  isEpochExhausted,
  NO_PRODUCER_EPOCH,
  NO_PRODUCER_ID,
  type TransactionMetadata,
  type TransactionVersion,
} from './transaction-metadata.ts'

export interface EndRequest extends ProducerClaim {
  readonly committed: boolean
  readonly clientVersion: TransactionVersion
  /** A transition is under way. */
  readonly pending: boolean
  readonly nowMs: number
  /** Given after 'needs-producer-id'. */
  readonly freshProducerId?: bigint | undefined
}

const INVALID = refuse(ErrorCode.INVALID_TXN_STATE)
const CONCURRENT = refuse(ErrorCode.CONCURRENT_TRANSACTIONS)
const DONE: Decision = { kind: 'done' }

/** EndTxn of a producer. */
export const decideEnd = (metadata: TransactionMetadata, request: EndRequest): Decision =>
  request.clientVersion >= 2 ? endBumping(metadata, request) : endKeeping(metadata, request)

/**
 * The coordinator aborts an open transaction with a higher epoch, which fences its producer: because of its timeout, or because
 * another producer begins with the same transactional id.
 */
export function decideFence(
  metadata: TransactionMetadata,
  by: {
    readonly serverVersion: TransactionVersion
    readonly nowMs: number
    readonly freshProducerId?: bigint | undefined
  },
): Decision {
  const abort = { committed: false, clientVersion: by.serverVersion, nowMs: by.nowMs, withoutPartitions: false }
  if (by.serverVersion >= 2) return endWithNextId(metadata, { ...abort, freshProducerId: by.freshProducerId })
  const fenced = { ...metadata, producerEpoch: fencingEpoch(metadata), lastProducerEpoch: NO_PRODUCER_EPOCH }
  return change(ending(fenced, { ...abort, clientVersion: 0, nextProducerId: NO_PRODUCER_ID }))
}

/** Version 0 and 1: the epoch stays, so that a repetition is told by the state alone. */
function endKeeping(metadata: TransactionMetadata, request: EndRequest): Decision {
  const { committed, nowMs } = request
  if (metadata.producerId !== request.producerId) return refuse(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
  if (metadata.producerEpoch !== request.producerEpoch) return refuse(ErrorCode.PRODUCER_FENCED)
  if (request.pending) return CONCURRENT
  switch (metadata.state) {
    case 'Ongoing':
      return change(
        ending(metadata, {
          committed,
          clientVersion: 0,
          nextProducerId: NO_PRODUCER_ID,
          withoutPartitions: false,
          nowMs,
        }),
      )
    case 'CompleteCommit':
      return committed ? DONE : INVALID
    case 'CompleteAbort':
      return committed ? INVALID : DONE
    case 'PrepareCommit':
      return committed ? CONCURRENT : INVALID
    case 'PrepareAbort':
      return committed ? INVALID : CONCURRENT
    case 'Empty':
      return INVALID
    case 'Dead':
    case 'PrepareEpochFence':
      throw new Error(`transactional id ${metadata.transactionalId} is stored as ${metadata.state}`)
  }
}

/**
 * Version 2: every end bumps the epoch, so that the epoch tells a repetition (one below) from the next end (equal). An abort is
 * possible without any partition; it only bumps the epoch.
 */
function endBumping(metadata: TransactionMetadata, request: EndRequest): Decision {
  const { committed, producerId, producerEpoch } = request
  if (request.pending) return CONCURRENT
  const repeatsAcrossIds =
    metadata.previousProducerId === producerId && producerEpoch === CLIENT_EPOCH_MAX && metadata.producerEpoch === 0
  const repeats = metadata.producerEpoch === producerEpoch + 1
  const isRepetition = repeats || repeatsAcrossIds
  if (metadata.producerId !== producerId && !repeatsAcrossIds) return refuse(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
  const end = (withoutPartitions: boolean) => endWithNextId(metadata, { ...request, withoutPartitions })
  const isPresent = metadata.producerEpoch === producerEpoch
  switch (metadata.state) {
    case 'Ongoing':
      return isPresent ? end(false) : refuse(ErrorCode.PRODUCER_FENCED)
    case 'Empty':
      if (!isPresent) return refuse(ErrorCode.PRODUCER_FENCED)
      return committed ? INVALID : end(true)
    case 'PrepareCommit':
    case 'PrepareAbort': {
      if (!repeats) return refuse(ErrorCode.PRODUCER_FENCED)
      const same = committed === (metadata.state === 'PrepareCommit')
      return same ? CONCURRENT : INVALID
    }
    case 'CompleteCommit':
    case 'CompleteAbort': {
      if (!isPresent && !isRepetition) return refuse(ErrorCode.PRODUCER_FENCED)
      const same = committed === (metadata.state === 'CompleteCommit')
      if (isRepetition) return same ? DONE : INVALID
      return committed ? INVALID : end(true)
    }
    case 'Dead':
    case 'PrepareEpochFence':
      throw new Error(`transactional id ${metadata.transactionalId} is stored as ${metadata.state}`)
  }
}

/** With version 2: the id that follows is chosen before the last epoch is used up. */
function endWithNextId(
  metadata: TransactionMetadata,
  end: Pick<EndRequest, 'committed' | 'clientVersion' | 'nowMs' | 'freshProducerId'> & {
    readonly withoutPartitions: boolean
  },
): Decision {
  const exhausted = isEpochExhausted(metadata.producerEpoch)
  if (exhausted && end.freshProducerId === undefined) return { kind: 'needs-producer-id' }
  const nextProducerId = exhausted ? (end.freshProducerId ?? NO_PRODUCER_ID) : NO_PRODUCER_ID
  return change(ending(metadata, { ...end, nextProducerId }))
}
