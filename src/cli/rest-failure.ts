/** The two ways in which a call of REST fails; thrown by the REST client. */

/** The node answered with an error. */
export class RestFailure extends Error {
  readonly status: number
  readonly hint: string | undefined

  constructor(status: number, message: string, hint: string | undefined) {
    super(message)
    this.name = 'RestFailure'
    this.status = status
    this.hint = hint
  }
}

/** No node answered. */
export class NodeUnreachable extends Error {
  readonly hint: string

  constructor(url: string, reason: string, cause?: unknown) {
    super(`cannot reach a Lockstep node at ${url}: ${reason}`, { cause })
    this.name = 'NodeUnreachable'
    this.hint = 'name another node with --url or LOCKSTEP_URL, or start one with `lockstep server`'
  }
}

/** Does nobody answer now, or a node that is not ready yet? Whoever watches goes on when it is back. */
export const isAway = (error: unknown): error is NodeUnreachable | RestFailure =>
  error instanceof NodeUnreachable || (error instanceof RestFailure && error.status === 503)
