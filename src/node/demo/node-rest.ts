/** The REST calls that the demo makes, to one node, as a user could; called by the demo's scenes. */
import { messageOf } from '../../core/errors.ts'
import type { AlterMirrorsAnswer, MirrorData } from '../../rest/schemas/mirrors.ts'
import { DemoError, DemoRefusal } from './demo-error.ts'

/** Creating a link waits for its source to answer. */
const TIMEOUT_MS = 60_000
const READY_TIMEOUT_MS = 2000

export class NodeRest {
  /** For example `http://127.0.0.1:8090`. */
  readonly origin: string
  readonly #cluster: string

  constructor(origin: string, clusterId: string) {
    this.origin = origin
    this.#cluster = `${origin}/kafka/v3/clusters/${clusterId}`
  }

  /** What keeps the node from being ready; empty = ready; undefined = it does not answer. */
  async notReadyReasons(): Promise<readonly string[] | undefined> {
    try {
      const answer = await fetch(`${this.origin}/readyz`, { signal: AbortSignal.timeout(READY_TIMEOUT_MS) })
      const { reasons } = (await answer.json()) as { reasons?: readonly string[] }
      return answer.ok ? [] : (reasons ?? [`/readyz answers ${answer.status}`])
    } catch {
      return undefined
    }
  }

  async createTopic(name: string, partitions: number): Promise<void> {
    await this.#call('POST', '/topics', { topic_name: name, partitions_count: partitions, replication_factor: 1 })
  }

  /** Without `sourceClusterId` the id of the cluster that answers is pinned. */
  async createLink(name: string, bootstrap: string, sourceClusterId?: string): Promise<void> {
    await this.#call('POST', `/links?link_name=${encodeURIComponent(name)}`, {
      ...(sourceClusterId === undefined ? {} : { source_cluster_id: sourceClusterId }),
      configs: [{ name: 'bootstrap.servers', value: bootstrap }],
    })
  }

  async createMirror(link: string, topic: string): Promise<void> {
    await this.#call('POST', `/links/${encodeURIComponent(link)}/mirrors`, { source_topic_name: topic })
  }

  async mirror(link: string, topic: string): Promise<MirrorData> {
    return (await this.#call(
      'GET',
      `/links/${encodeURIComponent(link)}/mirrors/${encodeURIComponent(topic)}`,
    )) as MirrorData
  }

  /** Asks for the failover of one mirror; what was accepted continues until the mirror is STOPPED. */
  async failOver(link: string, topic: string): Promise<void> {
    const answer = (await this.#call('POST', `/links/${encodeURIComponent(link)}/mirrors:failover`, {
      mirror_topic_names: [topic],
    })) as AlterMirrorsAnswer
    const refused = answer.data.find(row => (row.error_code ?? 0) !== 0)
    if (refused) throw new DemoError(`the failover of ${topic} was refused: ${refused.error_message}`)
  }

  async #call(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> {
    let answer: Response
    let text: string
    try {
      answer = await fetch(this.#cluster + path, {
        method,
        signal: AbortSignal.timeout(TIMEOUT_MS),
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      })
      text = await answer.text()
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
      throw new DemoError(`the node at ${this.origin} does not answer: ${messageOf(cause)}`)
    }
    if (answer.ok) return text === '' ? undefined : JSON.parse(text)
    const { message, hint } = errorBody(text)
    const Refused = answer.status < 500 ? DemoRefusal : DemoError
    throw new Refused(message ?? `${method} ${path} was answered with HTTP ${answer.status}`, hint)
  }
}

function errorBody(text: string): { message?: string; hint?: string } {
  try {
    return JSON.parse(text) as { message?: string; hint?: string }
  } catch {
    return {}
  }
}
