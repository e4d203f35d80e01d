/** Part of the destination port: `__lockstep_state`, the only database of the engine, and who may write it. */
import type { Uuid } from '../core/uuid.ts'

export interface StateRecord {
  readonly key: Buffer
  /** null = tombstone. */
  readonly value: Buffer | null
}

/** Another coordinator took over, or this node does not lead the state topic. */
export class NotLinkCoordinator extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'NotLinkCoordinator'
  }
}

/** Who is the link coordinator: the leader of the state topic, under its leader epoch. */
export interface StateLeadership {
  /** The leader epoch under which this node is; undefined = another node is, or nobody. */
  readonly term: number | undefined
  /** Why there is no coordinator that could be asked; undefined = there is one, here or elsewhere. */
  readonly vacancy: string | undefined
  /** Called after any of it changed. Returns the function that stops the calls. */
  onChanged(listener: () => void): () => void
  /** How long requests that a deposed coordinator has sent may still be on their way. */
  readonly lateRequestsMs: number
  /** Everything below it was replayed here; nodes mean the same by it. */
  readonly position: number
  /** Resolves when everything below `position` was replayed here; rejects if that takes long. */
  reached(position: number): Promise<void>
  /**
   * Gives the state to another node, since this one cannot coordinate; resolves to whether there is one that could take it. Absent
   * where nobody else is.
   */
  handOver?(): Promise<boolean>
}

/** Records that the leader of a mirror partition, on another node, asks the coordinator to write. */
export interface StateProposal {
  /** For people. */
  readonly sender: string
  readonly records: readonly StateRecord[]
  /** Has nobody written any of these keys since the sender decided? To be asked right before they are written. */
  isCurrent(): boolean
  /** Does the sender lead the partition, as the cluster's metadata say? */
  leads(topicId: Uuid, partition: number): boolean
}

export interface StateLog {
  /**
   * Replays everything, then keeps calling `onRecords` with each durable batch in order (our own included). Resolves when
   * the log end at the time of the call has been replayed. May be called again after it rejected.
   */
  open(onRecords: (records: readonly StateRecord[]) => void): Promise<void>
  /**
   * Appends atomically (one batch) if this node is still the link coordinator. Resolves when the batch is durable and
   * `onRecords` has seen it. Rejects with NotLinkCoordinator, or with the reason of the disk.
   */
  append(records: readonly StateRecord[]): Promise<void>
  /** Absent where there is nobody else: then this node is the coordinator for ever. */
  readonly leadership?: StateLeadership
  /**
   * Asks the coordinator, on another node, to write these records, which were decided on what has been replayed when this is called.
   * Resolves when `onRecords` has seen them; rejects if somebody else wrote one of their keys meanwhile, or nobody answers.
   */
  propose?(records: readonly StateRecord[]): Promise<void>
  /** While this node is the coordinator: what others propose. It may be given again; what is refused is not answered. */
  onProposal?(listener: (proposal: StateProposal) => Promise<void>): void
  close(): Promise<void>
}
