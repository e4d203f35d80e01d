/** The source cluster of the simulation: topics that outlive every process here, and what is wrong with it at the moment. */
import { randomUuid, type Uuid } from '../../src/core/uuid.ts'
import type { AclBinding, GroupOffset, SourceFailure } from '../../src/link/ports.ts'
import { SourceLog } from './source-log.ts'

export interface SourceTopicModel {
  readonly name: string
  readonly topicId: Uuid
  readonly partitions: SourceLog[]
  /** Overrides. */
  readonly configs: Map<string, string>
}

export class SourceModel {
  readonly clusterId: string
  readonly topics = new Map<string, SourceTopicModel>()
  /** Every topic that there ever was: a mirror is bound to one of them. */
  readonly everyTopic = new Map<Uuid, SourceTopicModel>()
  /** Set: nobody answers. */
  outage: SourceFailure | undefined
  /** Topics that the link may not see. */
  readonly forbidden = new Set<string>()
  /** The next answers with records are damaged on the way. */
  damagedAnswers = 0
  /** Committed offsets by group, then by topic/partition. */
  readonly groups = new Map<string, Map<string, GroupOffset>>()
  acls: readonly AclBinding[] = []
  readonly #waiting = new Set<() => void>()

  constructor(clusterId: string) {
    this.clusterId = clusterId
  }

  create(name: string, partitions: number): void {
    const logs = Array.from({ length: partitions }, () => new SourceLog())
    const topic = { name, topicId: randomUuid(), partitions: logs, configs: new Map<string, string>() }
    this.topics.set(name, topic)
    this.everyTopic.set(topic.topicId, topic)
  }

  /** One partition more; returns how many there are. */
  grow(name: string): number {
    return this.topics.get(name)?.partitions.push(new SourceLog()) ?? 0
  }

  settleElections(nowMs: number): void {
    for (const topic of this.topics.values()) for (const log of topic.partitions) log.settleAfterElection(nowMs)
  }

  /** What can be read stays like this until the next step. */
  sample(nowMs: number): void {
    for (const topic of this.topics.values()) for (const log of topic.partitions) log.sample(nowMs)
  }

  /** Something changed: long polls look again. */
  wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  /** Calls back at the next change. */
  onChange(wake: () => void): void {
    this.#waiting.add(wake)
  }
}
