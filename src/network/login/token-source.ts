/** Access tokens for OAUTHBEARER logins: from a file, or from a token endpoint with client credentials; kept while they are fresh. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { decodeJwt } from 'jose'
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { LoginImpossible } from './client-exchange.ts'

export interface TokenSourceOptions {
  /** `file:` holds a token; `http:` and `https:` are asked for one. */
  readonly url: URL
  readonly clientId: string | undefined
  readonly clientSecret: string | undefined
  readonly scope: string | undefined
  readonly clock: Clock
}

const ANSWER_MS_MAX = 10_000
const ANSWER_BYTES_MAX = 256 * 1024
/** A token is used again until so much of its life is over. */
const USED_PART_MAX = 0.8

export class TokenSource {
  readonly #options: TokenSourceOptions
  #token: { readonly text: string; readonly useUntilMs: number } | undefined
  #asking: Promise<string> | undefined

  constructor(options: TokenSourceOptions) {
    this.#options = options
  }

  /** Rejects with LoginImpossible. One question at a time, whoever asks. */
  readonly token = (): Promise<string> => {
    const known = this.#token
    if (known && this.#options.clock.nowMs() < known.useUntilMs) return Promise.resolve(known.text)
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async #ask(): Promise<string> {
    const { url, clock } = this.#options
    try {
      const text =
        url.protocol === 'file:' ? (await readFile(fileURLToPath(url), 'utf8')).trim() : await this.#download()
      const askedMs = clock.nowMs()
      const { exp } = decodeJwt(text)
      const leftMs = exp === undefined ? 0 : exp * 1000 - askedMs
      // A file may be written anew at any time.
      const useMs = url.protocol === 'file:' ? 0 : leftMs * USED_PART_MAX
      this.#token = { text, useUntilMs: askedMs + useMs }
      return text
    } catch (error) {
      throw new LoginImpossible(
        `no token from ${url.origin === 'null' ? url.pathname : url.origin}: ${messageOf(error)}`,
      )
    }
  }

  async #download(): Promise<string> {
    const { url, clientId, clientSecret, scope } = this.#options
    const credentials = Buffer.from(`${clientId ?? ''}:${clientSecret ?? ''}`).toString('base64')
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Basic ${credentials}`, accept: 'application/json' },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) }),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
      redirect: 'error',
    })
    const text = await bounded(response)
    if (!response.ok) throw new Error(`the answer is ${response.status}`)
    const { access_token: token } = JSON.parse(text) as { access_token?: unknown }
    if (typeof token !== 'string') throw new Error('the answer has no access_token')
    return token
  }
}

async function bounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) throw new Error('the answer is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
