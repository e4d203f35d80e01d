/** The login of a client connection: handshake, exchange, and renewal before the session ends (KIP-368); BrokerConnection owns one where a login is asked for. */
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { SaslHandshakeRequest, SaslHandshakeResponse } from '../../protocol/messages/17-sasl-handshake.ts'
import { SaslAuthenticateRequest, SaslAuthenticateResponse } from '../../protocol/messages/36-sasl-authenticate.ts'
import type { BrokerApis } from '../api-negotiation.ts'
import type { BrokerChannel } from '../broker-channel.ts'
import { ConnectionError } from '../connection-error.ts'
import { type ClientMechanism, LoginImpossible } from './client-exchange.ts'
import { ScramMessageError } from './scram.ts'

const HANDSHAKE_KEY = 17
const HANDSHAKE_VERSION = 1
const AUTHENTICATE_KEY = 36
/** More rounds than any mechanism has: a server that never ends. */
const ROUNDS_MAX = 10
/** Part of a session's life after which it is renewed with the next request. */
const RENEWED_AFTER = 0.8

export interface ClientSessionOptions {
  readonly channel: BrokerChannel
  readonly mechanism: ClientMechanism
  readonly brokerApis: BrokerApis
  readonly timeoutMs: number
  readonly clock: Clock
}

export class ClientSession {
  readonly #options: ClientSessionOptions
  #renewAtMs = Number.POSITIVE_INFINITY
  #renewing: Promise<void> | undefined

  constructor(options: ClientSessionOptions) {
    this.#options = options
  }

  /** Logs in. Rejects with ConnectionError of kind login, or what happened to the connection. */
  async start(signal?: AbortSignal): Promise<void> {
    const { clock } = this.#options
    const beganMs = clock.monotonicMs()
    const lifetimeMs = await this.#logIn(signal)
    this.#renewAtMs = lifetimeMs > 0 ? beganMs + lifetimeMs * RENEWED_AFTER : Number.POSITIVE_INFINITY
  }

  /** To be awaited before the next request, if it is there: nothing else may be sent meanwhile. A failure closes the connection. */
  get renewal(): Promise<void> | undefined {
    if (!this.#renewing && this.#options.clock.monotonicMs() >= this.#renewAtMs) {
      this.#renewing = this.start()
        .catch(error => {
          this.#options.channel.close()
          throw error
        })
        .finally(() => {
          this.#renewing = undefined
        })
    }
    return this.#renewing
  }

  async #logIn(signal: AbortSignal | undefined): Promise<number> {
    const { mechanism, channel } = this.#options
    await this.#handshake(signal)
    const gone = givenUp(channel, signal)
    try {
      const exchange = mechanism.begin()
      let challenge: Buffer | undefined
      let lifetimeMs = 0
      for (let round = 0; round < ROUNDS_MAX; round++) {
        // A token may take its time; nobody waits for it in vain.
        const message = await Promise.race([exchange.next(challenge), gone.promise])
        if (message === undefined) return lifetimeMs
        const answer = await this.#authenticate(message, signal)
        challenge = answer.authBytes
        lifetimeMs = Number(answer.sessionLifetimeMs)
      }
      throw new LoginImpossible('the server does not come to an end')
    } catch (error) {
      if (!(error instanceof LoginImpossible || error instanceof ScramMessageError)) throw error
      throw new ConnectionError('login', `login at ${channel.peer} with ${mechanism.name}: ${messageOf(error)}`)
    } finally {
      gone.forget()
    }
  }

  async #handshake(signal: AbortSignal | undefined): Promise<void> {
    const { channel, mechanism, brokerApis, timeoutMs } = this.#options
    if ((brokerApis.get(HANDSHAKE_KEY)?.max ?? 0) < HANDSHAKE_VERSION)
      throw new ConnectionError('unsupported-version', `${channel.peer} has no usable version of SaslHandshake`)
    const body = SaslHandshakeRequest.encodeChunks({ mechanism: mechanism.name }, HANDSHAKE_VERSION)
    const request = { apiKey: HANDSHAKE_KEY, version: HANDSHAKE_VERSION, body, timeoutMs, signal }
    const answer = SaslHandshakeResponse.decode(await channel.exchange(request), HANDSHAKE_VERSION)
    if (answer.errorCode === ErrorCode.NONE) return
    const reason =
      answer.errorCode === ErrorCode.UNSUPPORTED_SASL_MECHANISM
        ? `it offers ${answer.mechanisms.join(', ') || 'none'}`
        : answer.errorCode === ErrorCode.ILLEGAL_SASL_STATE
          ? 'this listener has no login'
          : errorName(answer.errorCode)
    throw new ConnectionError('login', `${channel.peer} refuses a login with ${mechanism.name}: ${reason}`)
  }

  async #authenticate(authBytes: Buffer, signal: AbortSignal | undefined): Promise<SaslAuthenticateResponse> {
    const { channel, mechanism, brokerApis, timeoutMs } = this.#options
    const version = Math.min(brokerApis.get(AUTHENTICATE_KEY)?.max ?? 0, SaslAuthenticateRequest.versions.max)
    const body = SaslAuthenticateRequest.encodeChunks({ authBytes }, version)
    const request = { apiKey: AUTHENTICATE_KEY, version, body, timeoutMs, signal }
    const answer = SaslAuthenticateResponse.decode(await channel.exchange(request), version)
    if (answer.errorCode === ErrorCode.NONE) return answer
    const reason = answer.errorMessage ?? errorName(answer.errorCode)
    throw new ConnectionError('login', `${channel.peer} refuses the login with ${mechanism.name}: ${reason}`)
  }
}

/** Rejects when the connection is closed or the signal aborts. */
function givenUp(channel: BrokerChannel, signal: AbortSignal | undefined) {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {})
  void channel.closed.then(reason =>
    reject(reason ?? new ConnectionError('closed', `login at ${channel.peer}: the connection was closed here`)),
  )
  const onAbort = () => reject(signal?.reason)
  if (signal?.aborted) onAbort()
  signal?.addEventListener('abort', onAbort, { once: true })
  return { promise, forget: () => signal?.removeEventListener('abort', onAbort) }
}
