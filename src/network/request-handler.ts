/** What a listener and the code behind it (broker/ handlers) say to each other about one request. */

/** The identity that the connection logged in as. */
export interface Principal {
  readonly type: 'User'
  readonly name: string
}

/** Who is not asked to log in. */
export const ANONYMOUS: Principal = { type: 'User', name: 'ANONYMOUS' }

/** The client library as it introduced itself in ApiVersions (KIP-511). */
export interface ClientSoftware {
  readonly name: string
  readonly version: string
}

/** One request, its header parsed and checked: key and version are ones that the listener serves. */
export interface IncomingRequest {
  readonly apiKey: number
  readonly apiVersion: number
  readonly correlationId: number
  readonly clientId: string | null
  /** What follows the header. Belongs to the request: nobody else writes to it. */
  readonly body: Buffer
  /** Monotonic time at which the last byte had arrived. */
  readonly receivedMs: number
  readonly progress: RequestProgress
}

/** What a handler may tell the connection about a request under way. */
export interface RequestProgress {
  /**
   * The request's effects have their place in the order of things, only the answer has to wait (for the disk, for replicas): the
   * next request of the same API may begin. Answers keep the order of the requests.
   */
  accepted(): void
  /** Called once, when the answer is written or never will be: memory that it is made of may be used again. */
  onAnswered(release: () => void): void
  /** The client is over its quota: no further request of the connection is begun for so long. */
  pause(ms: number): void
}

/** For requests that come from no connection. */
export const unwatchedProgress: RequestProgress = { accepted: () => {}, onAnswered: () => {}, pause: () => {} }

/** The connection that a request came on. */
export interface ClientContext {
  /** `local:port-remote:port-number`, unique in the process's life. */
  readonly connectionId: string
  readonly remoteAddress: string
  readonly remotePort: number
  /** Name of the listener, e.g. PLAINTEXT. */
  readonly listener: string
  readonly principal: Principal
  /** Undefined until the client introduced itself. */
  readonly clientSoftware: ClientSoftware | undefined
  /** Aborted when the connection is gone: waiting for its sake is pointless. */
  readonly signal: AbortSignal
  /** Largest answer that this client should get now: small until it has shown that it reads, so that one that never does costs little. */
  readonly answerBytesMax: number
}

/**
 * Answers one request with the chunks of the response body (the listener adds size and header; the chunks are written
 * as they are, uncopied, so they must stay unchanged), or undefined for none (Produce with acks=0). It answers failures in
 * the protocol's way; a rejection closes the connection.
 */
export type RequestHandler = (request: IncomingRequest, client: ClientContext) => Promise<readonly Buffer[] | undefined>
