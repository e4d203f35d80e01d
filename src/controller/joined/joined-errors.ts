/** Expected failures of a node that is a broker of an Apache Kafka cluster; raised by its controller client, shown by REST, the command line and the log. */
import { errorFactory } from '../../core/errors.ts'
import { missingRight } from '../../metadata/missing-right.ts'

export const joinedErrors = {
  CONTROLLER_UNREACHABLE: {
    status: 503,
    restCode: 50003,
    kafka: 'NOT_CONTROLLER',
    retriable: true,
    message: (detail: { tried: readonly string[] }) =>
      `no active controller was found: ${detail.tried.length === 0 ? 'there is no address to ask' : detail.tried.join('; ')}`,
    hint: () =>
      'controller.quorum.bootstrap.servers must name controller listeners of the cluster that this node can reach',
  },
  OTHER_CLUSTER: {
    status: 409,
    restCode: 40902,
    kafka: 'INCONSISTENT_CLUSTER_ID',
    retriable: false,
    message: (detail: { address: string; clusterId: string }) =>
      `the controller at ${detail.address} belongs to another cluster than ${detail.clusterId}`,
    hint: () => 'correct cluster.id or the addresses; a data directory belongs to the cluster that it was made for',
  },
  CONTROLLER_REFUSED: {
    status: 503,
    restCode: 50003,
    kafka: 'CLUSTER_AUTHORIZATION_FAILED',
    retriable: false,
    message: (detail: { address: string; api: string; error: string }) =>
      `the controller at ${detail.address} refuses ${detail.api} with ${detail.error}`,
    hint: (detail: { api: string; error: string }) =>
      detail.error === 'CLUSTER_AUTHORIZATION_FAILED'
        ? missingRight({
            operation: detail.api === 'DescribeQuorum' ? 'DESCRIBE' : 'CLUSTER_ACTION',
            resource: 'CLUSTER',
          })
        : '',
  },
  ANSWER_LOST: {
    status: 503,
    restCode: 50003,
    kafka: 'REQUEST_TIMED_OUT',
    retriable: true,
    message: (detail: { api: string; reason: string }) =>
      `it is not known whether the controller carried out ${detail.api}: ${detail.reason}`,
  },
  METADATA_REFUSED: {
    status: 500,
    restCode: 500,
    kafka: 'UNKNOWN_SERVER_ERROR',
    retriable: false,
    message: (detail: { reason: string }) => `the cluster's metadata cannot be followed: ${detail.reason}`,
    hint: () => 'if the cluster was upgraded, upgrade this node',
  },
  REGISTRATION_REFUSED: {
    status: 503,
    restCode: 50003,
    kafka: 'INVALID_REGISTRATION',
    retriable: false,
    message: (detail: { error: string; why: string }) =>
      `the cluster refuses this node as a broker (${detail.error}): ${detail.why}`,
  },
  NOT_WHEN_JOINED: {
    status: 409,
    restCode: 40902,
    kafka: 'INVALID_REQUEST',
    retriable: false,
    message: (detail: { what: string }) => `${detail.what} is not possible in a cluster that this node has joined`,
  },
  MOVE_REFUSED: {
    status: 409,
    restCode: 40902,
    kafka: 'INVALID_REPLICA_ASSIGNMENT',
    retriable: false,
    message: (detail: { why: string }) => `nothing was moved: ${detail.why}`,
  },
  NODE_ALIVE: {
    status: 400,
    restCode: 40002,
    kafka: 'INVALID_REQUEST',
    retriable: false,
    message: (detail: { node: number }) => `node ${detail.node} is alive: it would register again at once`,
    hint: () => 'stop it first; the cluster takes note when its session ends, at the latest',
  },
  NODE_HOLDS_PARTITIONS: {
    status: 400,
    restCode: 40002,
    kafka: 'INVALID_REQUEST',
    retriable: false,
    message: (detail: { node: number; count: number; example: string }) =>
      `node ${detail.node} still holds ${detail.count} partitions, such as ${detail.example}: without it they would stay under-replicated`,
    hint: (detail: { node: number }) => `move them away with \`lockstep node drain ${detail.node}\``,
  },
  NOT_REGISTERED: {
    status: 503,
    restCode: 50003,
    kafka: 'STALE_BROKER_EPOCH',
    retriable: true,
    message: () => 'this node is not registered with the cluster at present',
  },
  CONTROLLER_CLOSED: {
    status: 503,
    restCode: 50003,
    kafka: 'NOT_CONTROLLER',
    retriable: true,
    message: () => 'this node is shutting down and takes no more changes of metadata',
  },
}

export const joinedError = errorFactory(joinedErrors)
