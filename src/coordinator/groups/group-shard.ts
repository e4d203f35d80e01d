/** The groups of one partition of `__consumer_offsets`, as its records tell; the state that StatePartitions keeps for the group coordinator. */
import type { BatchHeader } from '../../protocol/batches/batch-header.ts'
import { LegacyOffsetCommitKey } from '../../protocol/coordinator-records/group-00-legacy-offset-commit.ts'
import { OffsetCommitKey } from '../../protocol/coordinator-records/group-01-offset-commit.ts'
import { GroupMetadataKey } from '../../protocol/coordinator-records/group-02-group-metadata.ts'
import type { Message } from '../../protocol/schema/message.ts'
import { Reader } from '../../protocol/schema/reader.ts'
import { ConsumerGroups } from '../consumer-groups/consumer-groups.ts'
import type { StateRecord, TransactionMarker } from '../runtime/state-partitions.ts'
import { ShareGroups } from '../share-groups/share-groups.ts'
import { ClassicGroup } from './classic-group.ts'
import { ForeignGroups } from './foreign-groups.ts'
import { GroupOffsets, type OffsetPlace } from './group-offsets.ts'
import { readGroup, readOffset } from './group-records.ts'

/** Record types of the classic protocol. */
const OFFSET_TYPES: ReadonlySet<number> = new Set([LegacyOffsetCommitKey.apiKey, OffsetCommitKey.apiKey])

export class GroupShard {
  readonly groups = new Map<string, ClassicGroup>()
  readonly consumers = new ConsumerGroups()
  readonly shares = new ShareGroups()
  readonly foreign = new ForeignGroups()
  readonly offsets = new GroupOffsets()

  /** Throws DecodeError for a record that cannot be understood; types of newer versions are passed over. */
  replay(record: StateRecord, { producerId, baseOffset }: Pick<BatchHeader, 'producerId' | 'baseOffset'>): void {
    const type = record.key.readInt16BE(0)
    if (OFFSET_TYPES.has(type))
      this.#replayOffset(keyOf(OffsetCommitKey, record), record.value, { producerId, baseOffset })
    else if (type === GroupMetadataKey.apiKey) this.#replayGroup(keyOf(GroupMetadataKey, record).group, record.value)
    else if (!this.#replayConsumers(type, record) && this.shares.replay(type, record) === undefined)
      this.foreign.replay(type, record)
  }

  replayMarker({ producerId, committed }: Pick<TransactionMarker, 'producerId' | 'committed'>): void {
    for (const group of this.offsets.completeTransaction(producerId, committed)) this.ensureGroup(group, undefined)
  }

  /** An offset belongs to a group: without another it is a simple one, which has no members. */
  ensureGroup(id: string, nowMs: number | undefined): void {
    if (this.groups.has(id) || this.consumers.get(id) || this.shares.get(id) || this.foreign.get(id)) return
    this.groups.set(id, new ClassicGroup(id, { stateChangedMs: nowMs }))
  }

  #replayConsumers(type: number, record: StateRecord): boolean {
    const id = this.consumers.replay(type, record)
    // A group that was only known by its offsets.
    if (id !== undefined && this.consumers.get(id) && this.groups.get(id)?.members.size === 0) this.groups.delete(id)
    return id !== undefined
  }

  #replayOffset(
    place: OffsetPlace,
    value: Buffer | null,
    { producerId, baseOffset }: { producerId: bigint; baseOffset: number },
  ): void {
    if (value === null) return this.offsets.remove(place)
    this.ensureGroup(place.group, undefined)
    const offset = readOffset(value, baseOffset)
    if (producerId < 0n) this.offsets.commit(place, offset)
    else this.offsets.addPending(place, offset, producerId)
  }

  #replayGroup(id: string, value: Buffer | null): void {
    if (value === null) this.groups.delete(id)
    else this.groups.set(id, readGroup(id, value))
  }
}

function keyOf<T>(table: Message<T, never>, { key }: StateRecord): T {
  const reader = new Reader(key)
  reader.int16()
  const read = table.read(reader, 0)
  reader.expectEnd()
  return read
}
