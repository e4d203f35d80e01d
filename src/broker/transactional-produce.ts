/**
 * Before transactional records are appended: are their partitions part of the producer's transaction? Produce up to version 11
 * asks the coordinator (verification); from 12 on it adds them (KIP-890). The Produce handler calls it.
 */
import { type PartitionSet, partitionKey, partitionSet } from '../coordinator/transactions/transaction-metadata.ts'
import { configLayers, effectiveBrokerConfig } from '../metadata/config-resolution.ts'
import { type BatchHeader, hasProducerId, readBatchHeader } from '../protocol/batches/batch-header.ts'
import { at, attributeBit, HEADER_BYTES, magicAt } from '../protocol/batches/batch-layout.ts'
import { ErrorCode, errorName } from '../protocol/errors.ts'
import type { ProduceRequest } from '../protocol/messages/00-produce.ts'
import { type AppendOutcome, failedAppend } from '../replica/append-from-client.ts'
import { ClientAppendError } from '../replica/client-append-error.ts'
import { PartitionUnavailable } from '../replica/partition-unavailable.ts'
import type { VerificationGuard } from '../replica/transaction-verifications.ts'
import { beginVerification, type TransactionProof } from '../replica/transactional-records.ts'
import { type BrokerContext, RequestFailure, type RequestOrigin } from './handler.ts'
import type { ResolvedTopic } from './resolve-topic.ts'

type TopicData = ProduceRequest['topicData'][number]
type PartitionData = TopicData['partitionData'][number]

/** What each partition's append has to show, or its refusal; partitions without transactional records are not in it. */
export type TransactionChecks = ReadonlyMap<PartitionData, TransactionProof | AppendOutcome>

export const noChecks: TransactionChecks = new Map()

/** The first version whose clients let the broker add partitions. */
const IMPLICIT_VERSION = 12
/** The first version whose clients know TRANSACTION_ABORTABLE. */
const ABORTABLE_VERSION = 11

/**
 * Does the batch (a request has one per partition) say that it is transactional? Looks at one bit, since every Produce request is
 * asked; what does not parse is refused later, partition by partition.
 */
export const isTransactionalData = ({ records }: PartitionData): boolean =>
  records !== null &&
  records.length >= HEADER_BYTES &&
  magicAt(records, 0) === 2 &&
  (records.readInt16BE(at.attributes) & attributeBit.transactional) !== 0

/** Its header; undefined without a producer, or if it does not parse. */
function transactionalBatch(data: PartitionData): BatchHeader | undefined {
  if (data.records === null || !isTransactionalData(data)) return undefined
  try {
    const header = readBatchHeader(data.records, 0)
    return hasProducerId(header) ? header : undefined
  } catch {
    return undefined
  }
}

interface Asked {
  readonly data: PartitionData
  readonly topic: string
  readonly guard: VerificationGuard
}

/** Throws RequestFailure INVALID_PRODUCER_ID_MAPPING for records of several producers. */
export async function checkTransactions(
  broker: BrokerContext,
  origin: RequestOrigin,
  produce: { readonly request: ProduceRequest; readonly topics: readonly { data: TopicData; topic: ResolvedTopic }[] },
): Promise<TransactionChecks> {
  const bumpsEpoch = origin.version >= IMPLICIT_VERSION
  const required = isVerificationOn(broker, origin)
  const checks = new Map<PartitionData, TransactionProof | AppendOutcome>()
  const asked: Asked[] = []
  const producer = onlyProducer(produce.topics)
  for (const { topic, data, batch } of producer.batches) {
    const guard = guardOf(broker, { topic, data, batch }, bumpsEpoch)
    if (guard === 'refused-later') continue
    if (guard !== undefined && 'errorCode' in guard) checks.set(data, guard)
    else checks.set(data, { guard, required })
    if (guard !== undefined && !('errorCode' in guard)) asked.push({ data, topic: topic.name, guard })
  }
  const { transactionalId } = produce.request
  if (asked.length === 0 || transactionalId === null || (!bumpsEpoch && !required)) return checks
  const claim = { transactionalId, ...producer.claim }
  const errors = await ask(broker, claim, { asked, bumpsEpoch })
  for (const { data, topic } of asked) {
    const errorCode = errors.get(partitionKey({ topic, partition: data.index })) ?? ErrorCode.NONE
    if (errorCode !== ErrorCode.NONE) checks.set(data, refusal(errorCode, origin.version))
  }
  return checks
}

interface Batch {
  readonly topic: NonNullable<ResolvedTopic['image']>
  readonly data: PartitionData
  readonly batch: BatchHeader
}

function onlyProducer(topics: readonly { data: TopicData; topic: ResolvedTopic }[]) {
  const batches: Batch[] = topics.flatMap(({ data, topic: { image } }) =>
    image === undefined
      ? []
      : data.partitionData.flatMap(partition => {
          const batch = transactionalBatch(partition)
          return batch && image.partitions[partition.index] ? { topic: image, data: partition, batch } : []
        }),
  )
  const [first] = batches
  const { producerId = -1n, producerEpoch = -1 } = first?.batch ?? {}
  if (batches.some(({ batch }) => batch.producerId !== producerId || batch.producerEpoch !== producerEpoch))
    throw new RequestFailure(ErrorCode.INVALID_PRODUCER_ID_MAPPING, 'transactional records of more than one producer')
  return { batches, claim: { producerId, producerEpoch } }
}

/** A guard to ask with; undefined if the transaction is open there; a refusal; or what the append will be refused for anyway. */
function guardOf(
  broker: BrokerContext,
  { topic, data, batch }: Batch,
  bumpsEpoch: boolean,
): VerificationGuard | AppendOutcome | 'refused-later' | undefined {
  if (broker.writeGate.refusal(topic.id, topic.name, 'produce')) return 'refused-later'
  try {
    const partition = broker.replicas.lookup(topic.id, data.index)
    return beginVerification(partition, batch, { bumpsEpoch, clock: broker.clock })
  } catch (error) {
    if (error instanceof PartitionUnavailable) return 'refused-later'
    if (error instanceof ClientAppendError) return failedAppend(error.errorCode, error.message)
    throw error
  }
}

async function ask(
  broker: BrokerContext,
  claim: { readonly transactionalId: string; readonly producerId: bigint; readonly producerEpoch: number },
  what: { readonly asked: readonly Asked[]; readonly bumpsEpoch: boolean },
): Promise<ReadonlyMap<string, number>> {
  const partitions: PartitionSet = partitionSet(what.asked.map(({ topic, data }) => ({ topic, partition: data.index })))
  if (!what.bumpsEpoch) return broker.transactions.verifyPartitions(claim, partitions)
  const errorCode = await broker.transactions.addImplicitly(claim, partitions)
  return new Map(Array.from(partitions.keys(), key => [key, errorCode]))
}

/** Kafka's translation of the coordinator's codes into those that producers of this version understand. */
function refusal(errorCode: number, version: number): AppendOutcome {
  switch (errorCode) {
    case ErrorCode.PRODUCER_FENCED:
      return failedAppend(ErrorCode.INVALID_PRODUCER_EPOCH, 'the producer is fenced')
    case ErrorCode.TRANSACTION_ABORTABLE:
      return failedAppend(
        version < ABORTABLE_VERSION ? ErrorCode.INVALID_TXN_STATE : errorCode,
        'the partition was not added to the transaction',
      )
    case ErrorCode.CONCURRENT_TRANSACTIONS:
      return version < IMPLICIT_VERSION ? tryAgain(errorCode) : failedAppend(errorCode, null)
    case ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
    case ErrorCode.COORDINATOR_NOT_AVAILABLE:
    case ErrorCode.NOT_COORDINATOR:
      return tryAgain(errorCode)
    default:
      return failedAppend(errorCode, null)
  }
}

/** Every client repeats this one without asking for metadata first. */
const tryAgain = (errorCode: number): AppendOutcome =>
  failedAppend(
    ErrorCode.NOT_ENOUGH_REPLICAS,
    `the transaction of the partition cannot be verified now: ${errorName(errorCode)}`,
  )

/** `transaction.partition.verification.enable`, which may be altered at run time. */
export const isVerificationOn = (broker: BrokerContext, { image }: RequestOrigin): boolean => {
  const layers = configLayers(image, { brokerId: broker.brokerId, file: broker.settings.file })
  return effectiveBrokerConfig('transaction.partition.verification.enable', layers)?.trim().toLowerCase() !== 'false'
}
