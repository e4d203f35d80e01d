/** What the link engine needs from outside. `source/` implements the first half (the other cluster), `destination/` the second (this cluster), fakes both. Nothing here assumes that the destination's log is on this node. */
import type { RetentionLimits } from '../core/retention-limits.ts'
import type { Uuid } from '../core/uuid.ts'
import type { AclBinding, AclRefusal, ClusterAcls } from './acl-ports.ts'
import type { WriteFence } from './fence-ports.ts'
import type { EpochEnd, SourceFetcher } from './fetch-sink.ts'
import type { DestinationGroups, SourceGroups } from './group-ports.ts'
import type { SourceConnectionSettings } from './source-settings.ts'
import type { SourceProbe, SourceSurvey } from './source-survey.ts'
import type { AbortedTransactions, OpenTransaction, SourceTransaction } from './transaction-ports.ts'

// ---------------------------------------------------------------------------------------------------- the source cluster

export type { AclBinding, AclRefusal, ClusterAcls } from './acl-ports.ts'
export type { ReleaseOutlook, ReleaseRequest, WriteFence } from './fence-ports.ts'
export type { DestinationGroup, GroupCommit, GroupOffset, SourceGroup, SourceGroupOffsets } from './group-ports.ts'
export { commitsOffsets, isShareGroup } from './group-ports.ts'
export { isSealed, type SecretBox, SecretBoxError, sealedParts, sealedText } from './secret-box.ts'
export { SourceError, type SourceFailure } from './source-error.ts'
export type { SecurityTexts, SourceConnectionSettings } from './source-settings.ts'
export type { SourceProbe, SourceSurvey, SurveyedAddress, SurveyedTopics } from './source-survey.ts'

export interface SourceBroker {
  readonly id: number
  readonly host: string
  readonly port: number
  readonly rack: string | null
}

export interface SourceClusterFacts {
  readonly clusterId: string
  readonly brokers: readonly SourceBroker[]
}

export interface SourcePartition {
  readonly partition: number
  /** -1 = no leader now. */
  readonly leader: number
  readonly leaderEpoch: number
}

export interface SourceTopic {
  readonly name: string
  /** Zero uuid below Kafka 2.8. */
  readonly topicId: Uuid
  readonly internal: boolean
  readonly partitions: readonly SourcePartition[]
  /** May the link's credentials read its records? Absent = the source did not tell. */
  readonly mayRead?: boolean
}

/** Effective value of one topic config at the source. */
export interface SourceTopicConfig {
  readonly value: string | null
  /** An override of the topic itself, rather than a default of the broker. */
  readonly overridden: boolean
}

export type OffsetSpec = 'earliest' | 'latest' | { readonly timestampMs: bigint }

export interface SourceClusterFactory {
  /**
   * Cheap and never fails: connections are made when first needed. `onTrouble` is called whenever a connection cannot be made
   * or is lost, as often as that happens.
   */
  open(settings: SourceConnectionSettings, onTrouble?: () => void): SourceCluster
}

/** One remote cluster as a link sees it. Every question rejects with SourceError. */
export interface SourceCluster extends SourceGroups {
  /** Asks a bootstrap server anew: cluster id and brokers. */
  describeCluster(signal?: AbortSignal): Promise<SourceClusterFacts>
  /**
   * Proves the connection anew: a bootstrap server, then brokers that could not be reached lately, then whether any of these
   * topics may be described. Rejects if nothing of one of the three works.
   */
  probe(topics: readonly string[], signal?: AbortSignal): Promise<SourceProbe>
  /** Tries everything there is to try, for preflights; what fails is in the answer. */
  survey(signal?: AbortSignal): Promise<SourceSurvey>
  /**
   * Metadata of the named topics; a missing one is absent from the answer. `'all'` lists what the credentials may describe,
   * without what cannot be described now.
   */
  describeTopics(names: readonly string[] | 'all', signal?: AbortSignal): Promise<SourceTopic[]>
  describeTopicConfigs(
    names: readonly string[],
    signal?: AbortSignal,
  ): Promise<Map<string, Map<string, SourceTopicConfig>>>
  /** Asked of each partition's leader; a timestamp past the end answers the end. */
  listOffsets(
    topic: string,
    partitions: readonly number[],
    query: {
      readonly spec: OffsetSpec
      readonly isolation: 'read_uncommitted' | 'read_committed'
      readonly signal?: AbortSignal | undefined
    },
  ): Promise<Map<number, number>>
  /** Reads raw batches from `offset` on, at most about `maxBytes` (for verify, CRC comparisons, what clusters publish). */
  readBatches(
    topic: string,
    partition: number,
    range: {
      readonly offset: number
      readonly maxBytes: number
      /**
       * Waits for the throttle of the link and asks for as much as a fetch may: for whoever reads a lot. Whoever decides
       * something with what it reads does not wait behind the data; it is paid for all the same.
       */
      readonly takesTurns?: boolean
      readonly signal?: AbortSignal | undefined
    },
  ): Promise<Buffer>
  /** OffsetForLeaderEpoch of one partition, asked of its leader (KIP-320). */
  endOfEpoch(
    topic: string,
    partition: number,
    question: { readonly epoch: number; readonly signal?: AbortSignal | undefined },
  ): Promise<EpochEnd>
  /** Open transactions in these partitions; empty where the source cannot tell, or may not. */
  openTransactions(
    topic: string,
    partitions: readonly number[],
    signal?: AbortSignal,
  ): Promise<readonly SourceTransaction[]>
  /** All ACLs. */
  describeAcls(signal?: AbortSignal): Promise<ClusterAcls>
  readonly fetcher: SourceFetcher
  /** Closes all connections and waits for them. */
  close(): Promise<void>
}

export type {
  EpochEnd,
  FetchedBatches,
  FetchPosition,
  FetchSink,
  FetchTrouble,
  SinkDecision,
  SourceFetcher,
} from './fetch-sink.ts'

// ----------------------------------------------------------------------------------------------- the destination cluster

/** What a destination's log can do; a destination of another kind may lack some of it. */
export interface MirrorLogCapabilities {
  readonly truncate: boolean
  readonly startAnywhere: boolean
}

export interface MirrorLogState {
  readonly logStartOffset: number
  readonly logEndOffset: number
  readonly highWatermark: number
  readonly leaderEpoch: number
  /** Holds no batch, not even one below the log start: the first to be appended may begin below the log end. */
  readonly isEmpty: boolean
  /** Below it, records may have been removed because a later one of their key was there; absent = nothing was compacted. */
  readonly cleanedOffset?: number
  /** Leader epoch of the last batch here; absent = there is none, or it is not known. Told by `refresh`, like the next. */
  readonly lastEpoch?: number | undefined
  /**
   * Largest end of the log at any in-sync replica: above the log end until a cut has reached them all. Absent = not known now.
   */
  readonly replicasEnd?: number | undefined
}

/** The compare-and-set of an append failed: somebody else moved the log, or we are not its leader any more. */
export class MirrorLogConflict extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'MirrorLogConflict'
  }
}

/** One mirror partition's log at the destination. */
export interface MirrorLog {
  readonly capabilities: MirrorLogCapabilities
  /** Of a log that another node leads: as its last answer said. */
  state(): MirrorLogState
  /** As it is now, wherever it is led; `state` says so from then on. */
  refresh(): Promise<MirrorLogState>
  /**
   * To be called before the log is used, whenever this node has come to lead it: what others appended meanwhile is cut if it is no
   * record of theirs; rejects if it is.
   */
  reclaim(): Promise<void>
  /**
   * Appends whole verified batches as they are; only the leader epoch is restamped. `expectedEndOffset` is compared with the
   * log end, `leaderEpoch`, if given, with the present one; the first batch of an empty log may begin below it. Rejects with MirrorLogConflict. The buffer may be
   * modified in place and must stay untouched by the caller until this settles.
   */
  append(batches: Buffer, options: { expectedEndOffset: number; leaderEpoch?: number }): Promise<MirrorLogState>
  /** Makes an empty log begin at `offset`, or moves the end forward to it, leaving a hole. */
  startAt(offset: number): Promise<MirrorLogState>
  /** Raises the log start as far as the log allows (never above the high watermark); never lowers it. */
  raiseLogStart(offset: number): Promise<MirrorLogState>
  truncateTo(offset: number): Promise<MirrorLogState>
  openTransactions(): readonly OpenTransaction[]
  /** Appends an ABORT marker for every open transaction; resolves to what was aborted. */
  abortOpenTransactions(): Promise<readonly OpenTransaction[]>
  /** The last batch, for comparison with the source. */
  lastBatch(): Promise<{ baseOffset: number; lastOffset: number; crc: number } | undefined>
  /**
   * Below it, records may have been removed because a later one of their key was there, by whichever broker; 0 = nothing was. May
   * read the log.
   */
  compactedTo(): Promise<number>
  /** Raw batches for verify. */
  readBatches(range: { offset: number; maxBytes: number }): Promise<Buffer>
  /** Largest producer id in the log; -1n if none. */
  producerIdMax(): bigint
  /** Producers that would be taken for those of this cluster if they had the same ids. */
  producerIds(): readonly bigint[]
  /** How many bytes retention within these limits would delete now, if nothing kept it from the log. */
  retentionBytesAtRisk(limits: RetentionLimits): Promise<number>
  /** Resolves when everything appended before the call is on disk. */
  flush(): Promise<void>
}

export interface DestinationTopic {
  readonly name: string
  readonly topicId: Uuid
  readonly partitions: number
}

/** One topic config of this cluster. */
export interface DestinationTopicConfig {
  /** The value that holds. */
  readonly value: string | null
  /** The topic has an override of its own. */
  readonly overridden: boolean
  /** What would hold without it. */
  readonly inherited: string | null
}

export type CreateTopicResult =
  | { readonly ok: true; readonly topic: DestinationTopic }
  | { readonly ok: false; readonly reason: 'exists' | 'invalid' | 'failed'; readonly message: string }

/** This cluster as the link engine sees it. */
export interface Destination extends DestinationGroups {
  readonly clusterId: string
  topic(name: string): DestinationTopic | undefined
  topicById(topicId: Uuid): DestinationTopic | undefined
  /** What a new topic would have for this topic config; undefined = a key that is not known here. */
  defaultTopicConfig(key: string): string | null | undefined
  /** What a topic config is now; undefined = a key that is not known here, or no such topic. */
  topicConfig(topicId: Uuid, key: string): DestinationTopicConfig | undefined
  /** Sets overrides, or with null removes them; other keys stay. Rejects with the reason, having changed nothing. */
  alterTopicConfigs(topicId: Uuid, changes: ReadonlyMap<string, string | null>): Promise<void>
  createTopic(
    request: { name: string; partitions: number; replicationFactor: number; configs: ReadonlyMap<string, string> },
    options: { validateOnly: boolean },
  ): Promise<CreateTopicResult>
  /** Grows the topic to `count` partitions; resolves when it has them, at once if it had. */
  createPartitions(topicId: Uuid, count: number): Promise<void>
  /** Called after topics appeared or went (also those of others). Returns the function that stops the calls. */
  onTopicsChanged(listener: () => void): () => void
  /** Does this node lead the partition? Then it is mirrored here. Answers from memory; changes are told by `onTopicsChanged`. */
  leads(topicId: Uuid, partition: number): boolean
  /** The log of a partition that this node leads, to be mirrored into; rejects while it does not. */
  openLedLog(topicId: Uuid, partition: number): Promise<MirrorLog>
  /** The log of a mirror partition, on whichever node mirrors it; rejects while it cannot be reached. */
  openMirrorLog(topicId: Uuid, partition: number): Promise<MirrorLog>
  /** The log of any partition wherever it is led, to be looked at, or ended as a mirror's; nothing can be mirrored into it. */
  openEndingLog(topicId: Uuid, partition: number): Promise<MirrorLog>
  /** Producer ids below may have been handed out here. 0 = only `raiseProducerIds` finds out which are in use. */
  readonly producerIdEnd: bigint
  /**
   * Every later producer id of this cluster will be above `highest`; resolves to what of that is not certain. `mirrored`: producers
   * that mirrored logs remember.
   */
  raiseProducerIds(highest: bigint, mirrored: ReadonlySet<bigint>): Promise<readonly string[]>
  readonly fence: WriteFence
  /**
   * Aborts what these producers have open in the topic, as time-outs would: they learn of it. Resolves to how many, and to how many more
   * are about to end; rejects where that cannot be known now. Absent where there are no coordinators.
   */
  abortTransactions?(topic: string, producerIds: ReadonlySet<bigint>): Promise<AbortedTransactions>
  acls(): ClusterAcls
  /** Resolves to those that were refused; one that is there already is none of them. */
  createAcls(acls: readonly AclBinding[]): Promise<readonly AclRefusal[]>
  /** Resolves to those that could not be deleted; one that is not there is none of them. */
  deleteAcls(acls: readonly AclBinding[]): Promise<readonly AclRefusal[]>
  /** Has somebody of this name SCRAM credentials here? */
  hasLogin(user: string): boolean
}

export type { ExportedTail, TailExport, TailExports } from './restore/tail-export-port.ts'
export {
  NotLinkCoordinator,
  type StateLeadership,
  type StateLog,
  type StateProposal,
  type StateRecord,
} from './state-ports.ts'
export type { AbortedTransactions, OpenTransaction, SourceTransaction } from './transaction-ports.ts'
export type { WriteStatus } from './write-status.ts'
