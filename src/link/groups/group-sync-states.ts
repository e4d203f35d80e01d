/** How the group offset sync stands, group by group and partition by partition: told by the sync, listed by REST. */
import type { TopicType } from '../configs/name-filters.ts'
import { KeyedQueues } from '../coordination/keyed-queues.ts'
import type { GroupKind } from './group-kinds.ts'

/** Why an offset is not in step; SYNCED = it is. */
export type GroupSyncState = 'SYNCED' | 'SYNCED_BY_PEER' | 'IN_USE' | 'CONFLICT' | 'WAITING' | 'OTHER_TYPE' | 'FAILED'

export interface GroupOffsetStatus {
  /** The group's id here. */
  readonly group: string
  readonly sourceGroup: string
  /** REMOTE_MIRROR: the topic is this cluster's own, and the peer's mirror of it is what the group reads. */
  readonly topicType: TopicType
  /** The topic here. */
  readonly topic: string
  readonly partition: number
  readonly sourceOffset: number
  /** What this link wrote last, and when (wall clock); undefined = nothing since the node started. */
  readonly syncedOffset: number | undefined
  readonly syncedTimeMs: number | undefined
  /** The mirror does not have what the source's offset points to. */
  readonly clamped: boolean
  readonly state: GroupSyncState
  readonly reason: string | undefined
}

interface GroupEntry {
  rows: ReadonlyMap<string, GroupOffsetStatus>
  seenMs: number
}

export class GroupSyncStates {
  /** By group: whoever writes down what the link wrote for it has read that in the same turn. */
  readonly turns = new KeyedQueues()
  /** Kinds of groups that one of the two clusters does not have, and why. */
  readonly missing = new Map<GroupKind, string>()
  readonly #groups = new Map<string, GroupEntry>()
  #synced = 0
  readonly #skipped = new Map<string, number>()

  /** Offsets that were written, and those that were not, by state: each of them once per round. */
  get counts(): { readonly synced: number; readonly skipped: ReadonlyMap<string, number> } {
    return { synced: this.#synced, skipped: this.#skipped }
  }

  /** All rows, by group, topic and partition. */
  all(): GroupOffsetStatus[] {
    const rows = [...this.#groups.values()].flatMap(({ rows }) => [...rows.values()])
    return rows.sort((a, b) => compare(a.group, b.group) || compare(a.topic, b.topic) || a.partition - b.partition)
  }

  of(group: string, place: string): GroupOffsetStatus | undefined {
    return this.#groups.get(group)?.rows.get(place)
  }

  rowsOf(group: string): (readonly [string, GroupOffsetStatus])[] {
    return [...(this.#groups.get(group)?.rows ?? [])]
  }

  /** What a round found out about a group; rows of places that it did not see any more go. */
  tell(group: string, rows: ReadonlyMap<string, GroupOffsetStatus>, nowMs: number): void {
    const before = this.#groups.get(group)?.rows
    for (const [place, { state, syncedTimeMs }] of rows) {
      if (state !== 'SYNCED') this.#skipped.set(state, (this.#skipped.get(state) ?? 0) + 1)
      else if (syncedTimeMs !== undefined && before?.get(place)?.syncedTimeMs !== syncedTimeMs) this.#synced++
    }
    this.#groups.set(group, { rows, seenMs: nowMs })
  }

  /** Forgets what nobody syncs any more. */
  keepOnly(isKept: (row: GroupOffsetStatus) => boolean): void {
    for (const [group, entry] of this.#groups) {
      const rows = [...entry.rows].filter(([, row]) => isKept(row))
      if (rows.length === 0) this.#groups.delete(group)
      else if (rows.length < entry.rows.size) entry.rows = new Map(rows)
    }
  }

  /** Forgets groups that no round has seen for so long. */
  forgetOlderThan(ageMs: number, nowMs: number): void {
    for (const [group, { seenMs }] of this.#groups) if (nowMs - seenMs > ageMs) this.#groups.delete(group)
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
