/** The command line's HTTP side: REST calls, with errors as people can read them. Called by every command. */
import type { IncomingMessage } from 'node:http'
import type { Endpoint } from './endpoint.ts'
import { type ServerEvent, serverEvents } from './event-stream.ts'
import { bodyText, httpCall } from './http-call.ts'
import { NodeUnreachable, RestFailure } from './rest-failure.ts'

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
}

export interface StreamOptions extends CallOptions {
  readonly lastEventId?: string | undefined
  readonly signal: AbortSignal
}

interface Request extends CallOptions {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** Longest wait for an answer; creating a link may wait for a source that does not answer. */
const TIMEOUT_MS = 120_000

/** Talks to one node. Paths given to its methods are below /kafka/v3/clusters/{the node's cluster}. */
export class RestClient {
  readonly #findEndpoint: () => Promise<Endpoint>
  readonly #timeoutMs: number
  #endpoint: Promise<Endpoint> | undefined
  #clusterId: Promise<string> | undefined

  constructor(findEndpoint: () => Promise<Endpoint>, timeoutMs = TIMEOUT_MS) {
    this.#findEndpoint = findEndpoint
    this.#timeoutMs = timeoutMs
  }

  async get<T>(path: string, options: CallOptions = {}): Promise<T> {
    return (await this.#json({ method: 'GET', path, ...options })) as T
  }

  async post<T>(path: string, options: CallOptions = {}): Promise<T> {
    return (await this.#json({ method: 'POST', path, ...options })) as T
  }

  async put<T>(path: string, options: CallOptions = {}): Promise<T> {
    return (await this.#json({ method: 'PUT', path, ...options })) as T
  }

  async delete<T>(path: string, options: CallOptions = {}): Promise<T> {
    return (await this.#json({ method: 'DELETE', path, ...options })) as T
  }

  /** Events as they come; ends when the node ends the answer, throws NodeUnreachable when it breaks off. */
  async *events(method: 'GET' | 'POST', path: string, options: StreamOptions): AsyncGenerator<ServerEvent> {
    const { lastEventId, signal, ...call } = options
    const headers = { accept: 'text/event-stream', ...(lastEventId ? { 'last-event-id': lastEventId } : {}) }
    const answer = await this.#ask({ method, path: await this.#inCluster(path), ...call, headers, signal })
    try {
      yield* serverEvents(answer)
    } catch (error) {
      if (!signal.aborted) throw new NodeUnreachable(await this.#url(), reasonOf(error), error)
    }
  }

  /** The cluster that the node belongs to, asked once. */
  clusterId(): Promise<string> {
    this.#clusterId ??= this.#clusterIdNow()
    return this.#clusterId
  }

  async #clusterIdNow(): Promise<string> {
    const text = await bodyText(await this.#ask({ method: 'GET', path: '/kafka/v3/clusters' }))
    const answer = parseJson(text) as { data?: { cluster_id?: string }[] } | undefined
    const id = answer?.data?.[0]?.cluster_id
    if (id !== undefined) return id
    throw new RestFailure(502, `${await this.#url()} does not answer like a Lockstep node`, undefined)
  }

  async #inCluster(path: string): Promise<string> {
    return `/kafka/v3/clusters/${encodeURIComponent(await this.clusterId())}${path}`
  }

  async #json(request: Request): Promise<unknown> {
    const answer = await this.#ask({ ...request, path: await this.#inCluster(request.path) })
    try {
      return parseJson(await bodyText(answer))
    } catch (error) {
      throw new NodeUnreachable(await this.#url(), reasonOf(error, this.#timeoutMs), error)
    }
  }

  async #url(): Promise<string> {
    return (await this.#known()).url
  }

  #known(): Promise<Endpoint> {
    this.#endpoint ??= this.#findEndpoint()
    return this.#endpoint
  }

  /** Resolves to a good answer, whose body is still to be read. */
  async #ask({ method, path, query = {}, body, ...request }: Request): Promise<IncomingMessage> {
    const endpoint = await this.#known()
    const url = new URL(endpoint.url + path)
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value)
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = { ...loginOf(endpoint), ...(body === undefined ? {} : JSON_BODY), ...request.headers }
    const signal = request.signal ?? AbortSignal.timeout(this.#timeoutMs)
    try {
      const answer = await httpCall(url, { method, headers, body: text, certificates: endpoint.certificates, signal })
      const status = answer.statusCode ?? 0
      if (status >= 200 && status < 300) return answer
      throw refusal(status, await bodyText(answer), `${method} ${url.pathname}`)
    } catch (error) {
      if (error instanceof RestFailure) throw error
      throw new NodeUnreachable(endpoint.url, reasonOf(error, this.#timeoutMs), error)
    }
  }
}

const JSON_BODY = { 'content-type': 'application/json' }

function loginOf({ user, password }: Endpoint): Record<string, string> {
  const headers = { accept: 'application/json' }
  if (user === undefined) return headers
  return { ...headers, authorization: `Basic ${Buffer.from(`${user}:${password ?? ''}`).toString('base64')}` }
}

function refusal(status: number, body: string, request: string): RestFailure {
  const { message, hint } = (parseJson(body) ?? {}) as { message?: string; hint?: string }
  return new RestFailure(status, message ?? `HTTP ${status} for ${request}`, hint)
}

function parseJson(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

function reasonOf(error: unknown, timeoutMs?: number): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'AbortError' && timeoutMs !== undefined) return `no answer within ${timeoutMs / 1000} s`
  return error.message || String((error as { code?: string }).code)
}
