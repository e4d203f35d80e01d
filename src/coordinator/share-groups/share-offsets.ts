/** Describe-, Alter- and DeleteShareGroupOffsets: where share groups start to read; the group coordinator calls them. */
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { CoordinatorError, coordinatorErrorCode } from '../runtime/coordinator-error.ts'
import { type SharePartitionSummary, UNKNOWN, UNKNOWN_START_OFFSET } from '../share-state/share-persister.ts'
import { deleteState } from './delete-state.ts'
import { beginInitialising, initialise, type WantedState } from './initialise-state.ts'
import { ShareDraft } from './share-draft.ts'
import type { ShareGroup } from './share-group.ts'
import type { ShareMembership } from './share-membership.ts'
import { concerns, forgotten } from './state-topics.ts'

export interface TopicWithPartitions<P> {
  readonly topicName: string
  /** Zero if there is no such topic. */
  readonly topicId: Uuid
  readonly partitions: readonly P[]
}

export interface DescribedStart {
  readonly partitionIndex: number
  /** -1 = not known yet, or there is none. */
  readonly startOffset: number
  readonly leaderEpoch: number
  /** Records from the start on that are done already; -1 = not known. */
  readonly deliveryCompleteCount: number
  readonly errorCode: number
}

const NO_START = { startOffset: UNKNOWN_START_OFFSET, leaderEpoch: 0, deliveryCompleteCount: UNKNOWN }

/** `topics` null: all that have state. What is asked for by name need not have any, nor need the group exist. Throws CoordinatorError. */
export async function describeShareOffsets(
  shard: ShareMembership,
  groupId: string,
  topics: readonly { readonly topicName: string; readonly partitions: readonly number[] }[] | null,
): Promise<TopicWithPartitions<DescribedStart>[]> {
  const { image } = shard.context
  const wanted = topics ?? topicsWithState(shard, groupId)
  const described = await Promise.all(
    wanted.map(async ({ topicName, partitions }) => {
      const topicId = topicByName(image(), topicName)?.id
      const starts = partitions.map(async partition =>
        topicId === undefined
          ? { partitionIndex: partition, ...NO_START, errorCode: ErrorCode.NONE }
          : await describedStart(shard, { groupId, topicId, partition }),
      )
      return { topicName, topicId: topicId ?? ZERO_UUID, partitions: await Promise.all(starts) }
    }),
  )
  await shard.context.settled()
  return described
}

function topicsWithState(shard: ShareMembership, groupId: string) {
  const initialised = shard.get(groupId)?.stateTopics.initialised ?? new Map()
  return [...initialised].flatMap(([topicId, { partitions }]) => {
    const topicName = shard.context.image().topics.get(topicId)?.name
    return topicName === undefined ? [] : [{ topicName, partitions: [...partitions].sort((a, b) => a - b) }]
  })
}

async function describedStart(
  shard: ShareMembership,
  key: { readonly groupId: string; readonly topicId: Uuid; readonly partition: number },
): Promise<DescribedStart> {
  const partitionIndex = key.partition
  try {
    const { startOffset, leaderEpoch, deliveryCompleteCount }: SharePartitionSummary =
      await shard.context.persister.readSummary(key)
    return { partitionIndex, startOffset, leaderEpoch, deliveryCompleteCount, errorCode: ErrorCode.NONE }
  } catch (error) {
    return { partitionIndex, ...NO_START, errorCode: coordinatorErrorCode(error) }
  }
}

export interface AlteredStart {
  readonly partitionIndex: number
  readonly errorCode: number
}

/**
 * Sets where the group starts, which makes the group if it does not exist. Resolves when that is durable. Throws CoordinatorError
 * NON_EMPTY_GROUP for a group with members and GROUP_ID_NOT_FOUND for one of another type.
 */
export async function alterShareOffsets(
  shard: ShareMembership,
  groupId: string,
  topics: readonly {
    readonly topicName: string
    readonly partitions: readonly { readonly partitionIndex: number; readonly startOffset: number }[]
  }[],
): Promise<TopicWithPartitions<AlteredStart>[]> {
  const group = shard.presentOrNew(groupId)
  requireEmpty(group)
  const wanted = new Map<Uuid, { name: string; starts: Map<number, number> }>()
  const found = topics.map(({ topicName, partitions }) => {
    const topic = topicByName(shard.context.image(), topicName)
    const isThere = (partition: number) => topic !== undefined && partition >= 0 && partition < topic.partitions.length
    const starts = partitions.filter(({ partitionIndex }) => isThere(partitionIndex))
    if (topic && starts.length > 0)
      wanted.set(topic.id, {
        name: topicName,
        starts: new Map(starts.map(({ partitionIndex, startOffset }) => [partitionIndex, startOffset])),
      })
    return {
      topicName,
      topicId: topic?.id ?? ZERO_UUID,
      partitions: partitions.map(({ partitionIndex }) => partitionIndex),
      isThere,
    }
  })
  const failures = await setStarts(shard, group, { stateEpoch: group.epoch, topics: wanted })
  return found.map(({ topicName, topicId, partitions, isThere }) => ({
    topicName,
    topicId,
    partitions: partitions.map(partitionIndex => {
      const failure = failures.find(entry => entry.topicId === topicId && entry.partition === partitionIndex)
      const errorCode = isThere(partitionIndex)
        ? (failure?.errorCode ?? ErrorCode.NONE)
        : ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
      return { partitionIndex, errorCode }
    }),
  }))
}

async function setStarts(shard: ShareMembership, group: ShareGroup, wanted: WantedState) {
  if (wanted.topics.size === 0) return []
  const draft = new ShareDraft(group)
  beginInitialising(shard, draft, wanted)
  shard.commit(draft)
  await shard.context.settled()
  return await initialise(shard, group.id, wanted)
}

export interface DeletedOffsets {
  readonly topicName: string
  readonly topicId: Uuid
  readonly errorCode: number
}

/** Forgets where the group is in topics; resolves when that is durable. Throws CoordinatorError NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND. */
export async function deleteShareOffsets(
  shard: ShareMembership,
  groupId: string,
  topicNames: readonly string[],
): Promise<DeletedOffsets[]> {
  const group = shard.present(groupId)
  requireEmpty(group)
  const { image } = shard.context
  const found = topicNames.map(topicName => ({ topicName, topic: topicByName(image(), topicName) }))
  const deletable = found.flatMap(({ topicName, topic }) => {
    if (!topic) return []
    const { initialised, deleting } = group.stateTopics
    const present = initialised.get(topic.id)?.partitions
    const all = deleting.has(topic.id) ? topic.partitions.keys() : []
    const partitions = [...(present ?? all)]
    return partitions.length > 0 ? [{ topicId: topic.id, name: topicName, partitions }] : []
  })
  const failures = await deleteState(shard, group, deletable)
  return found.map(({ topicName, topic }) => {
    const isDeletable = deletable.some(({ name }) => name === topicName)
    if (!topic || !isDeletable)
      return { topicName, topicId: ZERO_UUID, errorCode: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION }
    return { topicName, topicId: topic.id, errorCode: failures.get(topic.id) ?? ErrorCode.NONE }
  })
}

/** Forgets a group with its state; resolves when that is durable. Throws CoordinatorError NON_EMPTY_GROUP. */
export async function deleteShareGroup(shard: ShareMembership, group: ShareGroup): Promise<void> {
  requireEmpty(group)
  const { image } = shard.context
  const { initialised, initialising, deleting } = group.stateTopics
  const topics = [...new Set([...initialised.keys(), ...initialising.keys(), ...deleting.keys()])].map(topicId => ({
    topicId,
    name: initialised.get(topicId)?.name ?? initialising.get(topicId)?.name ?? deleting.get(topicId) ?? '',
    partitions: [
      ...new Set([
        ...(initialised.get(topicId)?.partitions ?? []),
        ...(initialising.get(topicId)?.partitions ?? []),
        ...(deleting.has(topicId) ? (image().topics.get(topicId)?.partitions.keys() ?? []) : []),
      ]),
    ],
  }))
  const [failure] = (await deleteState(shard, group, topics)).values()
  if (failure !== undefined) throw new CoordinatorError(failure)
  const left = shard.get(group.id)
  if (!left) return
  // Somebody may have joined meanwhile.
  requireEmpty(left)
  shard.remove(left)
  await shard.context.settled()
}

function requireEmpty(group: ShareGroup): void {
  if (!group.isEmpty) throw new CoordinatorError(ErrorCode.NON_EMPTY_GROUP, `share group ${group.id} has members`)
}

/** Topics that were deleted: the share coordinator forgets them by itself. Throws CoordinatorError. */
export function forgetStateOfTopics(shard: ShareMembership, topicIds: readonly Uuid[]): void {
  for (const group of shard.context.groups.all()) {
    if (!concerns(group.stateTopics, topicIds)) continue
    const draft = new ShareDraft(group)
    draft.setStateTopics(forgotten(group.stateTopics, topicIds))
    shard.commit(draft)
  }
}
