/** The login port of REST: a password in the header (HTTP Basic), else the certificate of the connection, else nobody. Made by the node. */
import { isIP, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { ListenerSecurity } from '../../network/listener-security.ts'
import { ANONYMOUS } from '../../network/request-handler.ts'
import { tlsPrincipal } from '../../network/tls/tls-principal.ts'
import type { Login, LoginResult, ShownIdentity } from '../../rest/ports.ts'
import { FailedLogins } from './failed-logins.ts'
import type { Passwords } from './passwords.ts'

export interface RestLoginOptions {
  readonly passwords: Pick<Passwords, 'matches' | 'isBusy'>
  /** Of the https listener; its rules name the owners of certificates. */
  readonly security: () => ListenerSecurity
  readonly anonymousAllowed: boolean
  /** Names by which requests without a login may call this node, beside addresses; undefined = any. */
  readonly anonymousHosts?: ReadonlySet<string> | undefined
  readonly metricsOpen: boolean
  readonly clock: Clock
  readonly logger: Logger
}

const BASIC = /^Basic +([A-Za-z0-9+/]+={0,2})$/i
const LIMITED: LoginResult = { kind: 'limited', retryAfterSeconds: 1 }
const REFUSED: LoginResult = { kind: 'refused', reason: 'wrong user or password' }

export class RestLogin implements Login {
  readonly anonymousAllowed: boolean
  readonly metricsOpen: boolean
  readonly #options: RestLoginOptions
  readonly #failures: FailedLogins

  constructor(options: RestLoginOptions) {
    this.#options = options
    this.anonymousAllowed = options.anonymousAllowed
    this.metricsOpen = options.metricsOpen
    this.#failures = new FailedLogins(options.clock)
  }

  isTrustedHost(host: string): boolean {
    const { anonymousHosts } = this.#options
    const name = host.replace(/:\d+$/, '').toLowerCase()
    return anonymousHosts === undefined || isIP(name.replace(/^\[|\]$/g, '')) !== 0 || anonymousHosts.has(name)
  }

  async identify({ authorization, socket, address }: ShownIdentity): Promise<LoginResult> {
    if (authorization === undefined) return this.#byCertificate(socket)
    const given = credentialsOf(authorization)
    if (!given) return { kind: 'refused', reason: 'only HTTP Basic is understood' }
    const { passwords, clock, logger } = this.#options
    if (this.#failures.isLimited(address) || passwords.isBusy) return LIMITED
    const sinceMs = clock.monotonicMs()
    if (await passwords.matches(given.user, given.password)) {
      this.#failures.succeeded(address)
      return { kind: 'known', principal: { type: 'User', name: given.user } }
    }
    const count = await this.#failures.failed(address, sinceMs)
    // Each power of two: a guesser must not fill the log. The name is left out, it may be a password in the wrong field.
    if ((count & (count - 1)) === 0) logger.warn('logins to REST fail', { address, failures: count })
    return REFUSED
  }

  #byCertificate(socket: Socket): LoginResult {
    if (!(socket instanceof TLSSocket)) return { kind: 'anonymous' }
    try {
      const principal = tlsPrincipal(socket, this.#options.security())
      return principal === ANONYMOUS ? { kind: 'anonymous' } : { kind: 'known', principal }
    } catch (error) {
      return { kind: 'refused', reason: `the certificate is not accepted: ${messageOf(error)}` }
    }
  }
}

function credentialsOf(authorization: string): { readonly user: string; readonly password: string } | undefined {
  const encoded = BASIC.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString()
  const at = text.indexOf(':')
  return at <= 0 ? undefined : { user: text.slice(0, at), password: text.slice(at + 1) }
}
