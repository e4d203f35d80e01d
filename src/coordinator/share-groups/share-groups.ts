/** The share groups of one partition of `__consumer_offsets`, as its records tell; GroupShard keeps one. */
import type { StateRecord } from '../runtime/load-records.ts'
import { applyShareChange, shareChangeOf } from './share-change.ts'
import { ShareGroup } from './share-group.ts'

export class ShareGroups {
  readonly #groups = new Map<string, ShareGroup>()

  get(id: string): ShareGroup | undefined {
    return this.#groups.get(id)
  }

  all(): ShareGroup[] {
    return [...this.#groups.values()]
  }

  put(group: ShareGroup): void {
    this.#groups.set(group.id, group)
  }

  remove(id: string): void {
    this.#groups.delete(id)
  }

  /** The id of the group that the record is about; undefined if it is about no share group. Throws DecodeError. */
  replay(type: number, record: StateRecord): string | undefined {
    const read = shareChangeOf(type, record)
    if (!read) return undefined
    const { groupId, change } = read
    const present = this.#groups.get(groupId)
    if (present && change.kind === 'epoch' && change.value === undefined) this.#groups.delete(groupId)
    else if (present) applyShareChange(present, change)
    else if (change.value !== undefined) {
      // Also one of another record than its own: a group whose offsets were set before it had a member has no epoch yet.
      const group = new ShareGroup(groupId)
      this.#groups.set(groupId, group)
      applyShareChange(group, change)
    }
    return groupId
  }
}
