/** What the REST layer needs beside the link engine: access decisions, plain cluster administration, health. */
import type { Uuid } from '../core/uuid.ts'

/** Who asks. Only ANONYMOUS for now; logins give others. */
export interface Principal {
  readonly type: 'User'
  readonly name: string
}

export type ResourceType = 'cluster' | 'topic' | 'group'
export type Operation = 'describe' | 'alter' | 'create' | 'delete' | 'read'

/** One permission that a request needs (rest-and-cli §A). */
export interface Need {
  readonly operation: Operation
  readonly resource: ResourceType
  readonly name: string
}

export interface AccessCheck {
  /** The first need that `principal` lacks; undefined = all allowed. */
  firstDenied(principal: Principal, needs: readonly Need[]): Need | undefined
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
