/** Errors that the REST layer itself raises, and the one place where any error becomes an answer. */
import { type ErrorTable, errorFactory, OperationalError } from '../core/errors.ts'
import type { Need } from './ports.ts'

export const restErrors = {
  UNKNOWN_CLUSTER: {
    status: 404,
    restCode: 40403,
    kafka: 'INVALID_REQUEST',
    retriable: false,
    message: (d: { asked: string; own: string }) =>
      `cluster "${d.asked}" is not served here; this node belongs to "${d.own}"`,
    hint: (d: { asked: string; own: string }) => `use /kafka/v3/clusters/${d.own}`,
  },
  TOPIC_NOT_FOUND: {
    status: 404,
    restCode: 40403,
    kafka: 'UNKNOWN_TOPIC_OR_PARTITION',
    retriable: false,
    message: (_: { place: string }) => 'This server does not host this topic-partition.',
    hint: (d: { place: string }) => `there is no ${d.place} in this cluster`,
  },
  BROKER_NOT_FOUND: {
    status: 404,
    restCode: 404,
    kafka: 'BROKER_ID_NOT_REGISTERED',
    retriable: false,
    message: (d: { broker: number }) => `Broker ${d.broker} cannot be found.`,
  },
  NOT_JOINED: {
    status: 409,
    restCode: 40902,
    kafka: 'INVALID_REQUEST',
    retriable: false,
    message: (_: undefined) =>
      'this node is standalone: it is the whole cluster, and nothing can be moved to another node',
    hint: () => 'partitions move between nodes that have joined an Apache Kafka cluster',
  },
  NODE_NOT_FOUND: {
    status: 404,
    restCode: 404,
    kafka: 'BROKER_ID_NOT_REGISTERED',
    retriable: false,
    message: (d: { node: number }) => `There is no Lockstep node ${d.node} in this cluster.`,
  },
  NODE_IS_THE_CLUSTER: {
    status: 400,
    restCode: 40002,
    kafka: 'INVALID_REQUEST',
    retriable: false,
    message: (d: { node: number }) => `node ${d.node} is standalone: it is the whole cluster`,
    hint: () => 'only nodes that have joined an Apache Kafka cluster can be removed from it',
  },
  GROUP_NOT_FOUND: {
    status: 404,
    restCode: 40403,
    kafka: 'GROUP_ID_NOT_FOUND',
    retriable: false,
    message: (d: { what: string }) => `There is no ${d.what} in this cluster.`,
  },
  REASSIGNMENT_NOT_FOUND: {
    status: 404,
    restCode: 404,
    kafka: 'NO_REASSIGNMENT_IN_PROGRESS',
    retriable: false,
    message: (d: { partition: string }) => `Partition ${d.partition} is not being reassigned.`,
  },
  CONFIG_NOT_FOUND: {
    status: 404,
    restCode: 40403,
    kafka: 'INVALID_CONFIG',
    retriable: false,
    message: (d: { name: string; of: string }) => `Invalid Config Name. "${d.name}" is not a config of ${d.of}`,
  },
  COORDINATOR_UNREACHABLE: {
    status: 503,
    restCode: 50003,
    kafka: 'COORDINATOR_NOT_AVAILABLE',
    retriable: true,
    message: (d: { nodeId: number; reason: string }) =>
      `the link coordinator, node ${d.nodeId}, could not be asked: ${d.reason}`,
    hint: () => 'try again in a moment',
  },
  BODY_INVALID: {
    status: 400,
    restCode: 400,
    kafka: 'INVALID_REQUEST',
    retriable: false,
    message: (d: { problem: string }) => d.problem,
  },
  FOREIGN_HOST: {
    status: 403,
    restCode: 40301,
    kafka: 'CLUSTER_AUTHORIZATION_FAILED',
    retriable: false,
    message: (d: { host: string }) =>
      `requests without a login are answered only under an address of this machine, not as "${d.host}"`,
    hint: () => 'use 127.0.0.1, [::1] or localhost, name the host in rest.advertised.listeners, or log in',
  },
  FOREIGN_PAGE: {
    status: 403,
    restCode: 40301,
    kafka: 'CLUSTER_AUTHORIZATION_FAILED',
    retriable: false,
    message: (d: { origin: string }) => `a page of ${d.origin} may not change anything here`,
    hint: () => 'use the page of this node, the command line, or a client that is no browser',
  },
  ACCESS_DENIED: {
    status: 403,
    restCode: 40301,
    kafka: 'CLUSTER_AUTHORIZATION_FAILED',
    retriable: false,
    message: (d: { principal: string; need: Need }) =>
      `${d.principal} lacks ${d.need.operation.toUpperCase()} on ${d.need.resource} "${d.need.name}"`,
    hint: (d: { need: Need }) => `grant it with an ACL on ${d.need.resource} "${d.need.name}"`,
  },
  LOGIN_NEEDED: {
    status: 401,
    restCode: 40101,
    kafka: 'SASL_AUTHENTICATION_FAILED',
    retriable: false,
    message: () => 'this needs a login',
    hint: () => 'send user and password (HTTP Basic), or a client certificate where the listener asks for one',
  },
  LOGIN_REFUSED: {
    status: 401,
    restCode: 40101,
    kafka: 'SASL_AUTHENTICATION_FAILED',
    retriable: false,
    message: (d: { reason: string }) => `the login failed: ${d.reason}`,
  },
  LOGIN_LIMITED: {
    status: 429,
    restCode: 429,
    kafka: 'SASL_AUTHENTICATION_FAILED',
    retriable: true,
    message: (_: { seconds: number }) => 'too many logins failed or are being checked; this one was not looked at',
    hint: (d: { seconds: number }) => `try again in ${d.seconds} s`,
  },
  SELECTION_INVALID: {
    status: 400,
    restCode: 40002,
    kafka: 'INVALID_REQUEST',
    retriable: false,
    message: () => 'give either mirror_topic_names or mirror_topic_name_pattern, and not both',
  },
  TOO_MANY_LISTENERS: {
    status: 429,
    restCode: 429,
    kafka: 'THROTTLING_QUOTA_EXCEEDED',
    retriable: true,
    message: (d: { max: number }) => `${d.max} clients listen to events, which is as many as may`,
  },
  NOT_READY: {
    status: 503,
    restCode: 50003,
    kafka: 'COORDINATOR_LOAD_IN_PROGRESS',
    retriable: true,
    message: (d: { reasons: string }) => `this node cannot answer for links yet: ${d.reasons}`,
    hint: () => 'try again in a moment',
  },
} satisfies ErrorTable

export const restError = errorFactory(restErrors)

export interface ErrorAnswer {
  readonly status: number
  readonly body: { readonly error_code: number; readonly message: string; readonly hint?: string }
  readonly retryAfterSeconds: number | undefined
}

interface HttpProblem {
  readonly statusCode?: number
  readonly message?: string
}

/** Any thrown value → status and body. Unexpected ones become 500 without their details. */
export function errorAnswer(error: unknown): ErrorAnswer {
  if (error instanceof OperationalError) {
    const { status, restCode } = error.row
    return {
      status,
      body: { error_code: restCode, message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) },
      retryAfterSeconds: status === 503 || status === 429 ? 1 : undefined,
    }
  }
  const { statusCode, message } = (error ?? {}) as HttpProblem
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return {
      status: statusCode,
      body: { error_code: statusCode, message: message ?? 'bad request' },
      retryAfterSeconds: undefined,
    }
  return {
    status: 500,
    body: { error_code: 500, message: 'internal error; the node logged the details' },
    retryAfterSeconds: undefined,
  }
}
