/** The server's side of PLAIN (RFC 4616): user and password in one message; only for listeners with TLS, or networks that are trusted. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { type LoginExchange, LoginRefused, type LoginStep } from './login-exchange.ts'

const refuse = (text: string): never => {
  throw new LoginRefused(text, text)
}

/** Texts are those that Kafka's clients are used to. */
export class PlainServer implements LoginExchange {
  readonly #passwordOf: (user: string) => string | undefined

  /** @param passwordOf the password that a user must give; undefined = no such user */
  constructor(passwordOf: (user: string) => string | undefined) {
    this.#passwordOf = passwordOf
  }

  respond(message: Buffer): LoginStep {
    const tokens = message.toString().split('\0')
    if (tokens.length !== 3) refuse(`Invalid SASL/PLAIN response: expected 3 tokens, got ${Math.min(tokens.length, 4)}`)
    const [authorizationId = '', user = '', password = ''] = tokens
    if (user === '') refuse('Authentication failed: username not specified')
    if (password === '') refuse('Authentication failed: password not specified')
    const expected = this.#passwordOf(user)
    // An unknown user takes the time of a known one.
    const matches = isSameText(password, expected ?? '')
    if (expected === undefined || !matches) refuse('Authentication failed: Invalid username or password')
    if (authorizationId !== '' && authorizationId !== user)
      refuse('Authentication failed: Client requested an authorization id that is different from username')
    return { reply: Buffer.alloc(0), identity: { name: user } }
  }
}

/** In time that does not depend on where they differ. */
function isSameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
