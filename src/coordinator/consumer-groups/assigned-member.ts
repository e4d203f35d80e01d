/** What assignors are told of a member; the assignors and what calls them share it. */
import type { Uuid } from '../../core/uuid.ts'
import type { Partitions } from './partition-sets.ts'

export interface AssignedMember {
  readonly id: string
  readonly instanceId: string | null
  /** Topics that exist. */
  readonly topics: ReadonlySet<Uuid>
  /** The target that the member had before. */
  readonly before: Partitions
}

/** Partitions by member; every partition of a topic that somebody subscribes to goes to one of its subscribers. */
export type Assignor = (
  members: readonly AssignedMember[],
  partitionCount: (topicId: Uuid) => number,
) => Map<string, Partitions>
