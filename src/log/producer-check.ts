/** Whether a client or coordinator may append a batch, by what the log knows of its producer; the appender asks it. */
import type { BatchHeader } from '../protocol/batches/batch-header.ts'
import { hasProducerId, isControl, isTransactional, lastSequenceOf } from '../protocol/batches/batch-header.ts'
import { joined, type ProducedBatch, type ProducerEntry, sequenceAfter, sequenceBefore } from './producer-entry.ts'

/** Why a batch is refused, with Kafka's error code. */
export const producerRefusals = {
  OUT_OF_ORDER_SEQUENCE_NUMBER: 45,
  INVALID_PRODUCER_EPOCH: 47,
  INVALID_TXN_STATE: 48,
  TRANSACTION_COORDINATOR_FENCED: 52,
} as const

export type ProducerVerdict =
  | { readonly kind: 'ok' }
  /** One of the producer's last five batches has come again: answer with what it got then, append nothing. */
  | {
      readonly kind: 'duplicate'
      readonly baseOffset: number
      readonly lastOffset: number
      readonly timestamp: bigint
    }
  | {
      readonly kind: 'refused'
      readonly error: keyof typeof producerRefusals
      readonly errorCode: number
      readonly message: string
    }

const OK: ProducerVerdict = { kind: 'ok' }
const PRODUCER_EPOCH_MAX = 32_767

/**
 * Kafka's rules: a first batch of an unknown producer is accepted with any sequence; a new epoch starts at 0; within an epoch
 * sequences are gapless; one of the last five batches may come again. Coordinators are held to epochs only; give the
 * coordinator epoch and the transaction version of their markers: from 2 on the epoch of a marker must be above the last one,
 * but for one that comes again when no transaction is open.
 */
export function checkProducer(
  header: BatchHeader,
  entry: ProducerEntry | undefined,
  by: {
    readonly origin: 'client' | 'coordinator'
    readonly coordinatorEpoch?: number | undefined
    readonly transactionVersion?: number
  },
): ProducerVerdict {
  if (!hasProducerId(header) || entry === undefined) return OK
  if (header.producerEpoch < entry.producerEpoch) {
    return refused(header, 'INVALID_PRODUCER_EPOCH', `its epoch is ${entry.producerEpoch}`)
  }
  if (isControl(header)) {
    if ((by.transactionVersion ?? 0) >= 2 && reusesEpoch(header, entry))
      return refused(header, 'INVALID_PRODUCER_EPOCH', 'a marker of its present epoch cannot end its transaction')
    if (by.coordinatorEpoch !== undefined && by.coordinatorEpoch < entry.coordinatorEpoch) {
      return refused(
        header,
        'TRANSACTION_COORDINATOR_FENCED',
        `coordinator epoch ${entry.coordinatorEpoch} has written`,
      )
    }
    return OK
  }
  const sequence = by.origin === 'client' ? (duplicateOf(header, entry) ?? checkSequence(header, entry)) : undefined
  return sequence ?? checkTransaction(header, entry) ?? OK
}

/** A marker of the epoch that the records have, while their transaction is open; the last epoch of all cannot be bumped. */
const reusesEpoch = (header: BatchHeader, entry: ProducerEntry): boolean =>
  header.producerEpoch === entry.producerEpoch &&
  entry.transactionFirstOffset >= 0 &&
  header.producerEpoch !== PRODUCER_EPOCH_MAX

/** The sequence check between two batches of one append. */
export const follows = (before: BatchHeader, after: BatchHeader): boolean =>
  after.baseSequence === sequenceAfter(lastSequenceOf(before), 1)

/** The refusal of a batch that does not follow the one before it. */
export const sequenceRefusal = (header: BatchHeader, before: BatchHeader): ProducerVerdict =>
  refused(header, 'OUT_OF_ORDER_SEQUENCE_NUMBER', `the last sequence is ${lastSequenceOf(before)}`)

function duplicateOf(header: BatchHeader, entry: ProducerEntry): ProducerVerdict | undefined {
  if (header.producerEpoch !== entry.producerEpoch) return undefined
  const found = entry.batches.find(batch => sameSequences(batch, header))
  return (
    found && {
      kind: 'duplicate',
      baseOffset: found.lastOffset - found.offsetDelta,
      lastOffset: found.lastOffset,
      timestamp: joined(found.timestampHigh, found.timestampLow),
    }
  )
}

const sameSequences = (batch: ProducedBatch, header: BatchHeader): boolean =>
  batch.lastSequence >= 0 &&
  batch.lastSequence === lastSequenceOf(header) &&
  sequenceBefore(batch.lastSequence, batch.offsetDelta) === header.baseSequence

function checkSequence(header: BatchHeader, entry: ProducerEntry): ProducerVerdict | undefined {
  if (entry.producerEpoch < 0) return undefined
  if (header.producerEpoch !== entry.producerEpoch) {
    if (header.baseSequence === 0) return undefined
    return refused(header, 'OUT_OF_ORDER_SEQUENCE_NUMBER', 'a new epoch starts at sequence 0')
  }
  // After a marker without data in this epoch there is no last sequence: it counts as -1, so 0 follows.
  const last = entry.lastBatch?.lastSequence ?? -1
  if (header.baseSequence === (last < 0 ? 0 : sequenceAfter(last, 1))) return undefined
  return refused(header, 'OUT_OF_ORDER_SEQUENCE_NUMBER', `the last sequence is ${last}`)
}

function checkTransaction(header: BatchHeader, entry: ProducerEntry): ProducerVerdict | undefined {
  if (entry.transactionFirstOffset < 0 || isTransactional(header)) return undefined
  return refused(header, 'INVALID_TXN_STATE', `it has a transaction open since offset ${entry.transactionFirstOffset}`)
}

function refused(header: BatchHeader, error: keyof typeof producerRefusals, why: string): ProducerVerdict {
  const { producerId, producerEpoch, baseSequence } = header
  const message = `producer ${producerId}, epoch ${producerEpoch}, sequence ${baseSequence}: ${why}`
  return { kind: 'refused', error, errorCode: producerRefusals[error], message }
}
