/** The public keys of an issuer of tokens, from a file or an http(s) endpoint, loaded anew from time to time; token validators look keys up here. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'

export interface KeySource {
  /** `file:`, `http:` or `https:`. */
  readonly url: URL
  /** Age at which the keys are loaded anew, beside the use of the old ones. */
  readonly refreshMs: number
  /** Least and greatest pause between attempts that fail. */
  readonly retryBackoffMs: number
  readonly retryBackoffMaxMs: number
  readonly clock: Clock
  readonly logger: Logger
}

const ANSWER_MS_MAX = 10_000
const DOCUMENT_BYTES_MAX = 1024 * 1024
/** A key that is not there may be a new one: looked for this often at most, whatever clients show. */
const UNKNOWN_KEY_PAUSE_MS = 1000

export class JsonWebKeys {
  readonly #source: KeySource
  #keys: JWTVerifyGetKey | undefined
  #loadedAtMs = Number.NEGATIVE_INFINITY
  #triedAtMs = Number.NEGATIVE_INFINITY
  #failures = 0
  #loading: Promise<void> | undefined

  constructor(source: KeySource) {
    this.#source = source
  }

  /** The key for a token, as `jwtVerify` asks for it. Rejects when there is none. */
  readonly keyFor: JWTVerifyGetKey = async (header, token) => {
    if (!this.#keys) await this.#load()
    else if (this.#now - this.#loadedAtMs >= this.#source.refreshMs && this.#mayTry) this.#refresh()
    const keys = this.#keys
    if (!keys) throw new Error('there are no keys to check it with')
    try {
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !this.#mayTry) throw error
      await this.#load()
      return await (this.#keys ?? keys)(header, token)
    }
  }

  get #now(): number {
    return this.#source.clock.monotonicMs()
  }

  get #mayTry(): boolean {
    const { retryBackoffMs, retryBackoffMaxMs } = this.#source
    const pauseMs = Math.min(retryBackoffMaxMs, retryBackoffMs * 2 ** Math.min(this.#failures, 20))
    return this.#now - this.#triedAtMs >= Math.max(UNKNOWN_KEY_PAUSE_MS, this.#failures > 0 ? pauseMs : 0)
  }

  #refresh(): void {
    this.#load().catch(error =>
      this.#source.logger.warn('the keys of tokens could not be loaded anew', { reason: messageOf(error) }),
    )
  }

  /** One load at a time. */
  #load(): Promise<void> {
    this.#loading ??= this.#fetch().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #fetch(): Promise<void> {
    this.#triedAtMs = this.#now
    try {
      const { url } = this.#source
      const text = url.protocol === 'file:' ? await readFile(fileURLToPath(url), 'utf8') : await download(url)
      this.#keys = createLocalJWKSet(JSON.parse(text) as JSONWebKeySet)
      this.#loadedAtMs = this.#now
      this.#failures = 0
    } catch (error) {
      this.#failures++
      throw new Error(`the keys at ${this.#source.url} cannot be loaded: ${messageOf(error)}`, { cause: error })
    }
  }
}

async function download(url: URL): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX), redirect: 'error' })
  if (!response.ok) throw new Error(`the answer is ${response.status}`)
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > DOCUMENT_BYTES_MAX) throw new Error('the answer is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
