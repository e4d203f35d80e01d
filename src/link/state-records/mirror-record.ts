/** The record of one mirror topic in `__lockstep_state`: its state and everything that must outlive the node that decides it. */
import type { Uuid } from '../../core/uuid.ts'
import type { MirrorState } from '../engine-api.ts'

/** A partition that does not follow its source any more, and why. */
export interface PartitionFailure {
  readonly partition: number
  /** rest-and-cli §1.4 MirrorTopicError. */
  readonly error: string
  readonly reason: string
  readonly timeMs: number
}

/** Where a partition ended as a mirror, durable before the write fence drops. */
export interface StopPointRecord {
  readonly partition: number
  /** End of what came from the source, before any marker of ours. */
  readonly stopOffset: number
  readonly lastSourceEpoch: number | undefined
  readonly timeMs: number
  /** -1 = never fetched since the node started. */
  readonly lastSourceFetchOffset: number
  /** Lag behind the last source high watermark seen; undefined = unknown. */
  readonly lag: number | undefined
  /** Transactions that were open in the mirror's log and got our ABORT markers. */
  readonly openTransactions: number
  /** Producers of the source in the mirror's log whose ids may have been handed out here too, before the barrier; bounded. */
  readonly overlappingProducerIds: readonly bigint[]
  /** It was no mirror that stopped, but the source of a reverse, which stayed it: its mirror may have had less of it, or nothing. */
  readonly ofSource: boolean
}

/** One entry of the history, newest last. */
export interface StateChange {
  readonly state: MirrorState
  readonly event: string
  readonly reason: string
  readonly timeMs: number
}

/** A failure of the whole topic that is retried, and since when (wall clock: it survives restarts). */
export interface TroubleSince {
  readonly kind: string
  readonly sinceMs: number
}

/** A verb on its way to STOPPED: from this record on the mirror never fetches again. */
export interface StoppingRecord {
  readonly verb: 'failover' | 'promote'
  readonly sinceMs: number
  /** What the topic's own retention would delete is to be left. */
  readonly keepsRetention: boolean
  /** The log is ready to be somebody else's: from here on it may be written by clients, and is not touched any more. */
  readonly handOver: HandOverRecord | undefined
}

/** What going on with a release after a crash needs. */
export interface HandOverRecord {
  /** The destination's own. */
  readonly plan: string
  /** Log ends behind our markers; index = partition. */
  readonly endOffsets: readonly number[]
  /** What was not certain so far. */
  readonly warnings: readonly string[]
}

/** Where a restore cuts one partition, decided while nobody could write it. */
export interface CutRecord {
  readonly partition: number
  /** Everything below is at the other cluster too; the log ends here afterwards. */
  readonly offset: number
  /** End of the log when it was decided. */
  readonly endOffset: number
  /** Data records in between. */
  readonly messages: number
  /** Leader epoch that the last common batch has at the other cluster; undefined = nothing of it is left there. */
  readonly sourceEpoch: number | undefined
}

/** A topic that is being made a mirror again of the cluster that has gone on without it. */
export interface RestoreRecord {
  /** It ends as PAUSED. */
  readonly paused: boolean
  /** What is cut off is exported first. */
  readonly exportsTail: boolean
  readonly sinceMs: number
  /** Index = partition; empty until they are decided. */
  readonly cuts: readonly CutRecord[]
  /** What the destination needs to make it an ordinary topic again as it was; its own. */
  readonly plan: string
  /** Why nothing comes of it: the topic is on its way back to what it was. */
  readonly givenUp: string | undefined
}

/** A mirror and its source that change roles; kept on both sides. */
export interface ReversalRecord {
  /** The old source ends as PAUSED. */
  readonly paused: boolean
  readonly sinceMs: number
  /** Which reverse of that mirror it is: its state epoch when it began. The same on both sides. */
  readonly request: number
  /** At the mirror: others that are reversed with it, as one. */
  readonly together: readonly string[]
  /** At the old source: not even markers of transactions are written any more. */
  readonly closed: boolean
  /** At the old source: where its partitions end, once they are closed; index = partition. */
  readonly sealedOffsets: readonly number[]
  /** At the old source: transactions that had not ended in time, and were aborted. */
  readonly abortedTransactions: number
  /** At the old source: somebody wants it back; it is given back when the mirror follows it again. */
  readonly withdrawn: boolean
  /** How long nobody could write, by the clock of the old source; undefined = that is not over, or not known here yet. */
  readonly windowMs: number | undefined
  /** At the old source, where others lead it: are they still to let clients write it? */
  readonly writers: ReversalWriters
  /** At the mirror: it takes over now, with what it has, as soon as the source has closed. */
  readonly hurried: boolean
  /** At the old source: what the destination needs to give it back as it was; its own. */
  readonly plan: string
  /** At the old source: why nothing comes of it; it is on its way back to what it was. */
  readonly givenUp: string | undefined
}

/** `admitted`: a copy is being made meanwhile. `leaving`: they are being kept out. `refused`: nobody writes it. */
export type ReversalWriters = 'admitted' | 'leaving' | 'refused'

/** One that has just been asked for. */
export const newReversal = (
  of: Pick<ReversalRecord, 'paused' | 'sinceMs' | 'request' | 'together'> &
    Partial<Pick<ReversalRecord, 'writers' | 'plan'>>,
): ReversalRecord => {
  const open = { closed: false, sealedOffsets: [], abortedTransactions: 0, withdrawn: false, windowMs: undefined }
  return { ...open, writers: 'refused', hurried: false, plan: '', givenUp: undefined, ...of }
}

export interface MirrorRecord {
  readonly linkId: Uuid
  readonly mirrorTopic: string
  /** The destination topic that this record is bound to; another topic of the name is none of ours. */
  readonly topicId: Uuid
  readonly sourceTopic: string
  readonly sourceTopicId: Uuid
  readonly sourceClusterId: string
  readonly createdTimeMs: number
  readonly state: MirrorState
  /** Grows with every change of state. */
  readonly stateEpoch: number
  readonly stateTimeMs: number
  readonly reason: string | undefined
  readonly held: boolean
  /** The state that FAILED was entered from. */
  readonly failedFrom: MirrorState | undefined
  readonly failures: readonly PartitionFailure[]
  readonly troubles: readonly TroubleSince[]
  readonly stopping: StoppingRecord | undefined
  /** While PENDING_SETUP_FOR_RESTORE or PENDING_RESTORE. */
  readonly restore: RestoreRecord | undefined
  /** While roles change, and after that until the next verb: the last time that they did. */
  readonly reversal: ReversalRecord | undefined
  /** Mirrors of the link that a promote of this one stops together with it; empty unless PENDING_STOPPED. */
  readonly together: readonly string[]
  /** Index = partition. Resolved once, at creation. */
  readonly startOffsets: readonly number[]
  readonly stopPoints: readonly StopPointRecord[]
  /** Overrides that the topic is meant to have by keys that the write fence has values of its own for. */
  readonly trueConfigs: ReadonlyMap<string, string>
  readonly history: readonly StateChange[]
}

/** Entries of the history that are kept. */
export const historyMax = 100
