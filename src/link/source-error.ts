/** The one error of questions to a source cluster; part of the ports, thrown by `source/`, read by the engine. */

/** Why the source could not be asked; each kind is shown to the operator as it is. */
export type SourceFailure =
  | 'dns'
  | 'tcp'
  | 'tls'
  | 'login'
  /** A secret of the link cannot be opened by this node. */
  | 'secret'
  | 'authorization'
  | 'cluster-id'
  | 'timeout'
  | 'advertised-listener'
  | 'unsupported-version'
  | 'unknown-topic'
  | 'retriable'
  | 'protocol'

/** A failed question to the source. The message names host, topic or api. */
export class SourceError extends Error {
  readonly failure: SourceFailure

  constructor(failure: SourceFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SourceError'
    this.failure = failure
  }
}
