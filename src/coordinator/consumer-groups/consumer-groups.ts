/** The consumer groups of one partition of `__consumer_offsets`, as its records tell; GroupShard keeps one. */
import type { StateRecord } from '../runtime/load-records.ts'
import { ConsumerGroup } from './consumer-group.ts'
import { applyChange, changeOf } from './group-change.ts'

export class ConsumerGroups {
  readonly #groups = new Map<string, ConsumerGroup>()

  get(id: string): ConsumerGroup | undefined {
    return this.#groups.get(id)
  }

  all(): ConsumerGroup[] {
    return [...this.#groups.values()]
  }

  put(group: ConsumerGroup): void {
    this.#groups.set(group.id, group)
  }

  remove(id: string): void {
    this.#groups.delete(id)
  }

  /** The id of the group that the record is about; undefined if it is about no consumer group. Throws DecodeError. */
  replay(type: number, record: StateRecord): string | undefined {
    const read = changeOf(type, record)
    if (!read) return undefined
    const { groupId, change } = read
    const group = this.#groups.get(groupId)
    if (change.value === undefined) {
      if (!group) return groupId
      // Its own record ends the group: others of it that are left over say nothing.
      if (change.kind === 'epoch') this.#groups.delete(groupId)
      else applyChange(group, change)
      return groupId
    }
    const present = group ?? new ConsumerGroup(groupId)
    this.#groups.set(groupId, present)
    applyChange(present, change)
    return groupId
  }
}
