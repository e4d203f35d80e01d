/**
 * FindCoordinator (10), versions 0–6; the dispatch table calls it.
 *
 * 0: groups only. 1: key types (0 group, 1 transaction), error message. 3: flexible. 4: several keys in one request (KIP-699).
 * 5: TRANSACTION_ABORTABLE. 6: share groups, key type 2 (KIP-932).
 *
 * This node has no coordinators yet: every key is answered with COORDINATOR_NOT_AVAILABLE, which clients retry. An unknown key
 * type, or share groups before version 6, is INVALID_REQUEST.
 */
import { ErrorCode, kafkaErrors } from '../../protocol/errors.ts'
import { FindCoordinatorApi } from '../../protocol/messages/10-find-coordinator.ts'
import { handlerOf } from '../handler.ts'

const BATCHED_VERSION = 4
const SHARE_VERSION = 6
const KeyType = { GROUP: 0, TRANSACTION: 1, SHARE: 2 } as const
/** "No node" on the wire. */
const NO_NODE = { nodeId: -1, host: '', port: -1 } as const

export const findCoordinator = handlerOf(FindCoordinatorApi, {
  versions: { min: 0, max: 6 },
  handle: (_broker, request, { version }) => answer(request, coordinatorError(request.keyType, version), version),
  failed: (request, errorCode, { version }) => answer(request, errorCode, version),
})

function coordinatorError(keyType: number, version: number): number {
  const known =
    keyType === KeyType.GROUP ||
    keyType === KeyType.TRANSACTION ||
    (keyType === KeyType.SHARE && version >= SHARE_VERSION)
  return known ? ErrorCode.COORDINATOR_NOT_AVAILABLE : ErrorCode.INVALID_REQUEST
}

function answer(request: { readonly coordinatorKeys: readonly string[] }, errorCode: number, version: number) {
  const errorMessage =
    errorCode === ErrorCode.COORDINATOR_NOT_AVAILABLE ? kafkaErrors.COORDINATOR_NOT_AVAILABLE.text : null
  if (version < BATCHED_VERSION) return { throttleTimeMs: 0, errorCode, errorMessage, ...NO_NODE }
  return {
    throttleTimeMs: 0,
    coordinators: request.coordinatorKeys.map(key => ({ key, errorCode, errorMessage, ...NO_NODE })),
  }
}
