// A small fetch-based client of a node's REST v3 for suites; not the product's own client, so that it proves the API.

/** An answer, whatever its status. */
export interface RestAnswer {
  readonly status: number
  /** Parsed JSON, or the text where it is not JSON; undefined when empty. */
  readonly body: unknown
}

/** An answer with a status that was not expected. */
export class RestError extends Error {
  readonly answer: RestAnswer

  constructor(request: string, answer: RestAnswer) {
    super(`${request} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    this.name = 'RestError'
    this.answer = answer
  }
}

/** Requests to one node. */
export class RestClient {
  /** `http://host:port` */
  readonly origin: string
  readonly #clusterPath: string

  constructor(origin: string, clusterId: string) {
    this.origin = origin
    this.#clusterPath = `/kafka/v3/clusters/${clusterId}`
  }

  /** One request to a path of the node, e.g. `/metrics`; any status is an answer. */
  async request(method: string, path: string, body?: object): Promise<RestAnswer> {
    const init: RequestInit = { method, signal: AbortSignal.timeout(120_000) }
    if (body !== undefined) {
      init.body = JSON.stringify(body)
      init.headers = { 'content-type': 'application/json' }
    }
    const response = await fetch(`${this.origin}${path}`, init)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') ?? false
    return { status: response.status, body: text === '' ? undefined : isJson ? JSON.parse(text) : text }
  }

  /** One request below `/kafka/v3/clusters/{cluster_id}`; a status of 400 or more throws RestError. */
  async call(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await this.request(method, `${this.#clusterPath}${path}`, body)
    if (answer.status >= 400) throw new RestError(`${method} ${path}`, answer)
    return answer.body
  }
}
