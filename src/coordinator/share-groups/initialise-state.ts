/** Has the share coordinator make state for partitions of a share group, and notes in the group for which it has; heartbeats and changed offsets call it. */
import type { Uuid } from '../../core/uuid.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { coordinatorErrorCode } from '../runtime/coordinator-error.ts'
import { UNKNOWN_START_OFFSET } from '../share-state/share-persister.ts'
import { ShareDraft } from './share-draft.ts'
import type { ShareMembership } from './share-membership.ts'
import { abandoned, begun, completed, type StateTopics, type TopicState } from './state-topics.ts'

/** State to be made: a start offset for each partition. */
export interface WantedState {
  readonly stateEpoch: number
  readonly topics: ReadonlyMap<Uuid, { readonly name: string; readonly starts: ReadonlyMap<number, number> }>
}

export interface StateFailure {
  readonly topicId: Uuid
  readonly partition: number
  readonly errorCode: number
}

/** What the members of the group subscribe to and has no state yet; undefined: nothing. What is under way is left out for a while. */
export function missingState(shard: ShareMembership, { group }: ShareDraft): WantedState | undefined {
  const { settings, image } = shard.context
  const { initialised, initialising } = group.stateTopics
  const topics = new Map<Uuid, { name: string; starts: Map<number, number> }>()
  for (const name of group.subscribed) {
    const topic = topicByName(image(), name)
    if (!topic) continue
    const begun = initialising.get(topic.id)
    const isUnderWay = begun?.sinceMs !== undefined && shard.nowMs - begun.sinceMs < settings.share.initialiseRetryMs
    const starts = new Map<number, number>()
    for (let partition = 0; partition < topic.partitions.length; partition++) {
      const isDone = initialised.get(topic.id)?.partitions.has(partition) === true
      if (!isDone && !(isUnderWay && begun.partitions.has(partition))) starts.set(partition, UNKNOWN_START_OFFSET)
    }
    if (starts.size > 0) topics.set(topic.id, { name, starts })
  }
  return topics.size === 0 ? undefined : { stateEpoch: group.epoch, topics }
}

/** Part of the draft that is committed before `initialise` is called. */
export function beginInitialising(shard: ShareMembership, draft: ShareDraft, wanted: WantedState): void {
  draft.setStateTopics(begun(draft.group.stateTopics, topicStates(wanted), shard.nowMs))
}

/** Resolves, when everything is durable, with what failed, which is tried again by later heartbeats. Throws CoordinatorError. */
export async function initialise(
  shard: ShareMembership,
  groupId: string,
  wanted: WantedState,
): Promise<StateFailure[]> {
  const { persister } = shard.context
  const { stateEpoch } = wanted
  const keys = [...wanted.topics].flatMap(([topicId, { starts }]) =>
    [...starts].map(([partition, startOffset]) => ({ topicId, partition, startOffset })),
  )
  const results = await Promise.allSettled(
    keys.map(({ topicId, partition, startOffset }) =>
      persister.initialize({ groupId, topicId, partition }, { stateEpoch, startOffset }),
    ),
  )
  const failures = results.flatMap((result, index) => {
    const key = keys[index]
    if (result.status === 'fulfilled' || !key) return []
    return [{ topicId: key.topicId, partition: key.partition, errorCode: coordinatorErrorCode(result.reason) }]
  })
  note(shard, { groupId, topics: topicStates(wanted), failures })
  await shard.context.settled()
  return failures
}

function note(
  shard: ShareMembership,
  { groupId, topics, failures }: { groupId: string; topics: ReadonlyMap<Uuid, TopicState>; failures: StateFailure[] },
): void {
  const group = shard.get(groupId)
  if (!group) return
  const made = new Map<Uuid, TopicState>()
  const failed = new Map<Uuid, TopicState>()
  for (const [topicId, { name, partitions }] of topics) {
    // What is not initialised any more was deleted meanwhile.
    const awaited = [...partitions].filter(partition => isInitialising(group.stateTopics, topicId, partition))
    const isFailed = (partition: number) =>
      failures.some(failure => failure.topicId === topicId && failure.partition === partition)
    const [good, bad] = [awaited.filter(partition => !isFailed(partition)), awaited.filter(isFailed)]
    if (good.length > 0) made.set(topicId, { name, partitions: new Set(good) })
    if (bad.length > 0) failed.set(topicId, { name, partitions: new Set(bad) })
  }
  if (made.size === 0 && failed.size === 0) return
  const draft = new ShareDraft(group)
  draft.setStateTopics(abandoned(completed(group.stateTopics, made), failed))
  shard.commit(draft)
}

const isInitialising = ({ initialising }: StateTopics, topicId: Uuid, partition: number): boolean =>
  initialising.get(topicId)?.partitions.has(partition) === true

const topicStates = ({ topics }: WantedState): ReadonlyMap<Uuid, TopicState> =>
  new Map([...topics].map(([topicId, { name, starts }]) => [topicId, { name, partitions: new Set(starts.keys()) }]))
