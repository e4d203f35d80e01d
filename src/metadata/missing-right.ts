/** Words for a refusal that a right would have prevented: which right, on what, and how it is granted. Whoever asks other brokers or controllers in this node's name uses it. */
import { ErrorCode } from '../protocol/errors.ts'
import type { ApiError } from './api-error.ts'
import type { AclAction, AclOperationName, AclResourceName } from './authorizer.ts'

/** CLUSTER needs no name. */
export interface NeededRight extends Omit<AclAction, 'name'> {
  readonly name?: string
}

/** Options of `kafka-acls`. */
const RESOURCE_OPTIONS: Readonly<Record<AclResourceName, string>> = {
  TOPIC: '--topic',
  GROUP: '--group',
  CLUSTER: '--cluster',
  TRANSACTIONAL_ID: '--transactional-id',
  DELEGATION_TOKEN: '--delegation-token',
  USER: '--user-principal',
}

const REFUSALS: ReadonlySet<number> = new Set([
  ErrorCode.TOPIC_AUTHORIZATION_FAILED,
  ErrorCode.GROUP_AUTHORIZATION_FAILED,
  ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
  ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
])

/** Does the code say that a right is missing? */
export const isRefusal = (errorCode: number): boolean => REFUSALS.has(errorCode)

/** `the principal of this node lacks CREATE on the topic orders; grant it with kafka-acls …`. */
export function missingRight({ operation, resource, name }: NeededRight): string {
  const what = resource === 'CLUSTER' ? 'the cluster' : `the ${resource.toLowerCase().replaceAll('_', ' ')} ${name}`
  const option = `${RESOURCE_OPTIONS[resource]}${resource === 'CLUSTER' ? '' : ` ${name}`}`
  return `the principal of this node lacks ${operation} on ${what}; grant it with kafka-acls --add --allow-principal User:<this node> --operation ${camelCase(operation)} ${option}`
}

/** The error with such a sentence where a right is missing, and as it is otherwise. */
export const explained = <E extends ApiError>(error: E, right: NeededRight): E =>
  isRefusal(error.errorCode) ? { ...error, errorMessage: missingRight(right) } : error

const camelCase = (operation: AclOperationName): string =>
  operation
    .split('_')
    .map(word => `${word[0]}${word.slice(1).toLowerCase()}`)
    .join('')
