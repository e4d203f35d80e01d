// What is compared between Apache Kafka and Lockstep: one request, and the part of its answer that must be equal.
import type { Uuid } from '../../src/core/uuid.ts'
import { errorName } from '../../src/protocol/errors.ts'
import type { Api } from '../../src/protocol/schema/message.ts'
import { ask, type Peer } from './raw-exchange.ts'

/** Asked of both nodes in the order of the list: later cases see what earlier ones did. */
export interface ParityCase {
  /** Unique; begins with the API. */
  readonly name: string
  /** Resolves to what the node answers, as text that can be compared. */
  readonly ask: (peer: Peer) => Promise<string>
}

export interface CaseOptions<QI, R> {
  /** Default: the highest. */
  readonly version?: number | undefined
  readonly clientId?: string | undefined
  /** See `ask`. */
  readonly patienceMs?: number | undefined
  readonly request: QI | ((peer: Peer) => QI)
  /** The part that is compared; default: all of it. */
  readonly show?: (answer: R, peer: Peer) => unknown
}

export const parityCase = <Q, QI, R, RI>(
  what: string,
  api: Api<Q, QI, R, RI>,
  options: CaseOptions<QI, R>,
): ParityCase => ({
  name: `${api.name} ${what}`,
  async ask(peer) {
    const { request, show = answer => answer, version = api.request.versions.max, clientId, patienceMs } = options
    const asked = typeof request === 'function' ? (request as (peer: Peer) => QI)(peer) : request
    const answer = await ask(peer, { api, request: asked, version, clientId, patienceMs })
    return typeof answer === 'string' ? answer : comparable(show(answer, peer))
  },
})

/** Differs from node to node by nature. */
const LEFT_OUT: ReadonlySet<string> = new Set(['topicId', 'clusterId', 'port', 'throttleTimeMs', 'logDir'])

/** JSON with errors by name, without their texts (ours are our own) and without what belongs to one node only. */
export function comparable(value: unknown): string {
  return JSON.stringify(value, (key, part: unknown) => {
    if (LEFT_OUT.has(key) || key.toLowerCase().includes('errormessage')) return undefined
    if (key === 'errorCode' && typeof part === 'number') return errorName(part)
    if (typeof part === 'bigint') return String(part)
    return isBufferJson(part) ? `${part.data.length} bytes` : part
  })
}

/** Buffers are already JSON when the replacer sees them. */
const isBufferJson = (part: unknown): part is { data: number[] } =>
  typeof part === 'object' && part !== null && 'type' in part && part.type === 'Buffer'

/** For lists without an order of their own. */
export const sortedBy = <T>(items: readonly T[], key: (item: T) => string): T[] =>
  items.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))

export const topicIdOf = ({ topicIds }: Peer, topic: string): Uuid => topicIds.get(topic) ?? UNKNOWN_ID

/** Of no topic. */
export const UNKNOWN_ID = 'AAAAAAAAAAAAAAAAAAAAdA' as Uuid
