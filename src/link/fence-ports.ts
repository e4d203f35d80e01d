/** Part of the destination port: how this cluster keeps clients out of mirrors, and makes a mirror an ordinary topic again. */
import type { Uuid } from '../core/uuid.ts'

/** The verb by which a mirror becomes writable: a promote promises more, and so needs more. */
export type ReleaseVerb = 'failover' | 'promote'

/** How a release would go now; nothing is changed by asking. */
export interface ReleaseOutlook {
  /** Why it cannot begin now, by partition; empty = it can. */
  readonly obstacles: ReadonlyMap<number, string>
  /** What an operator should know who asks for it. */
  readonly warnings: readonly string[]
}

export interface ReleaseRequest {
  readonly topicId: Uuid
  readonly verb: ReleaseVerb
  /** What `plan` answered, durable since before the first call. */
  readonly plan: string
  /** Log ends up to which nothing may be lost; index = partition, -1 = not known. */
  readonly endOffsets: readonly number[]
  /** Overrides of parked configs that hold from now on; the others are removed. */
  readonly configs: ReadonlyMap<string, string>
}

/** Beside the write gate, which only holds back who comes through this node. Where nobody else can write, all of it is nothing. */
export interface WriteFence {
  /** May others lead a mirror's partitions, where this node does not? Then epochs of those that mirrored are recorded. */
  readonly hasOtherLeaders: boolean
  /**
   * Topic configs that the fence has values of its own for while a topic is a mirror. What the link wants them to be is kept in
   * the mirror's record.
   */
  readonly parkedConfigs: ReadonlySet<string>
  /** Makes the topic as it should be while it is a mirror; resolves to what somebody else had changed. Level-triggered. */
  restore(topicId: Uuid): Promise<readonly string[]>
  /** A mirror of that name is gone with its topic: what is left of its fence goes, unless there is a topic of the name again. */
  forget(topic: string): Promise<void>
  /**
   * What `enclose` takes time for, while clients may go on writing an ordinary topic whose record is durable. Waits for nothing:
   * resolves to what is to be waited for, undefined = nothing any more. May be repeated; `unstage` undoes it.
   */
  stage(topicId: Uuid): Promise<string | undefined>
  /** As `release`, of a topic that was staged, and never shut. */
  unstage(request: Pick<ReleaseRequest, 'topicId' | 'plan'>): Promise<void>
  /**
   * From when it resolves on no client writes the topic, whoever leads it; its record is durable. May be repeated; rejects with what it
   * waits for. `release` undoes it.
   */
  shut(topicId: Uuid): Promise<void>
  /**
   * Makes an ordinary topic, whose record as a mirror is durable, one that can be mirrored into: in new leader epochs, by which
   * consumers notice what is cut off later, and led by this node. May be repeated until it succeeds, by any process; rejects with
   * what it waits for. `release` undoes it.
   */
  enclose(topicId: Uuid): Promise<void>
  /** Called with the topics whose fence may have changed. Returns the function that stops the calls. */
  onDisturbed(listener: (topicIds: readonly Uuid[]) => void): () => void
  /** Somebody else made the partition an ordinary one: no replica is where mirrors are led any more. */
  isTakenAway(topicId: Uuid, partition: number): boolean
  outlook(topicId: Uuid, verb: ReleaseVerb): Promise<ReleaseOutlook>
  /** What a release needs to know when another process goes on with it: kept by the caller, read by nobody else. */
  plan(topicId: Uuid): string
  /**
   * The topic becomes an ordinary one in new leader epochs, and then writable, without loss below `endOffsets`. May be repeated
   * until it succeeds, by any process. Resolves to what an operator should know; rejects with what it waits for.
   */
  release(request: ReleaseRequest): Promise<readonly string[]>
}
