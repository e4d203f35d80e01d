/** What a cluster publishes in `__lockstep_status`, as other clusters read it. Written by the publisher, read by the links of others. */
import type { Uuid } from '../../core/uuid.ts'

/** There once everything was published for the first time: what is missing then is not there. */
export interface ClusterStatus {
  readonly clusterId: string
  /** It can make an ordinary topic of its own a mirror, and so take part in a reverse. */
  readonly takesReverses: boolean
}

export interface LinkStatus {
  readonly linkId: Uuid
  readonly name: string
  /** `DESTINATION`, or a mode of another version. */
  readonly mode: string
  readonly remoteClusterId: string | undefined
  readonly createdTimeMs: number
  /** Of which groups it writes offsets there, as `consumer.offset.group.filters`; empty = of none, undefined = it does not tell. */
  readonly groupFilters: string | undefined
  /** `cluster.link.paused`: it begins nothing. */
  readonly isPaused: boolean
  /** Why it cannot work with the other half, as its PeerCheck says; undefined = it can, or does not tell. */
  readonly problem: string | undefined
}

/** One topic of one cluster in the chain behind a mirror. */
export interface ChainHop {
  readonly clusterId: string
  readonly topic: string
  /** Zero uuid where the cluster has no topic ids. */
  readonly topicId: Uuid
}

/**
 * What is known behind the last hop: `origin` = it is no mirror; `unchecked` = its cluster publishes nothing that could be
 * read; `loop` = the chain comes back to a hop before; `too-long` = hops beyond `hopsMax` are left out.
 */
export type ChainEnd = 'origin' | 'unchecked' | 'loop' | 'too-long'

/** Hops of a chain that are followed. */
export const hopsMax = 16

/** True value of a topic config, also where the cluster holds another one in its place while the topic is a mirror. */
export interface PublishedConfig {
  readonly name: string
  readonly value: string | null
  readonly overridden: boolean
}

export interface MirrorStatus {
  readonly linkId: Uuid
  readonly mirrorTopic: string
  readonly topicId: Uuid
  readonly linkName: string
  /** A state of mirrors, or one of another version: everything but STOPPED is a mirror. */
  readonly state: string
  readonly stateEpoch: number
  readonly stateTimeMs: number
  readonly partitions: number
  /** The source first, then what it mirrors, and so on. */
  readonly chain: readonly ChainHop[]
  /** One of ChainEnd, or a word of another version. */
  readonly chainEnd: string
  /** Empty when STOPPED: then the cluster itself shows the true ones. */
  readonly configs: readonly PublishedConfig[]
}

/** Where one partition of a mirror ended, and with which source epochs its data came: what a restore starts from. */
export interface StopPointStatus {
  readonly linkId: Uuid
  readonly mirrorTopic: string
  readonly partition: number
  readonly topicId: Uuid
  readonly sourceClusterId: string
  readonly sourceTopicId: Uuid
  /** End of what came from the source, before any marker of ours. */
  readonly stopOffset: number
  readonly lastSourceEpoch: number | undefined
  readonly timeMs: number
  /** Ascending; each range begins at `firstOffset` and ends where the next begins. */
  readonly sourceEpochs: readonly { readonly epoch: number; readonly firstOffset: number }[]
  /** It was the source of a reverse, and stayed it: the other side's mirror may have had less of it, or nothing. */
  readonly ofSource: boolean
}

/** How far a topic is that changes roles with its counterpart; of both sides. */
export interface ReversalStatus {
  readonly linkId: Uuid
  readonly mirrorTopic: string
  readonly topicId: Uuid
  /** Of the mirror's record that is published beside it; another one = the two do not belong together. */
  readonly stateEpoch: number
  /** Which reverse it is: a number that the mirror gave. */
  readonly request: number
  /** The old source shall end as PAUSED. */
  readonly paused: boolean
  /** Of the old source: where it ends for good; empty until that is known. Index = partition. */
  readonly sealedOffsets: readonly number[]
  /** Of the old source: it wants to stay it. */
  readonly withdrawn: boolean
  /** Of the old source: transactions that it aborted. */
  readonly abortedTransactions: number
  /** Of the old source: how long nobody could write; undefined = not over. */
  readonly windowMs: number | undefined
  /** What it is at, for people; empty = nothing to say. */
  readonly reason: string
  /** Of the old source: clients may write it still. */
  readonly admitsWriters: boolean
  /** Of the mirror: it takes over with what it has, and waits for nothing but that nobody writes the source. */
  readonly isHurried: boolean
}

/** Is the topic that this is about written by its link, rather than by clients? */
export const isMirroring = ({ state }: Pick<MirrorStatus, 'state'>): boolean => state !== 'STOPPED'
