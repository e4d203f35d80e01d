/** Applies the records about topics and partitions (2, 3, 5, 9, 28) to a copy; used by the metadata editor. */
import type { Uuid } from '../core/uuid.ts'
import type { TopicRecord } from '../protocol/metadata-records/02-topic.ts'
import type { PartitionRecord } from '../protocol/metadata-records/03-partition.ts'
import type { PartitionChangeRecord } from '../protocol/metadata-records/05-partition-change.ts'
import type { ClearElrRecord } from '../protocol/metadata-records/28-clear-elr.ts'
import type { TopicDelta } from './metadata-delta.ts'
import { DirectoryId, type MetadataImage, type PartitionImage, type TopicImage } from './metadata-image.ts'
import type { PersistentMap, PersistentMapEditor } from './persistent-map.ts'
import { MetadataReplayError } from './replay-error.ts'

/** Value of PartitionChange fields that say "unchanged". */
const LEADER_UNCHANGED = -2
const RECOVERY_STATE_UNCHANGED = -1

interface OpenTopic {
  readonly id: Uuid
  readonly name: string
  readonly before: TopicImage | undefined
  readonly partitions: (PartitionImage | undefined)[]
  readonly changed: Set<number>
}

export interface FinishedTopics {
  readonly topics: PersistentMap<Uuid, TopicImage>
  readonly topicIds: PersistentMap<string, Uuid>
  readonly changedTopics: ReadonlyMap<Uuid, TopicDelta>
  readonly deletedTopics: ReadonlyMap<Uuid, TopicImage>
}

export class TopicChanges {
  readonly #base: MetadataImage
  readonly #ids: PersistentMapEditor<string, Uuid>
  readonly #open = new Map<Uuid, OpenTopic>()
  readonly #deleted = new Map<Uuid, TopicImage>()

  constructor(base: MetadataImage) {
    this.#base = base
    this.#ids = base.topicIds.edit()
  }

  addTopic(record: TopicRecord): void {
    const { topicId: id, name } = record
    if (this.#base.topics.has(id) || this.#open.has(id)) throw new MetadataReplayError(`topic ${id} is created twice`)
    if (this.#ids.get(name) !== undefined) throw new MetadataReplayError(`topic name ${name} is given twice`)
    this.#ids.set(name, id)
    this.#open.set(id, { id, name, before: undefined, partitions: [], changed: new Set() })
  }

  /** Returns the name, for what hangs on it (configs). */
  removeTopic(id: Uuid): string {
    const topic = this.#edit(id)
    this.#ids.delete(topic.name)
    this.#open.delete(id)
    if (topic.before !== undefined) this.#deleted.set(id, topic.before)
    return topic.name
  }

  addPartition(record: PartitionRecord): void {
    const topic = this.#edit(record.topicId)
    const directories =
      record.directories.length > 0 ? record.directories : record.replicas.map(() => DirectoryId.MIGRATING)
    topic.changed.add(record.partitionId)
    topic.partitions[record.partitionId] = {
      replicas: record.replicas,
      isr: record.isr,
      removingReplicas: record.removingReplicas,
      addingReplicas: record.addingReplicas,
      eligibleLeaderReplicas: record.eligibleLeaderReplicas ?? [],
      lastKnownElr: record.lastKnownElr ?? [],
      leader: record.leader,
      leaderEpoch: record.leaderEpoch,
      leaderRecoveryState: record.leaderRecoveryState,
      partitionEpoch: record.partitionEpoch,
      directories,
    }
  }

  changePartition(record: PartitionChangeRecord): void {
    const topic = this.#edit(record.topicId)
    const before = topic.partitions[record.partitionId]
    if (before === undefined)
      throw new MetadataReplayError(
        `partition ${record.partitionId} of topic ${record.topicId} changes but was never created`,
      )
    topic.changed.add(record.partitionId)
    topic.partitions[record.partitionId] = changedPartition(before, record)
  }

  /** KIP-966: an empty name clears the eligible leader replicas of all topics. */
  clearEligibleLeaders(record: ClearElrRecord): void {
    if (record.topicName !== '') {
      const id = this.#ids.get(record.topicName)
      if (id === undefined) throw new MetadataReplayError(`no topic ${record.topicName} to clear the ELR of`)
      this.#clearTopic(id)
      return
    }
    for (const topic of this.#base.topics.values()) if (!this.#deleted.has(topic.id)) this.#clearTopic(topic.id)
    for (const id of [...this.#open.keys()]) this.#clearTopic(id)
  }

  finish(): FinishedTopics {
    const topics = this.#base.topics.edit()
    for (const id of this.#deleted.keys()) topics.delete(id)
    const changedTopics = new Map<Uuid, TopicDelta>()
    for (const open of this.#open.values()) {
      const after = { id: open.id, name: open.name, partitions: withoutHoles(open) }
      topics.set(open.id, after)
      const partitions = [...open.changed].sort((a, b) => a - b)
      if (open.before === undefined || partitions.length > 0)
        changedTopics.set(open.id, { before: open.before, after, partitions })
    }
    return { topics: topics.finish(), topicIds: this.#ids.finish(), changedTopics, deletedTopics: this.#deleted }
  }

  #clearTopic(id: Uuid): void {
    const image = this.#open.get(id) ?? this.#base.topics.get(id)
    const hasElr = image?.partitions.some(p => p && (p.eligibleLeaderReplicas.length > 0 || p.lastKnownElr.length > 0))
    if (!hasElr) return
    const topic = this.#edit(id)
    for (const [index, partition] of topic.partitions.entries()) {
      if (!partition || (partition.eligibleLeaderReplicas.length === 0 && partition.lastKnownElr.length === 0)) continue
      topic.changed.add(index)
      topic.partitions[index] = {
        ...partition,
        eligibleLeaderReplicas: [],
        lastKnownElr: [],
        partitionEpoch: partition.partitionEpoch + 1,
      }
    }
  }

  #edit(id: Uuid): OpenTopic {
    const open = this.#open.get(id)
    if (open) return open
    const before = this.#deleted.has(id) ? undefined : this.#base.topics.get(id)
    if (before === undefined) throw new MetadataReplayError(`no topic ${id}`)
    const topic = { id, name: before.name, before, partitions: before.partitions.slice(), changed: new Set<number>() }
    this.#open.set(id, topic)
    return topic
  }
}

function changedPartition(before: PartitionImage, record: PartitionChangeRecord): PartitionImage {
  const replicas = record.replicas ?? before.replicas
  const directories = record.directories ?? before.directories
  const leaderNamed = record.leader !== LEADER_UNCHANGED
  return {
    replicas,
    isr: record.isr ?? before.isr,
    removingReplicas: record.removingReplicas ?? before.removingReplicas,
    addingReplicas: record.addingReplicas ?? before.addingReplicas,
    eligibleLeaderReplicas: record.eligibleLeaderReplicas ?? before.eligibleLeaderReplicas,
    lastKnownElr: record.lastKnownElr ?? before.lastKnownElr,
    leader: leaderNamed ? record.leader : before.leader,
    leaderEpoch: leaderNamed ? before.leaderEpoch + 1 : before.leaderEpoch,
    leaderRecoveryState:
      record.leaderRecoveryState === RECOVERY_STATE_UNCHANGED ? before.leaderRecoveryState : record.leaderRecoveryState,
    partitionEpoch: before.partitionEpoch + 1,
    directories: replicas.map((_, i) => directories[i] ?? DirectoryId.UNASSIGNED),
  }
}

function withoutHoles(topic: OpenTopic): PartitionImage[] {
  const partitions: PartitionImage[] = []
  for (const [index, partition] of topic.partitions.entries()) {
    if (partition === undefined) throw new MetadataReplayError(`topic ${topic.name} has no partition ${index}`)
    partitions.push(partition)
  }
  return partitions
}
