/**
 * Groups of a protocol that this node does not run (streams groups), as far as their records
 * tell: their ids are taken, their records stay as they are. GroupShard asks it.
 */
import { Reader } from '../../protocol/schema/reader.ts'
import type { StateRecord } from '../runtime/state-partitions.ts'

export type ForeignGroupType = 'streams'

export interface ForeignGroup {
  readonly type: ForeignGroupType
  /** Its record exists; without it the others are leftovers. */
  exists: boolean
  readonly memberKeys: Set<string>
  /** Keys of all its records, to be deleted with it. */
  readonly keys: Map<string, Buffer>
}

/** Record types by what they are about; all keys begin with the group's id. */
const TYPES: readonly { type: ForeignGroupType; first: number; last: number; group: number; member: number }[] = [
  { type: 'streams', first: 17, last: 23, group: 17, member: 19 },
]

export class ForeignGroups {
  readonly #groups = new Map<string, ForeignGroup>()

  /** A group whose own record exists. */
  get(id: string): ForeignGroup | undefined {
    const found = this.#groups.get(id)
    return found?.exists ? found : undefined
  }

  get ids(): string[] {
    return [...this.#groups].flatMap(([id, { exists }]) => (exists ? [id] : []))
  }

  /** False if the record is of no such group. */
  replay(recordType: number, { key, value }: StateRecord): boolean {
    const row = TYPES.find(({ first, last }) => first <= recordType && recordType <= last)
    if (!row) return false
    const id = new Reader(key.subarray(2)).string()
    const group = this.#groups.get(id) ?? { type: row.type, exists: false, memberKeys: new Set(), keys: new Map() }
    this.#groups.set(id, group)
    const text = key.toString('latin1')
    if (value) group.keys.set(text, Buffer.from(key))
    else group.keys.delete(text)
    if (recordType === row.group) group.exists = value !== null
    if (recordType === row.member) {
      if (value) group.memberKeys.add(text)
      else group.memberKeys.delete(text)
    }
    if (group.keys.size === 0) this.#groups.delete(id)
    return true
  }

  tombstones(id: string): StateRecord[] {
    return [...(this.#groups.get(id)?.keys.values() ?? [])].map(key => ({ key, value: null }))
  }

  forget(id: string): void {
    this.#groups.delete(id)
  }
}
