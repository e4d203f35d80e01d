/** What the REST layer needs beside the link engine: access decisions, plain cluster administration, health. */
import type { Socket } from 'node:net'
import type { Uuid } from '../core/uuid.ts'

/** Who asks; ANONYMOUS without a login. */
export interface Principal {
  readonly type: 'User'
  readonly name: string
}

export type ResourceType = 'cluster' | 'topic' | 'group'
export type Operation = 'describe' | 'alter' | 'create' | 'delete' | 'read' | 'describe_configs'

/** One permission that a request needs (rest-and-cli §A). */
export interface Need {
  readonly operation: Operation
  readonly resource: ResourceType
  readonly name: string
}

/** What most routes need. */
export const describeCluster: Need = { operation: 'describe', resource: 'cluster', name: 'kafka-cluster' }
export const alterCluster: Need = { operation: 'alter', resource: 'cluster', name: 'kafka-cluster' }

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
  /** Are requests that show nothing let in, as ANONYMOUS? */
  readonly anonymousAllowed: boolean
  /** Does `/metrics` answer anybody? */
  readonly metricsOpen: boolean
}

/** Nobody is asked who they are. */
export const noLogin: Login = {
  identify: async () => ({ kind: 'anonymous' }),
  anonymousAllowed: true,
  metricsOpen: true,
}

/** Access for an installation without logins: everybody may do everything. Safe only on loopback. */
export const openAccess: AccessCheck = { firstDenied: () => undefined }

export interface TopicPartitionView {
  readonly partition: number
  readonly leader: number
  readonly replicas: readonly number[]
  readonly isr: readonly number[]
}

export interface TopicView {
  readonly name: string
  readonly topicId: Uuid
  readonly internal: boolean
  readonly replicationFactor: number
  readonly partitions: readonly TopicPartitionView[]
}

export interface TopicConfigView {
  readonly name: string
  readonly value: string | null
  readonly isDefault: boolean
  readonly isReadOnly: boolean
  readonly isSensitive: boolean
  readonly source: string
}

export interface NewTopicRequest {
  readonly name: string
  /** undefined = the cluster's default. */
  readonly partitions: number | undefined
  readonly replicationFactor: number | undefined
  readonly configs: ReadonlyMap<string, string | null>
}

/** The plain cluster. Changes reject with OperationalError. */
export interface ClusterAdmin {
  readonly clusterId: string
  readonly controllerId: number
  brokers(): readonly {
    readonly id: number
    readonly host: string
    readonly port: number
    readonly rack: string | null
  }[]
  topics(): readonly TopicView[]
  topic(name: string): TopicView | undefined
  topicConfigs(name: string): readonly TopicConfigView[]
  createTopic(request: NewTopicRequest): Promise<void>
  deleteTopic(name: string): Promise<void>
}

export interface Health {
  /** What still keeps the node from being ready; empty = ready. */
  notReadyReasons(): readonly string[]
}

/** Metric families that other layers contribute to `/metrics`, already in Prometheus text form. */
export interface MetricsSource {
  text(): Promise<string>
}
