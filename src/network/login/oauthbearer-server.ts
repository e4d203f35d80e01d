/** The server's side of OAUTHBEARER (RFC 7628, KIP-255): the client shows a token, a validator judges it. */
import { messageOf } from '../../core/errors.ts'
import { type LoggedIn, type LoginExchange, LoginRefused, type LoginStep } from './login-exchange.ts'

/** Who the token is for. Rejects with what is wrong with it; the reason holds no part of the token. */
export type TokenValidator = (token: string) => Promise<LoggedIn>

const SEPARATOR = '\u0001'
const FIRST = new RegExp(`^n,(?:a=([^,]*))?,${SEPARATOR}((?:[A-Za-z]+=[!-~ \t\r\n]+${SEPARATOR})*)${SEPARATOR}$`)
const BEARER = /^bearer +([-_~+/.a-zA-Z0-9]+=*)$/i
/** What Kafka says of any token that it does not take. */
const INVALID = '{"status":"invalid_token"}'

export class OauthBearerServer implements LoginExchange {
  readonly #validate: TokenValidator
  #refusal: string | undefined

  constructor(validate: TokenValidator) {
    this.#validate = validate
  }

  async respond(message: Buffer): Promise<LoginStep> {
    // The client acknowledges our refusal, and gets it once more as the end of the exchange.
    if (this.#refusal !== undefined) throw new LoginRefused(this.#refusal, INVALID)
    const { token, authorizationId } = parseFirst(message)
    let identity: LoggedIn
    try {
      identity = await this.#validate(token)
    } catch (error) {
      this.#refusal = `the token is refused: ${messageOf(error)}`
      return { reply: Buffer.from(INVALID) }
    }
    if (authorizationId !== '' && authorizationId !== identity.name) {
      const text = `Authentication failed: Client requested an authorization id (${authorizationId}) that is different from the token's principal name (${identity.name})`
      throw new LoginRefused('the authorization id is not the name in the token', text)
    }
    return { reply: Buffer.alloc(0), identity }
  }
}

/** Extensions are taken, and mean nothing here. */
function parseFirst(message: Buffer): { token: string; authorizationId: string } {
  const [whole, authorizationId = '', pairs = ''] = FIRST.exec(message.toString()) ?? []
  const fields = pairs.split(SEPARATOR).map(pair => pair.split(/=(.*)/s))
  const auth = fields.find(([name]) => name === 'auth')?.[1]
  const token = BEARER.exec(auth ?? '')?.[1]
  if (whole === undefined || token === undefined) throw new LoginRefused('the message of OAUTHBEARER is malformed')
  return { token, authorizationId: authorizationId.replaceAll('=2C', ',').replaceAll('=3D', '=') }
}
