/**
 * TxnOffsetCommit (28), versions 0–5; the dispatch table calls it.
 *
 * 2: leader epochs; COORDINATOR_LOAD_IN_PROGRESS (before: COORDINATOR_NOT_AVAILABLE). 3: flexible; member and generation
 * (KIP-447). 4: TRANSACTION_ABORTABLE. 5: adds the group's partition to the transaction (KIP-890), without AddOffsetsToTxn.
 *
 * WRITE on the transactional id, READ on the group, then READ on each topic; topics and partitions must exist. The offsets
 * count when the transaction is committed. Answered when they are durable.
 */

import { ZERO_UUID } from '../../core/uuid.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { TxnOffsetCommitApi, type TxnOffsetCommitRequest } from '../../protocol/messages/28-txn-offset-commit.ts'
import { allowedNames, requireAllowed } from '../authorization.ts'
import { offsetsToCommit, PartitionAnswers } from '../group-requests.ts'
import { type BrokerContext, handlerOf, type RequestOrigin } from '../handler.ts'
import { proveOffsets } from '../transactional-offsets.ts'

const TOLD_OF_LOADING = 2

type Places = PartitionAnswers<TxnOffsetCommitRequest['topics'][number]['partitions'][number]>

export const txnOffsetCommit = handlerOf(TxnOffsetCommitApi, {
  versions: { min: 0, max: 5 },
  async handle(broker, request, origin) {
    const { transactionalId, groupId } = request
    requireAllowed(broker, origin, { operation: 'WRITE', resource: 'TRANSACTIONAL_ID', name: transactionalId })
    requireAllowed(broker, origin, { operation: 'READ', resource: 'GROUP', name: groupId })
    const names = request.topics.map(({ name }) => name)
    const readable = allowedNames(broker, origin, { operation: 'READ', resource: 'TOPIC', names })
    const topics = request.topics.map(topic => ({ ...topic, topicId: ZERO_UUID }))
    const answers: Places = new PartitionAnswers(origin.image, { topics, byId: false }, name =>
      readable.has(name) ? ErrorCode.NONE : ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    )
    const codes = answers.valid.length === 0 ? [] : await commit(broker, origin, { request, answers })
    return { throttleTimeMs: 0, topics: answers.complete(codes.map(code => knownLoading(code, origin.version))) }
  },
  failed: ({ topics }, errorCode, { version }) => ({
    throttleTimeMs: 0,
    topics: topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map(({ partitionIndex }) => ({
        partitionIndex,
        errorCode: knownLoading(errorCode, version),
      })),
    })),
  }),
})

/** Codes in the order of the valid places. */
async function commit(
  broker: BrokerContext,
  origin: RequestOrigin,
  { request, answers }: { readonly request: TxnOffsetCommitRequest; readonly answers: Places },
): Promise<number[]> {
  const { groupId, memberId, groupInstanceId, generationId, producerId, producerEpoch } = request
  const proof = groupId === '' ? ErrorCode.INVALID_GROUP_ID : await proveOffsets(broker, origin, request)
  if (typeof proof === 'number') return answers.valid.map(() => proof)
  const offsets = offsetsToCommit(answers.valid)
  return await broker.groups.commitTransactionalOffsets(
    { groupId, memberId, groupInstanceId, generationId, offsets },
    { producerId, producerEpoch, proof },
  )
}

/** The first producers took it for fatal. */
const knownLoading = (errorCode: number, version: number): number =>
  errorCode === ErrorCode.COORDINATOR_LOAD_IN_PROGRESS && version < TOLD_OF_LOADING
    ? ErrorCode.COORDINATOR_NOT_AVAILABLE
    : errorCode
