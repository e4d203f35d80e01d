/** What the REST layer needs beside the link engine and the plain cluster (`cluster-ports.ts`): logins, access decisions, health. */
import type { Socket } from 'node:net'

/** Who asks; ANONYMOUS without a login. */
export interface Principal {
  readonly type: 'User'
  readonly name: string
}

export type ResourceType = 'cluster' | 'topic' | 'group'
export type Operation =
  | 'describe'
  | 'alter'
  | 'create'
  | 'delete'
  | 'read'
  | 'write'
  | 'describe_configs'
  | 'alter_configs'

/** One permission that a request needs (rest-and-cli §A). */
export interface Need {
  readonly operation: Operation
  readonly resource: ResourceType
  readonly name: string
}

/** What most routes need. */
export const describeCluster: Need = { operation: 'describe', resource: 'cluster', name: 'kafka-cluster' }
export const alterCluster: Need = { operation: 'alter', resource: 'cluster', name: 'kafka-cluster' }
export const describeClusterConfigs: Need = {
  operation: 'describe_configs',
  resource: 'cluster',
  name: 'kafka-cluster',
}
export const topicNeed = (operation: Operation, name: string): [Need] => [{ operation, resource: 'topic', name }]

/** The sender of a request. */
export interface RestClient {
  readonly principal: Principal
  /** Its address. */
  readonly host: string
  readonly loggedIn: boolean
}

export interface AccessCheck {
  /** The first need that the client lacks; undefined = all allowed. */
  firstDenied(client: RestClient, needs: readonly Need[]): Need | undefined
}

/** What a request shows of its sender. */
export interface ShownIdentity {
  /** The header, if there is one. */
  readonly authorization: string | undefined
  /** Knows the certificate of the client, where it has shown one. */
  readonly socket: Socket
  readonly address: string
}

export type LoginResult =
  | { readonly kind: 'known'; readonly principal: Principal }
  /** Nothing was shown. */
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'refused'; readonly reason: string }
  /** Too many wrong ones before: this one was not looked at. */
  | { readonly kind: 'limited'; readonly retryAfterSeconds: number }

export interface Login {
  /** May be slow: that is how wrong passwords are slowed down. */
  identify(shown: ShownIdentity): Promise<LoginResult>
  /** May a request that shows nothing call this node by that name (its Host header)? A page in a browser may have made a name of its own lead here. */
  isTrustedHost(host: string): boolean
  /** Are requests that show nothing let in, as ANONYMOUS? */
  readonly anonymousAllowed: boolean
  /** Does `/metrics` answer anybody? */
  readonly metricsOpen: boolean
}

/** Nobody is asked who they are. */
export const noLogin: Login = {
  identify: async () => ({ kind: 'anonymous' }),
  isTrustedHost: () => true,
  anonymousAllowed: true,
  metricsOpen: true,
}

/** Access for an installation without logins: everybody may do everything. Safe only on loopback. */
export const openAccess: AccessCheck = { firstDenied: () => undefined }

export interface Health {
  /** What still keeps the node from being ready; empty = ready. */
  notReadyReasons(): readonly string[]
}

/** Metric families that other layers contribute to `/metrics`, already in Prometheus text form. */
export interface MetricsSource {
  text(): Promise<string>
}

/** One file of the operator's page. */
export interface PageFile {
  readonly contentType: string
  readonly bytes: Buffer
  readonly gzipped: Buffer
}

/** The operator's page: `index.html` and what it loads, by name. */
export type PageFiles = ReadonlyMap<string, PageFile>

/** What of a request one node vouches for to another. */
export interface ForwardedRequest {
  readonly method: string
  readonly url: string
  /** As it is sent; '' = none. */
  readonly body: string
}

/** Where nodes of one cluster call each other. */
export const peerCallPath = (call: string): string => `/lockstep/v1/peer-calls/${call}`

export interface PeerCallHandler {
  /** The answer of a call, an object for JSON; `nodeId`: the node that it is from. Does not reject. */
  answer(call: string, body: unknown, nodeId: number): Promise<object>
}

/** The other nodes of this cluster: whom requests about links are passed on to, and who passes them on. */
export interface Forwarding {
  /** Of another node; undefined = it is this one, or there is none now. */
  coordinator(): { readonly nodeId: number; readonly origin: string } | undefined
  /** A header by which this node says to that one who the sender is. */
  vouch(request: ForwardedRequest, by: { readonly client: RestClient; readonly nodeId: number }): string
  /** The node that such a header says it is from; undefined = it cannot be read. Not believed before `problemOf`. */
  nodeOf(header: string): number | undefined
  /** The sender that such a header names; undefined = it cannot be read. Not believed before `problemOf`. */
  clientOf(header: string): RestClient | undefined
  /** Why the header is not to be believed; undefined = another node of this cluster has made it, for this request. */
  problemOf(header: string, request: ForwardedRequest): string | undefined
  send(url: string, init: RequestInit): Promise<Response>
}
