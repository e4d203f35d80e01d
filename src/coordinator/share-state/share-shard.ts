/** What one partition of `__share_group_state` says: the state of share partitions, as records make it. The share coordinator keeps one per partition. */
import type { Uuid } from '../../core/uuid.ts'
import { RedundantRecords } from './redundant-records.ts'
import { type ShareKey, shareKeyName, UNKNOWN, UNKNOWN_START_OFFSET } from './share-persister.ts'
import type { ShareRecord, ShareSnapshot, ShareUpdate } from './share-records.ts'
import { combineBatches } from './state-batches.ts'

export interface ShareEntry {
  readonly key: ShareKey
  readonly state: ShareSnapshot
  /** Updates since the last snapshot but one; undefined before the first. Kafka begins to count at the second. */
  readonly updates: number | undefined
}

export class ShareShard {
  readonly redundant = new RedundantRecords()
  /** Resolves when everything that the state tells now is durable. */
  settled: Promise<void> = Promise.resolve()
  readonly #entries = new Map<string, ShareEntry>()
  readonly #updatesPerSnapshot: number

  constructor(updatesPerSnapshot: number) {
    this.#updatesPerSnapshot = updatesPerSnapshot
  }

  entry(key: ShareKey): ShareEntry | undefined {
    return this.#entries.get(shareKeyName(key))
  }

  get entries(): Iterable<ShareEntry> {
    return this.#entries.values()
  }

  get size(): number {
    return this.#entries.size
  }

  /** Keys of a topic that `exists` does not know any more. */
  keysOutside(exists: (topicId: Uuid) => boolean): ShareKey[] {
    return [...this.#entries.values()].flatMap(({ key }) => (exists(key.topicId) ? [] : [key]))
  }

  /** Changes the state as the record says. An update without a snapshot before it is passed over: the log begins behind it. */
  apply(record: ShareRecord): void {
    const name = shareKeyName(record.key)
    const before = this.#entries.get(name)
    if (record.kind === 'tombstone') this.#entries.delete(name)
    else if (record.kind === 'snapshot') this.#entries.set(name, this.#snapshot(record.key, record.value, before))
    else if (before) this.#entries.set(name, updated(before, record.value))
  }

  /** To be told of every record that is in the log, in the log's order; `offset` is at most the record's. */
  placed(record: ShareRecord, offset: number): void {
    if (record.kind === 'snapshot') this.redundant.snapshot(shareKeyName(record.key), offset)
    else if (record.kind === 'tombstone') this.redundant.removed(shareKeyName(record.key), offset)
  }

  #snapshot(key: ShareKey, state: ShareSnapshot, before: ShareEntry | undefined): ShareEntry {
    const updates = before?.updates
    const isFull = updates !== undefined && updates >= this.#updatesPerSnapshot
    const stateEpoch = Math.max(state.stateEpoch, before?.state.stateEpoch ?? state.stateEpoch)
    return { key, state: { ...state, stateEpoch }, updates: isFull ? 0 : updates }
  }
}

function updated({ key, state, updates }: ShareEntry, change: ShareUpdate): ShareEntry {
  const startOffset = change.startOffset === UNKNOWN_START_OFFSET ? state.startOffset : change.startOffset
  return {
    key,
    updates: updates === undefined ? 0 : updates + 1,
    state: {
      ...state,
      startOffset,
      leaderEpoch: change.leaderEpoch === UNKNOWN ? state.leaderEpoch : change.leaderEpoch,
      deliveryCompleteCount: change.deliveryCompleteCount,
      batches: combineBatches(state.batches, change.batches, startOffset),
    },
  }
}
