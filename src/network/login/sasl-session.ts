/** The login of one connection (SaslHandshake, SaslAuthenticate, re-authentication of KIP-368); the server connection asks it about every request. */
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { SaslHandshakeRequest, SaslHandshakeResponse } from '../../protocol/messages/17-sasl-handshake.ts'
import { SaslAuthenticateRequest, SaslAuthenticateResponse } from '../../protocol/messages/36-sasl-authenticate.ts'
import { API_VERSIONS_KEY } from '../headers.ts'
import type { Principal } from '../request-handler.ts'
import { type LoggedIn, type LoginExchange, LoginRefused } from './login-exchange.ts'

/** One mechanism that a listener offers. */
export interface OfferedMechanism {
  begin(): LoginExchange
  /** Kafka's connections.max.reauth.ms: a session lasts no longer; 0 = no bound. */
  readonly sessionMsMax: number
}

/** What a listener with SASL demands. */
export interface LoginSettings {
  /** By name, in the order in which clients are told. */
  readonly mechanisms: ReadonlyMap<string, OfferedMechanism>
  /** Largest request before the login (sasl.server.max.receive.size). */
  readonly requestBytesMax: number
  /** Pause before a failed login is answered and the connection closed (connection.failed.authentication.delay.ms). */
  readonly failureDelayMs: number
}

/** What the session is asked: a request, or a bare token (`apiKey` -1). */
export interface LoginRequest {
  readonly apiKey: number
  readonly apiVersion: number
  readonly body: Buffer
}

export interface LoginAnswer {
  /** undefined = none. */
  readonly body: Buffer | undefined
  /** Why the login failed, for the log: the connection closes after the answer. */
  readonly failure?: string
}

const HANDSHAKE_KEY = 17
const AUTHENTICATE_KEY = 36
/** A session may be renewed this often; Kafka treats an earlier handshake as an ordinary request, which is an error. */
const RENEWAL_PAUSE_MS = 1000

/** start: nothing but ApiVersions and SaslHandshake. exchange: tokens of the mechanism. done: logged in. */
type State = 'start' | 'exchange' | 'done' | 'failed'

export class SaslSession {
  readonly #settings: LoginSettings
  readonly #clock: Clock
  #state: State = 'start'
  /** Tokens come without Kafka's headers, after a SaslHandshake of version 0. */
  #bare = false
  #mechanism = ''
  #exchange: LoginExchange | undefined
  #principal: Principal | undefined
  /** Monotonic. */
  #expiresAtMs: number | undefined
  #renewedAtMs = Number.NEGATIVE_INFINITY

  constructor(settings: LoginSettings, clock: Clock) {
    this.#settings = settings
    this.#clock = clock
  }

  /** Undefined until the first login has succeeded. */
  get principal(): Principal | undefined {
    return this.#principal
  }

  get mechanism(): string {
    return this.#mechanism
  }

  get failureDelayMs(): number {
    return this.#settings.failureDelayMs
  }

  /** The next frame is a token without a header. */
  get takesBareToken(): boolean {
    return this.#state === 'exchange' && this.#bare
  }

  /** Has the session outlived its login? The next request that does not renew it closes the connection. */
  get isExpired(): boolean {
    return this.#expiresAtMs !== undefined && this.#clock.monotonicMs() > this.#expiresAtMs
  }

  /** Is this request the login's business, rather than a handler's? */
  concerns(apiKey: number): boolean {
    if (this.#state === 'start') return apiKey !== API_VERSIONS_KEY
    if (this.#state !== 'done') return true
    if (apiKey !== HANDSHAKE_KEY || this.#expiresAtMs === undefined) return false
    return this.#clock.monotonicMs() - this.#renewedAtMs >= RENEWAL_PAUSE_MS
  }

  /** Answers a request that concerns the login. Never rejects. */
  async answer(request: LoginRequest): Promise<LoginAnswer> {
    try {
      if (this.#state === 'exchange' && this.#bare) return await this.#bareToken(request.body)
      if (this.#state === 'exchange' && request.apiKey === AUTHENTICATE_KEY) return await this.#token(request)
      if (this.#state !== 'exchange' && request.apiKey === HANDSHAKE_KEY) return this.#handshake(request)
      return this.#fail(undefined, `a request with api key ${request.apiKey} came before the login was over`)
    } catch (error) {
      return this.#fail(undefined, messageOf(error))
    }
  }

  #handshake({ apiVersion, body }: LoginRequest): LoginAnswer {
    const { mechanism } = SaslHandshakeRequest.decode(body, apiVersion)
    const mechanisms = [...this.#settings.mechanisms.keys()]
    const offered = this.#settings.mechanisms.get(mechanism)
    const answer = (errorCode: number) => SaslHandshakeResponse.encode({ errorCode, mechanisms }, apiVersion)
    if (!offered)
      return this.#fail(
        answer(ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        'the client wants a mechanism that is not enabled',
      )
    this.#bare = apiVersion === 0
    if (this.#principal && mechanism !== this.#mechanism) {
      this.#exchange = refusing(
        `SASL mechanism '${mechanism}' requested by client is not supported for re-authentication of mechanism '${this.#mechanism}'`,
      )
    } else {
      this.#exchange = offered.begin()
      this.#mechanism = mechanism
    }
    if (this.#principal) this.#renewedAtMs = this.#clock.monotonicMs()
    this.#state = 'exchange'
    return { body: answer(ErrorCode.NONE) }
  }

  async #token({ apiVersion, body }: LoginRequest): Promise<LoginAnswer> {
    const { authBytes } = SaslAuthenticateRequest.decode(body, apiVersion)
    try {
      const { reply, lifetimeMs } = await this.#step(authBytes)
      // Kafka says nothing, rather than null.
      const value = { errorCode: ErrorCode.NONE, errorMessage: '', authBytes: reply, sessionLifetimeMs: lifetimeMs }
      return { body: SaslAuthenticateResponse.encode(value, apiVersion) }
    } catch (error) {
      const during = this.#principal ? 're-authentication' : 'authentication'
      const otherwise = `Authentication failed during ${during} due to invalid credentials with SASL mechanism ${this.#mechanism}`
      const errorMessage = (error instanceof LoginRefused ? error.clientMessage : undefined) ?? otherwise
      const value = { errorCode: ErrorCode.SASL_AUTHENTICATION_FAILED, errorMessage, authBytes: Buffer.alloc(0) }
      return this.#fail(SaslAuthenticateResponse.encode(value, apiVersion), messageOf(error))
    }
  }

  async #bareToken(token: Buffer): Promise<LoginAnswer> {
    const { reply } = await this.#step(token)
    return { body: reply }
  }

  async #step(token: Buffer): Promise<{ reply: Buffer; lifetimeMs: bigint }> {
    if (!this.#exchange) throw new LoginRefused('no exchange has begun')
    const { reply, identity } = await this.#exchange.respond(token)
    return { reply, lifetimeMs: identity ? BigInt(this.#finish(identity)) : 0n }
  }

  /** Returns how long the session lasts, in milliseconds; 0 = for ever. */
  #finish({ name, expiresMs }: LoggedIn): number {
    const before = this.#principal
    if (before && before.name !== name) {
      const text = `Cannot change principals during re-authentication from ${before.type}.${before.name}: User.${name}`
      throw new LoginRefused('the principal changed during re-authentication', text)
    }
    this.#principal = { type: 'User', name }
    this.#exchange = undefined
    this.#state = 'done'
    const sessionMsMax = this.#settings.mechanisms.get(this.#mechanism)?.sessionMsMax ?? 0
    const bounds: number[] = sessionMsMax > 0 ? [sessionMsMax] : []
    if (expiresMs !== undefined) bounds.push(expiresMs - this.#clock.nowMs())
    if (bounds.length === 0) return 0
    const lifetimeMs = Math.max(0, Math.floor(Math.min(...bounds)))
    this.#expiresAtMs = this.#clock.monotonicMs() + lifetimeMs
    return lifetimeMs
  }

  #fail(body: Buffer | undefined, failure: string): LoginAnswer {
    this.#state = 'failed'
    this.#exchange = undefined
    return { body, failure }
  }
}

const refusing = (text: string): LoginExchange => ({
  respond() {
    throw new LoginRefused(text, text)
  },
})
