/**
 * FindCoordinator (10), versions 0–6; the dispatch table calls it.
 *
 * 0: groups only. 1: key types (0 group, 1 transaction), error message. 3: flexible. 4: several keys in one request (KIP-699).
 * 5: TRANSACTION_ABORTABLE. 6: share groups, key type 2 (KIP-932).
 *
 * DESCRIBE on the group or transactional id; CLUSTER_ACTION on the cluster for share groups. The coordinator of a key is the
 * leader of its partition of an internal topic, which is created when it is first asked for. The key of a share group is
 * `group:topic id:partition`. Another key, an unknown key type, or share groups before version 6 is INVALID_REQUEST.
 */
import { coordinatorErrorCode } from '../../coordinator/runtime/coordinator-error.ts'
import { isUuid } from '../../core/uuid.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { ErrorCode, kafkaErrors } from '../../protocol/errors.ts'
import { FindCoordinatorApi, type FindCoordinatorRequest } from '../../protocol/messages/10-find-coordinator.ts'
import { allowed, requireAllowedOnCluster } from '../authorization.ts'
import { endpointOf } from '../endpoints.ts'
import { type BrokerContext, handlerOf, type RequestOrigin } from '../handler.ts'

const BATCHED_VERSION = 4
const SHARE_VERSION = 6
const KeyType = { GROUP: 0, TRANSACTION: 1, SHARE: 2 } as const
/** "No node" on the wire. */
const NO_NODE = { nodeId: -1, host: '', port: -1 } as const

/** The state that has a coordinator per key. */
interface CoordinatedState {
  readonly topic: string
  partitionFor(key: string): number
  /** Throws CoordinatorError. */
  ensureTopic(): Promise<void>
}

interface Found {
  readonly errorCode: number
  readonly node: { readonly nodeId: number; readonly host: string; readonly port: number }
}

export const findCoordinator = handlerOf(FindCoordinatorApi, {
  versions: { min: 0, max: 6 },
  async handle(broker, request, origin) {
    const found: Found[] = []
    for (const key of keysOf(request, origin)) found.push(await find(broker, origin, { keyType: request.keyType, key }))
    return respond(request, found, origin)
  },
  failed: (request, errorCode, origin) =>
    respond(
      request,
      keysOf(request, origin).map(() => refused(errorCode)),
      origin,
    ),
})

const keysOf = ({ key, coordinatorKeys }: FindCoordinatorRequest, { version }: RequestOrigin): readonly string[] =>
  version < BATCHED_VERSION ? [key] : coordinatorKeys

const refused = (errorCode: number): Found => ({ errorCode, node: NO_NODE })

async function find(
  broker: BrokerContext,
  origin: RequestOrigin,
  { keyType, key }: { readonly keyType: number; readonly key: string },
): Promise<Found> {
  const { GROUP, TRANSACTION, SHARE } = KeyType
  const may = (resource: 'GROUP' | 'TRANSACTIONAL_ID') =>
    allowed(broker, origin, { operation: 'DESCRIBE', resource, name: key })
  switch (keyType) {
    case GROUP:
      if (!may('GROUP')) return refused(ErrorCode.GROUP_AUTHORIZATION_FAILED)
      return await locate(broker, origin, { state: broker.groups, key })
    case TRANSACTION:
      if (!may('TRANSACTIONAL_ID')) return refused(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
      return await locate(broker, origin, { state: broker.transactions.partitions, key })
    case SHARE:
      if (origin.version < SHARE_VERSION) return refused(ErrorCode.INVALID_REQUEST)
      requireAllowedOnCluster(broker, origin, 'CLUSTER_ACTION')
      if (!isShareKey(key)) return refused(ErrorCode.INVALID_REQUEST)
      return await locate(broker, origin, { state: broker.shareState.partitions, key })
    default:
      return refused(ErrorCode.INVALID_REQUEST)
  }
}

/** The group may have colons, too. */
function isShareKey(key: string): boolean {
  const parts = key.split(':')
  const [topicId = '', partition = ''] = parts.slice(-2)
  return parts.length >= 3 && parts.slice(0, -2).join(':') !== '' && isUuid(topicId) && /^\d+$/.test(partition)
}

async function locate(
  { controller }: BrokerContext,
  { client }: RequestOrigin,
  { state, key }: { readonly state: CoordinatedState; readonly key: string },
): Promise<Found> {
  try {
    await state.ensureTopic()
  } catch (error) {
    return refused(coordinatorErrorCode(error))
  }
  const { image } = controller
  const leader = topicByName(image, state.topic)?.partitions[state.partitionFor(key)]?.leader ?? -1
  const endpoint = endpointOf(image, leader, client.listener)
  if (!endpoint) return refused(ErrorCode.COORDINATOR_NOT_AVAILABLE)
  const { nodeId, host, port } = endpoint
  return { errorCode: ErrorCode.NONE, node: { nodeId, host, port } }
}

function respond(request: FindCoordinatorRequest, found: readonly Found[], { version }: RequestOrigin) {
  if (version < BATCHED_VERSION) {
    const { errorCode, node } = found[0] ?? refused(ErrorCode.INVALID_REQUEST)
    return { throttleTimeMs: 0, errorCode, errorMessage: messageOf(errorCode), ...node }
  }
  return {
    throttleTimeMs: 0,
    coordinators: request.coordinatorKeys.map((key, index) => {
      const { errorCode, node } = found[index] ?? refused(ErrorCode.INVALID_REQUEST)
      return { key, errorCode, errorMessage: messageOf(errorCode), ...node }
    }),
  }
}

const messageOf = (errorCode: number): string | null =>
  errorCode === ErrorCode.COORDINATOR_NOT_AVAILABLE ? kafkaErrors.COORDINATOR_NOT_AVAILABLE.text : null
