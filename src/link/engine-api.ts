/** The link engine as REST sees it: requests in, views out. Names follow the REST fields so that nothing is decided twice. */
import type { Uuid } from '../core/uuid.ts'
import type { LinkCheck } from './checks/check-list.ts'
import type { LinkState, MirrorSelection, MirrorState, MirrorStatus, TaskView } from './engine-words.ts'
import type { EventsApi } from './event-api.ts'
import type { GroupOffsetView } from './group-offset-view.ts'
import type { ReversalView, StopPoint } from './mirror-ends.ts'
import type { SourceTopicsApi } from './source-topics-api.ts'
import type { VerificationsApi } from './verification-api.ts'

export type { LinkCheck } from './checks/check-list.ts'
export type { LinkState, MirrorSelection, MirrorState, MirrorStatus } from './engine-words.ts'
export { everythingKept, type LinkEngineEvent, type NumberedEvent } from './event-api.ts'
export type { GroupOffsetView } from './group-offset-view.ts'
export type { ReversalView, StopPoint } from './mirror-ends.ts'
export type { TopicExplanation } from './source-topics-api.ts'
export type { VerificationView, VerifiedPartitionView } from './verification-api.ts'

export interface LinkConfigView {
  readonly name: string
  /** null for sensitive values and for "not set". */
  readonly value: string | null
  readonly isDefault: boolean
  readonly isReadOnly: boolean
  readonly isSensitive: boolean
  readonly type: string
  /** As listed; null = none, or sensitive. */
  readonly defaultValue: string | null
  /** The values that are taken, in words; null = the type and the documentation say enough. */
  readonly allowed: string | null
  /** One line. */
  readonly documentation: string
}

/** One change of a link's properties; DELETE resets to the default. */
export interface LinkConfigChange {
  readonly name: string
  readonly operation: 'SET' | 'DELETE'
  /** null only with DELETE. */
  readonly value: string | null
}

export interface AlterLinkReport {
  readonly warnings: readonly string[]
  /** Properties that went with those that were changed: the filters of a feature that was switched off. */
  readonly cleared: readonly string[]
}

export interface LinkView {
  readonly name: string
  readonly linkId: Uuid
  readonly mode: 'DESTINATION' | 'BIDIRECTIONAL'
  readonly sourceClusterId: string | null
  readonly destinationClusterId: string | null
  readonly remoteClusterId: string | null
  readonly topicNames: readonly string[]
  readonly state: LinkState
  /** rest-and-cli §1.4 LinkError. */
  readonly error: string
  readonly errorMessage: string | null
  /** When `error` was first seen (ms since 1970); null while NO_ERROR. */
  readonly errorSinceMs: number | null
  /** How long fetches were held back by throttles since the node started, in ms; those of all connections added up. */
  readonly heldBackMs: number
  /** The worst of its mirrors that are not stopped; null = not known of any. */
  readonly lagMax: number | null
  readonly lagMsMax: number | null
  /** Bytes appended to its mirrors that are not stopped since the node started; falls when one of them ends. */
  readonly mirroredBytes: number
  readonly mirrorCounts: readonly { readonly status: MirrorStatus; readonly count: number }[]
  readonly troubledMirrors: number
  /** Since the node started: offsets of groups written here, and those that were not, by state, once per round. */
  readonly groupOffsets: { readonly synced: number; readonly skipped: ReadonlyMap<string, number> }
  readonly ownedAcls: number
  readonly categoryCounts: readonly { readonly category: string; readonly count: number }[]
  readonly tasks: readonly TaskView[]
}

export interface MirrorLagView {
  readonly partition: number
  /** Records behind the source's high watermark; null before the first fetch. Never negative. */
  readonly lag: number | null
  readonly lagMs: number | null
  /** -1 = never fetched. */
  readonly lastSourceFetchOffset: number
  /** The mirror's own log, null while not open here. */
  readonly logStartOffset: number | null
  readonly logEndOffset: number | null
  readonly sourceHighWatermark: number | null
  /** Where the source's first open transaction begins, or its high watermark; null before the first fetch. */
  readonly sourceLastStableOffset: number | null
  /** Records behind that: what read_committed consumers of the source could read and those here could not. */
  readonly stableLag: number | null
  /** Bytes appended to this partition since the node started. */
  readonly mirroredBytes: number
  readonly mirroredBatches: number
  /** When the source last told something new of this partition (ms since 1970); null = not since the node started. */
  readonly lastFetchTimeMs: number | null
  readonly state: 'ACTIVE' | 'PAUSED' | 'FAILED' | 'STOPPED' | 'PENDING'
  readonly reason: string | null
  /** This node leads the partition, and the figures are its own; otherwise they are what the leader said last. */
  readonly isLedHere: boolean
}

export interface MirrorView {
  readonly linkName: string
  readonly mirrorTopicName: string
  readonly sourceTopicName: string
  readonly numPartitions: number
  readonly lags: readonly MirrorLagView[]
  readonly status: MirrorStatus
  /** rest-and-cli §1.4 MirrorTopicError. */
  readonly error: string
  readonly reason: string | null
  readonly held: boolean
  readonly stateTimeMs: number
  readonly lagMs: number | null
  readonly allowedActions: readonly string[]
  /** Why a promote does not get on; gone when it succeeds. */
  readonly stateTransitionErrors: readonly {
    readonly code: string
    readonly message: string
    /** Wall clock. */
    readonly sinceMs: number
  }[]
  readonly stopPoints: readonly StopPoint[]
  /** The last time that the topic and its counterpart changed roles, or were to; null = not since the verb after it. */
  readonly reversal: ReversalView | null
}

/** One entry of a mirror's history: a change of state, or an incident that changed none. */
export interface MirrorHistoryEntry {
  readonly timeMs: number
  /** The state from then on. */
  readonly state: MirrorState
  /** Equal for an incident; null = it was no mirror before, or the entry before is not kept any more. */
  readonly previousState: MirrorState | null
  readonly event: string
  readonly reason: string
}

export interface CreateLinkRequest {
  readonly name: string
  readonly sourceClusterId: string | undefined
  readonly destinationClusterId: string | undefined
  readonly remoteClusterId: string | undefined
  readonly clusterLinkId: string | undefined
  readonly configs: ReadonlyMap<string, string>
}

export interface CreateMirrorRequest {
  readonly sourceTopicName: string
  readonly mirrorTopicName: string | undefined
  readonly replicationFactor: number | undefined
  readonly configs: ReadonlyMap<string, string>
}

/** Verbs of AlterMirrors; those an installation cannot do yet are refused by the engine, by name. */
export type MirrorVerb =
  | 'promote'
  | 'failover'
  | 'pause'
  | 'resume'
  | 'reverse-and-start-mirror'
  | 'reverse-and-pause-mirror'
  | 'truncate-and-restore'

/** The outcome for one topic of a batch; `errorCode` null = accepted. */
export interface AlterMirrorRow {
  readonly mirrorTopicName: string
  readonly errorCode: number | null
  readonly errorMessage: string | null
  readonly lags: readonly MirrorLagView[]
  readonly partitions: readonly {
    readonly partition: number
    readonly endOffset: number | null
    readonly stopOffset: number | null
    readonly lastKnownLag: number | null
    readonly waitingFor: string | null
    /** Resume: offsets above the mirror's log start that the source has deleted meanwhile; absent = not known, or no resume. */
    readonly deletedAtSource?: number
  }[]
  /** Open transactions that were (or would be) aborted. */
  readonly openTransactions: number
  /** Promote: synced groups whose offsets here are not those of the source yet. */
  readonly groupsBehind?: readonly string[]
  /** Promote: those of them that cannot be brought in step, because they have members here. */
  readonly groupsInUse?: readonly string[]
  /** Failover: what the retention that holds from then on deletes soon; absent = not known, or no failover. */
  readonly retentionBytesAtRisk?: number
  /** Failover: producer ids of the source that may have been handed out here too; the log has forgotten the source's. */
  readonly overlappingProducerIds?: readonly number[]
  /** Restore: records that only this cluster has, and that are cut off. */
  readonly messagesTruncated?: number
  /** Restore: the same by partition; -1 = nothing is cut off. */
  readonly truncation?: readonly {
    readonly partition: number
    readonly offsetTruncatedTo: number
    readonly messagesTruncated: number
  }[]
  /** What an operator should know about how the topic becomes writable. */
  readonly warnings?: readonly string[]
}

export interface DeleteLinkReport {
  readonly failedOver: readonly string[]
  readonly warnings: readonly string[]
}

/** An ACL that a link created; words as Kafka's tools write them. */
export interface OwnedAclView {
  readonly resourceType: string
  readonly resourceName: string
  readonly patternType: string
  readonly principal: string
  readonly host: string
  readonly operation: string
  readonly permission: string
  /** Whom the ACL is about could log in here with SCRAM; null where that cannot be said (everybody, other kinds). */
  readonly hasLogin: boolean | null
}

/** Every method rejects with OperationalError (core/errors.ts); its row says status and code. */
export interface LinkEngine {
  readonly verifications: VerificationsApi
  readonly topics: SourceTopicsApi
  readonly events: EventsApi
  /** The state topic has been replayed and this node is the link coordinator. */
  readonly ready: boolean
  /** For people, while it is not. */
  readonly whyNotReady: string
  /** Other clusters cannot read of the links here yet: that comes right after `ready`, the first time. */
  statusIsDue(): boolean
  /** The state topic has been replayed, whoever coordinates: links and mirrors can be told. */
  readonly replayed: boolean
  createLink(
    request: CreateLinkRequest,
    options: { validateOnly: boolean; validateLink: boolean },
  ): Promise<{ readonly linkId: Uuid; readonly warnings: readonly string[] }>
  /** Everything that the creation of this link would check; nothing is changed. */
  preflightLink(request: CreateLinkRequest): Promise<LinkCheck[]>
  listLinks(): LinkView[]
  describeLink(name: string): LinkView
  describeLinkConfigs(name: string): LinkConfigView[]
  /** All changes or none. */
  alterLinkConfigs(
    name: string,
    changes: readonly LinkConfigChange[],
    options: { validateOnly: boolean },
  ): Promise<AlterLinkReport>
  deleteLink(name: string, options: { force: boolean; validateOnly: boolean }): Promise<DeleteLinkReport>
  createMirror(
    link: string,
    request: CreateMirrorRequest,
    options?: { validateOnly: boolean },
  ): Promise<{ readonly warnings: readonly string[] }>
  /** All links when `link` is undefined. */
  listMirrors(filter: { link: string | undefined; status: string | undefined }): MirrorView[]
  describeMirror(link: string, topic: string): MirrorView
  /** The last 100 entries, the newest first. */
  describeHistory(link: string, topic: string): MirrorHistoryEntry[]
  /** As the last rounds of the group offset sync found them. */
  listGroupOffsets(link: string): GroupOffsetView[]
  /** Lets the link overwrite what the group has here. Resolves to the number of offsets. */
  adoptGroup(link: string, group: string): Promise<number>
  /** In the order of their resources. */
  listOwnedAcls(link: string): OwnedAclView[]
  /** Runs a sync task once more, now. */
  runTask(link: string, task: string): void
  /** Incidents on this node since it started, by kind; kinds without any are there with 0. */
  incidentCounts(): ReadonlyMap<string, number>
  alterMirrors(
    link: string,
    verb: MirrorVerb,
    request: {
      selection: MirrorSelection
      validateOnly: boolean
      together?: boolean
      /** Failover; undefined = as the link says. */
      keepRetention?: boolean | undefined
      /** Restore: ends as PAUSED. */
      paused?: boolean | undefined
      /** Restore: what is cut off is exported first. */
      exportDivergent?: boolean | undefined
    },
  ): Promise<AlterMirrorRow[]>
}
