/** What a login is to the side that logs in; implemented per mechanism, driven by the client session. */

export interface ClientExchange {
  /**
   * The next message to the server, given its last one (undefined at the beginning); undefined = the exchange is over and the
   * server has shown what the mechanism demands of it. Rejects with LoginImpossible.
   */
  next(challenge: Buffer | undefined): Promise<Buffer | undefined> | Buffer | undefined
}

export interface ClientMechanism {
  /** As in SaslHandshake. */
  readonly name: string
  begin(): ClientExchange
}

/** We cannot log in, or will not go on. Holds no secret. */
export class LoginImpossible extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LoginImpossible'
  }
}
