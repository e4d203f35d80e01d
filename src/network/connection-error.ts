/** The one error of a client connection; source/ and node/ decide by its kind. */

/**
 * dns = the name does not resolve; tcp = refused, unreachable, reset while connecting; tls = no secured connection, or the
 * certificates of one side are refused; login = the broker refuses who we are, or we its answer; timeout = connecting or a request
 * took too long; closed = the connection went away (or was closed here) with the request unanswered; protocol = what came
 * is not the Kafka protocol, or cannot be decoded; unsupported-version = no common version of the api.
 */
export type ConnectionErrorKind =
  | 'dns'
  | 'tcp'
  | 'tls'
  | 'login'
  | 'timeout'
  | 'closed'
  | 'protocol'
  | 'unsupported-version'

export class ConnectionError extends Error {
  readonly kind: ConnectionErrorKind

  constructor(kind: ConnectionErrorKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ConnectionError'
    this.kind = kind
  }
}
