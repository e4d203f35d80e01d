/**
 * AddOffsetsToTxn (25), versions 0–4; the dispatch table calls it.
 *
 * 2: PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH. 3: flexible. 4: TRANSACTION_ABORTABLE (KIP-890).
 *
 * Needs WRITE on the transactional id and READ on the group. Adds the partition of `__consumer_offsets` that holds the group.
 * Clients of transaction version 2 do not send it: TxnOffsetCommit adds the partition.
 */
import { OFFSETS_TOPIC } from '../../coordinator/transactions/transaction-markers.ts'
import { partitionSet } from '../../coordinator/transactions/transaction-metadata.ts'
import { AddOffsetsToTxnApi } from '../../protocol/messages/25-add-offsets-to-txn.ts'
import { requireAllowed } from '../authorization.ts'
import { handlerOf } from '../handler.ts'
import { knownFencing } from '../producer-fencing.ts'

const FENCED_VERSION = 2

export const addOffsetsToTxn = handlerOf(AddOffsetsToTxnApi, {
  versions: { min: 0, max: 4 },
  async handle(broker, request, origin) {
    const { transactionalId, groupId } = request
    requireAllowed(broker, origin, { operation: 'WRITE', resource: 'TRANSACTIONAL_ID', name: transactionalId })
    requireAllowed(broker, origin, { operation: 'READ', resource: 'GROUP', name: groupId })
    const partitions = partitionSet([{ topic: OFFSETS_TOPIC, partition: broker.groups.partitionFor(groupId) }])
    const errorCode = await broker.transactions.addPartitions(request, partitions, 0)
    return { throttleTimeMs: 0, errorCode: knownFencing(errorCode, origin.version >= FENCED_VERSION) }
  },
  failed: (_request, errorCode) => ({ throttleTimeMs: 0, errorCode }),
})
