/** What InitProducerId with a transactional id comes to (KIP-360); pure, the coordinator calls it. */
import { ErrorCode } from '../../protocol/errors.ts'
import { change, type Decision, refuse } from './decision.ts'
import { initialised, isEpochExhausted, NO_PRODUCER_EPOCH, type TransactionMetadata } from './transaction-metadata.ts'

export interface InitProducer {
  readonly timeoutMs: number
  /** What the producer believes to have; null for one that begins. */
  readonly expected: { readonly producerId: bigint; readonly producerEpoch: number } | null
  readonly nowMs: number
  /** Given after 'needs-producer-id'. */
  readonly freshProducerId?: bigint | undefined
}

/** No transition may be pending. */
export function decideInitProducer(metadata: TransactionMetadata, request: InitProducer): Decision {
  if (!mayContinue(metadata, request.expected)) return refuse(ErrorCode.PRODUCER_FENCED)
  switch (metadata.state) {
    case 'PrepareAbort':
    case 'PrepareCommit':
      return refuse(ErrorCode.CONCURRENT_TRANSACTIONS)
    case 'Ongoing':
      return { kind: 'fence' }
    case 'Empty':
    case 'CompleteAbort':
    case 'CompleteCommit':
      return nextEpoch(metadata, request)
    case 'Dead':
    case 'PrepareEpochFence':
      throw new Error(`transactional id ${metadata.transactionalId} is stored as ${metadata.state}`)
  }
}

/**
 * A producer that names what it has is fenced unless it is the present one. An id without an epoch was just created for it. A
 * producer whose epochs ran out may repeat a request whose answer, with a new id, it never got.
 */
const mayContinue = (metadata: TransactionMetadata, expected: InitProducer['expected']): boolean =>
  expected === null ||
  metadata.producerEpoch === NO_PRODUCER_EPOCH ||
  expected.producerId === metadata.producerId ||
  (expected.producerId === metadata.previousProducerId && isEpochExhausted(expected.producerEpoch))

function nextEpoch(metadata: TransactionMetadata, request: InitProducer): Decision {
  const { expected, timeoutMs, nowMs, freshProducerId } = request
  const { producerEpoch, lastProducerEpoch } = metadata
  const to = (producer: { producerId?: bigint; producerEpoch: number; lastProducerEpoch: number }): Decision =>
    change(initialised(metadata, { ...producer, timeoutMs, nowMs }))
  if (isEpochExhausted(producerEpoch)) {
    if (expected === null || expected.producerEpoch === producerEpoch) {
      if (freshProducerId === undefined) return { kind: 'needs-producer-id' }
      const lastEpoch = expected === null ? NO_PRODUCER_EPOCH : producerEpoch
      return to({ producerId: freshProducerId, producerEpoch: 0, lastProducerEpoch: lastEpoch })
    }
    // As Kafka, whose exception for this has no code of its own.
    return refuse(ErrorCode.UNKNOWN_SERVER_ERROR)
  }
  if (expected === null) return to({ producerEpoch: producerEpoch + 1, lastProducerEpoch: NO_PRODUCER_EPOCH })
  if (producerEpoch === NO_PRODUCER_EPOCH || expected.producerEpoch === producerEpoch)
    return to({ producerEpoch: producerEpoch + 1, lastProducerEpoch: producerEpoch })
  // A repetition of a request that was carried out: its answer again.
  if (expected.producerEpoch === lastProducerEpoch) return to({ producerEpoch, lastProducerEpoch })
  return refuse(ErrorCode.PRODUCER_FENCED)
}
