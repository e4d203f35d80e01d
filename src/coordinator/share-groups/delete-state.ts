/** Has the share coordinator forget topics of a share group, and notes that in the group, before and after: a deletion that did not end is repeated. Offset and group deletion call it. */
import type { Uuid } from '../../core/uuid.ts'
import { coordinatorErrorCode } from '../runtime/coordinator-error.ts'
import { ShareDraft } from './share-draft.ts'
import type { ShareGroup } from './share-group.ts'
import type { ShareMembership } from './share-membership.ts'
import { doomed } from './state-topics.ts'

export interface DeletedState {
  readonly topicId: Uuid
  readonly name: string
  readonly partitions: readonly number[]
}

/** Resolves when it is durable, with an error code for each topic that is not forgotten. Throws CoordinatorError. */
export async function deleteState(
  shard: ShareMembership,
  group: ShareGroup,
  topics: readonly DeletedState[],
): Promise<ReadonlyMap<Uuid, number>> {
  const failures = new Map<Uuid, number>()
  if (topics.length === 0) return failures
  const draft = new ShareDraft(group)
  draft.setStateTopics(doomed(group.stateTopics, new Map(topics.map(({ topicId, name }) => [topicId, name]))))
  shard.commit(draft)
  await shard.context.settled()
  await Promise.all(
    topics.flatMap(({ topicId, partitions }) =>
      partitions.map(async partition => {
        try {
          await shard.context.persister.delete({ groupId: group.id, topicId, partition })
        } catch (error) {
          failures.set(topicId, coordinatorErrorCode(error))
        }
      }),
    ),
  )
  const left = shard.get(group.id)
  if (!left) return failures
  const gone = topics.filter(({ topicId }) => !failures.has(topicId)).map(({ topicId }) => topicId)
  // What was begun anew meanwhile is not deleted any more.
  const deleting = new Map([...left.stateTopics.deleting].filter(([topicId]) => !gone.includes(topicId)))
  if (deleting.size === left.stateTopics.deleting.size) return failures
  const after = new ShareDraft(left)
  after.setStateTopics({ ...left.stateTopics, deleting })
  shard.commit(after)
  await shard.context.settled()
  return failures
}
