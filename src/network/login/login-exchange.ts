/** What one login of one client is to the connection: messages in, answers out, at the end an identity. Implemented per mechanism. */

/** Who logged in. */
export interface LoggedIn {
  readonly name: string
  /** Wall clock time at which what the client showed loses its worth; undefined = never. */
  readonly expiresMs?: number | undefined
}

export interface LoginStep {
  readonly reply: Buffer
  /** Set by the last step. */
  readonly identity?: LoggedIn
}

/** The server's side of one exchange. */
export interface LoginExchange {
  /** Rejects with LoginRefused; nothing may be asked of the exchange after that. */
  respond(message: Buffer): Promise<LoginStep> | LoginStep
}

/** The login fails. The message is for our log and holds no secret. */
export class LoginRefused extends Error {
  /** Told to the client; undefined = only that it failed, since more would help a guesser. */
  readonly clientMessage: string | undefined

  constructor(reason: string, clientMessage?: string) {
    super(reason)
    this.name = 'LoginRefused'
    this.clientMessage = clientMessage
  }
}
