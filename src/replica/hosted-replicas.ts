/** The replicas that this node has, by partition: led, followed, or offline with what to answer. ReplicaSet fills it and everybody looks replicas up in it. */
import type { Uuid } from '../core/uuid.ts'
import { ErrorCode } from '../protocol/errors.ts'
import type { FollowedPartition } from './following/followed-partition.ts'
import { Partition } from './partition.ts'
import { PartitionUnavailable } from './partition-unavailable.ts'
import type { Replica } from './replica.ts'

export class HostedReplicas {
  readonly #led = new Map<string, Partition>()
  readonly #followed = new Map<string, FollowedPartition>()
  /** Logs that could not be opened, with what to answer. */
  readonly #offline = new Map<string, PartitionUnavailable>()

  get led(): Iterable<Partition> {
    return this.#led.values()
  }

  get followed(): Iterable<FollowedPartition> {
    return this.#followed.values()
  }

  *[Symbol.iterator](): Generator<Replica> {
    yield* this.#led.values()
    yield* this.#followed.values()
  }

  get(key: string): Partition | FollowedPartition | undefined {
    return this.#led.get(key) ?? this.#followed.get(key)
  }

  /** Also one that is offline. */
  has(key: string): boolean {
    return this.get(key) !== undefined || this.#offline.has(key)
  }

  /** In the place of whatever was there. */
  set(key: string, replica: Partition | FollowedPartition): void {
    this.delete(key)
    if (replica instanceof Partition) this.#led.set(key, replica)
    else this.#followed.set(key, replica)
  }

  goOffline(key: string, reason: PartitionUnavailable): void {
    this.delete(key)
    this.#offline.set(key, reason)
  }

  /** Whether anything was there. */
  delete(key: string): boolean {
    const wasOffline = this.#offline.delete(key)
    const wasLed = this.#led.delete(key)
    return this.#followed.delete(key) || wasLed || wasOffline
  }

  clear(): void {
    this.#led.clear()
    this.#followed.clear()
    this.#offline.clear()
  }

  /** Throws PartitionUnavailable unless it is led here; `known`: the image has such a partition. */
  leader(key: string, known: boolean): Partition {
    const partition = this.#led.get(key)
    if (partition) {
      partition.assertAvailable()
      return partition
    }
    throw this.#offline.get(key) ?? notHere(key, known)
  }

  /** Also one that is followed here. */
  any(key: string, known: boolean): Replica {
    const followed = this.#followed.get(key)
    if (!followed) return this.leader(key, known)
    followed.assertAvailable()
    return followed
  }
}

/** What partitions are kept by. */
export const replicaKey = (topicId: Uuid, index: number): string => `${topicId}:${index}`

const notHere = (key: string, known: boolean): PartitionUnavailable =>
  known
    ? new PartitionUnavailable(ErrorCode.NOT_LEADER_OR_FOLLOWER, `partition ${key} is not led by this node`)
    : new PartitionUnavailable(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, `there is no such partition ${key}`)
