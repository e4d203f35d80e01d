/** What the handlers of CreateAcls, DescribeAcls and DeleteAcls have in common. */
import { ErrorCode } from '../protocol/errors.ts'
import { isEverythingAllowed } from './authorization.ts'
import { type BrokerContext, CloseConnection, RequestFailure } from './handler.ts'

/** The number that stands for "unknown" in every field with a number of ACLs. */
const UNKNOWN = 0

/** Kafka cannot parse a request with such a number and closes the connection. */
export function refuseUnknown(api: string, numbers: readonly number[]): void {
  if (numbers.includes(UNKNOWN)) throw new CloseConnection(`${api} with an unknown type, operation or permission`)
}

/** ACLs are kept only where they have an effect. */
export function requireAuthorizer(broker: BrokerContext): void {
  if (isEverythingAllowed(broker)) throw new RequestFailure(ErrorCode.SECURITY_DISABLED, 'No Authorizer is configured.')
}
