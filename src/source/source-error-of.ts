/** Translates failures of connections and error codes of Kafka into SourceError; everything in source/ that answers the engine uses it. */
import { messageOf } from '../core/errors.ts'
import { SourceError, type SourceFailure } from '../link/ports.ts'
import { ConnectionError, type ConnectionErrorKind } from '../network/connection-error.ts'
import { ErrorCode, errorName, errorOf } from '../protocol/errors.ts'

const failureByKind: Readonly<Record<ConnectionErrorKind, SourceFailure>> = {
  dns: 'dns',
  tcp: 'tcp',
  tls: 'tls',
  login: 'login',
  timeout: 'timeout',
  closed: 'tcp',
  protocol: 'protocol',
  'unsupported-version': 'unsupported-version',
}

const failureByCode: ReadonlyMap<number, SourceFailure> = new Map([
  [ErrorCode.TOPIC_AUTHORIZATION_FAILED, 'authorization'],
  [ErrorCode.CLUSTER_AUTHORIZATION_FAILED, 'authorization'],
  [ErrorCode.GROUP_AUTHORIZATION_FAILED, 'authorization'],
  [ErrorCode.SASL_AUTHENTICATION_FAILED, 'login'],
  [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 'unknown-topic'],
  [ErrorCode.UNKNOWN_TOPIC_ID, 'unknown-topic'],
  [ErrorCode.INVALID_TOPIC_EXCEPTION, 'unknown-topic'],
  [ErrorCode.UNSUPPORTED_VERSION, 'unsupported-version'],
  [ErrorCode.REQUEST_TIMED_OUT, 'timeout'],
])

/** Anything thrown while the source was asked. */
export function sourceErrorOf(error: unknown): SourceError {
  if (error instanceof SourceError) return error
  if (error instanceof ConnectionError)
    return new SourceError(failureByKind[error.kind], error.message, { cause: error })
  return new SourceError('protocol', messageOf(error), { cause: error })
}

/** An error code in an answer. `what` says what was asked about what: `listing the offsets of topic orders`. */
export function sourceErrorForCode(code: number, what: string): SourceError {
  const failure = failureByCode.get(code) ?? (errorOf(code)?.retriable ? 'retriable' : 'protocol')
  return new SourceError(failure, `${what}: ${errorName(code)}${errorOf(code) ? `, ${errorOf(code)?.text}` : ''}`)
}

/** Of several failures (one per bootstrap server), the one that got furthest: it says most about what is wrong. */
export function mostTelling(errors: readonly SourceError[]): SourceError {
  const order: readonly SourceFailure[] = ['dns', 'tcp', 'timeout', 'tls', 'protocol', 'unsupported-version']
  const rank = (error: SourceError) => (order.includes(error.failure) ? order.indexOf(error.failure) : order.length)
  const best = errors.reduce((a, b) => (rank(b) > rank(a) ? b : a))
  if (errors.length === 1) return best
  return new SourceError(best.failure, errors.map(error => error.message).join('; '), { cause: best })
}
