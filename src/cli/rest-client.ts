/** The command line's HTTP side: one REST call, with errors as people can read them. Called by every command. */

import { type Certificates, type HttpAnswer, httpCall } from './http-call.ts'

/** The node answered with an error. */
export class RestFailure extends Error {
  readonly status: number
  readonly hint: string | undefined

  constructor(status: number, message: string, hint: string | undefined) {
    super(message)
    this.name = 'RestFailure'
    this.status = status
    this.hint = hint
  }
}

/** No node answered. */
export class NodeUnreachable extends Error {
  constructor(url: string, cause: unknown) {
    super(`cannot reach a Lockstep node at ${url}: ${reasonOf(cause)}`, { cause })
    this.name = 'NodeUnreachable'
  }
}

export interface Endpoint {
  /** Base URL without a slash at the end, e.g. http://127.0.0.1:8090 */
  readonly url: string
  readonly user: string | undefined
  readonly password: string | undefined
  readonly certificates: Certificates
}

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
}

/** Longest wait for an answer; creating a link may wait for a source that does not answer. */
const TIMEOUT_MS = 120_000

/** Talks to one node. Paths given to `get`, `post`, `put` and `delete` are below /kafka/v3/clusters/{the node's cluster}. */
export class RestClient {
  readonly #endpoint: Endpoint
  #clusterPath: Promise<string> | undefined

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint
  }

  async get<T>(path: string, options: CallOptions = {}): Promise<T> {
    return (await this.#call('GET', (await this.#cluster()) + path, options)) as T
  }

  async post<T>(path: string, options: CallOptions = {}): Promise<T> {
    return (await this.#call('POST', (await this.#cluster()) + path, options)) as T
  }

  async put<T>(path: string, options: CallOptions = {}): Promise<T> {
    return (await this.#call('PUT', (await this.#cluster()) + path, options)) as T
  }

  async delete<T>(path: string, options: CallOptions = {}): Promise<T> {
    return (await this.#call('DELETE', (await this.#cluster()) + path, options)) as T
  }

  /** The cluster that the node belongs to, asked once. */
  #cluster(): Promise<string> {
    this.#clusterPath ??= this.#call('GET', '/kafka/v3/clusters', {}).then(answer => {
      const id = (answer as { data?: { cluster_id?: string }[] }).data?.[0]?.cluster_id
      if (id === undefined)
        throw new RestFailure(502, `${this.#endpoint.url} does not answer like a Lockstep node`, undefined)
      return `/kafka/v3/clusters/${encodeURIComponent(id)}`
    })
    return this.#clusterPath
  }

  async #call(method: string, path: string, options: CallOptions): Promise<unknown> {
    const url = new URL(this.#endpoint.url + path)
    for (const [name, value] of Object.entries(options.query ?? {}))
      if (value !== undefined) url.searchParams.set(name, value)
    const { user, password } = this.#endpoint
    const headers: Record<string, string> = { accept: 'application/json' }
    if (user !== undefined)
      headers['authorization'] = `Basic ${Buffer.from(`${user}:${password ?? ''}`).toString('base64')}`
    if (options.body !== undefined) headers['content-type'] = 'application/json'
    let answer: HttpAnswer
    try {
      const body = options.body === undefined ? undefined : JSON.stringify(options.body)
      const { certificates } = this.#endpoint
      answer = await httpCall(url, { method, headers, body, timeoutMs: TIMEOUT_MS, certificates })
    } catch (error) {
      throw new NodeUnreachable(this.#endpoint.url, error)
    }
    const { status } = answer
    const parsed = parseJson(answer.text)
    if (status >= 200 && status < 300) return parsed
    const { message, hint } = (parsed ?? {}) as { message?: string; hint?: string }
    throw new RestFailure(status, message ?? `HTTP ${status} for ${method} ${url.pathname}`, hint)
  }
}

function parseJson(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'AbortError') return `no answer within ${TIMEOUT_MS / 1000} s`
  return error.message || String((error as { code?: string }).code)
}
