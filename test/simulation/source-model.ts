/** The source cluster of the simulation: topics that outlive every process here, and what is wrong with it at the moment. */
import { randomUuid, type Uuid } from '../../src/core/uuid.ts'
import type { SourceFailure } from '../../src/link/ports.ts'
import { SourceLog } from './source-log.ts'

export interface SourceTopicModel {
  readonly name: string
  readonly topicId: Uuid
  readonly partitions: SourceLog[]
}

export class SourceModel {
  readonly clusterId = 'source-cluster'
  readonly topics = new Map<string, SourceTopicModel>()
  /** Every topic that there ever was: a mirror is bound to one of them. */
  readonly everyTopic = new Map<Uuid, SourceTopicModel>()
  /** Set: nobody answers. */
  outage: SourceFailure | undefined
  /** Topics that the link may not see. */
  readonly forbidden = new Set<string>()
  /** The next answers with records are damaged on the way. */
  damagedAnswers = 0
  readonly #waiting = new Set<() => void>()

  create(name: string, partitions: number): void {
    const topic = { name, topicId: randomUuid(), partitions: Array.from({ length: partitions }, () => new SourceLog()) }
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
