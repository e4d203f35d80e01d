/** What a link's security properties mean for a connection: TLS and the login, read anew for each; the broker pool asks it. */
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { parseJaas } from '../../core/jaas.ts'
import { isSealed, type SecretBox, SecretBoxError, type SecurityTexts, SourceError } from '../../link/ports.ts'
import type { ClientMechanism } from '../../network/login/client-exchange.ts'
import { oauthBearerClient, plainClient, scramClient } from '../../network/login/client-mechanisms.ts'
import { isScram } from '../../network/login/scram.ts'
import { TokenSource } from '../../network/login/token-source.ts'
import type { ClientTls } from '../../network/tls/client-tls.ts'
import { loadTlsMaterial } from '../../network/tls/tls-material.ts'
import { withoutReferences } from './secret-references.ts'

export interface ConnectionSecurity {
  readonly tls: ClientTls | undefined
  readonly login: ClientMechanism | undefined
}

type Texts = Readonly<Record<string, string | undefined>>

export class SourceSecurity {
  readonly #texts: SecurityTexts
  readonly #secrets: SecretBox | undefined
  readonly #clock: Clock
  /** Kept while its properties stay the same: it may hold a token that is still good. */
  #login: { readonly key: string; readonly mechanism: ClientMechanism } | undefined

  constructor(texts: SecurityTexts, o: { secrets: SecretBox | undefined; clock: Clock }) {
    this.#texts = texts
    this.#secrets = o.secrets
    this.#clock = o.clock
  }

  /** Rejects with SourceError: secret, tls or login, by what cannot be had. */
  async forConnection(): Promise<ConnectionSecurity> {
    const protocol = this.#texts['security.protocol'] ?? 'PLAINTEXT'
    return {
      tls: protocol === 'SSL' || protocol === 'SASL_SSL' ? await this.#tls() : undefined,
      login: protocol.startsWith('SASL_') ? await this.#loginOf() : undefined,
    }
  }

  async #tls(): Promise<ClientTls> {
    try {
      const texts = await this.#opened('ssl.')
      const newest = texts['ssl.protocol']
      const enabled = (texts['ssl.enabled.protocols'] ?? 'TLSv1.2,TLSv1.3').split(',').map(name => name.trim())
      const used = newest?.startsWith('TLSv') ? enabled.filter(name => name <= newest) : enabled
      const { options } = await loadTlsMaterial(
        name => (name === 'ssl.enabled.protocols' ? used.join(',') : texts[name]),
        { key: false },
      )
      return { options, checksHost: texts['ssl.endpoint.identification.algorithm']?.trim().toLowerCase() === 'https' }
    } catch (error) {
      throw failureOf(error, 'tls')
    }
  }

  async #loginOf(): Promise<ClientMechanism> {
    try {
      const texts = await this.#opened('sasl.')
      const key = JSON.stringify(texts)
      if (this.#login?.key !== key) this.#login = { key, mechanism: mechanismOf(texts, this.#clock) }
      return this.#login.mechanism
    } catch (error) {
      throw failureOf(error, 'login')
    }
  }

  async #opened(prefix: string): Promise<Texts> {
    const entries = Object.entries(this.#texts).filter(([name]) => name.startsWith(prefix))
    const opened = entries.map(async ([name, text]) => {
      if (!isSealed(text)) return [name, await withoutReferences(text)]
      if (!this.#secrets) throw new SecretBoxError(`${name} is encrypted, and this node has no key`)
      return [name, await withoutReferences(this.#secrets.open(name, text))]
    })
    return Object.fromEntries(await Promise.all(opened))
  }
}

/** What a key of this node cannot open is nothing that the source could accept one day. */
const failureOf = (error: unknown, otherwise: 'tls' | 'login'): SourceError =>
  new SourceError(error instanceof SecretBoxError ? 'secret' : otherwise, messageOf(error), { cause: error })

function mechanismOf(texts: Texts, clock: Clock): ClientMechanism {
  const name = texts['sasl.mechanism']?.toUpperCase() ?? ''
  const options = optionsOf(texts)
  if (name === 'OAUTHBEARER') return oauthBearer(texts, { options, clock })
  const user = options.get('username')
  const password = options.get('password')
  if (user === undefined || password === undefined)
    throw new Error('sasl.jaas.config must have the options username and password')
  if (name === 'PLAIN') return plainClient({ user, password })
  if (isScram(name)) return scramClient(name, { user, password })
  throw new Error(`sasl.mechanism ${name || '(none)'} is not supported`)
}

function optionsOf(texts: Texts): ReadonlyMap<string, string> {
  const text = texts['sasl.jaas.config']
  if (text === undefined) return new Map()
  try {
    return parseJaas(text).options
  } catch (error) {
    throw new Error(`sasl.jaas.config ${messageOf(error)}`)
  }
}

function oauthBearer(
  texts: Texts,
  { options, clock }: { options: ReadonlyMap<string, string>; clock: Clock },
): ClientMechanism {
  const endpoint = texts['sasl.oauthbearer.token.endpoint.url'] ?? ''
  if (!URL.canParse(endpoint) || !/^(https?|file):$/.test(new URL(endpoint).protocol))
    throw new Error('sasl.oauthbearer.token.endpoint.url must be a file:, http: or https: address')
  const source = new TokenSource({
    url: new URL(endpoint),
    clientId: options.get('clientId'),
    clientSecret: options.get('clientSecret'),
    scope: options.get('scope'),
    clock,
  })
  const extensions = [...options].flatMap(([name, value]) =>
    name.startsWith('extension_') ? [[name.slice('extension_'.length), value] as const] : [],
  )
  return oauthBearerClient(source.token, new Map(extensions))
}
