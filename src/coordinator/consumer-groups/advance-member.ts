/** What a heartbeat and a join of a consumer group have in common: the member as it describes itself now, the group's epoch, the target, and one step towards it. */
import type { Uuid } from '../../core/uuid.ts'
import type { ConsumerMember } from './consumer-member.ts'
import { isReconciledTo, sameDescription, sameSubscription } from './consumer-member.ts'
import type { ConsumerMembership } from './consumer-membership.ts'
import type { GroupDraft } from './group-draft.ts'
import { makeTarget } from './make-target.ts'
import { metadataHashOf } from './metadata-hash.ts'
import type { Partitions } from './partition-sets.ts'
import { reconcileMember } from './reconcile-member.ts'
import { resolveTopicRegex } from './topic-regex.ts'

export interface Advance {
  /** As the group knows it, or new. */
  readonly member: ConsumerMember
  /** As it describes itself now. */
  readonly described: ConsumerMember
  readonly owned: Partitions | undefined
  /** What the client may see; undefined: regular expressions are not looked at. */
  readonly describable?: (names: readonly string[]) => ReadonlySet<string>
}

/** New topics are looked for this often at most, as in Kafka. */
const REGEX_INTERVAL_MS = 10_000

/** The member after it. Throws CoordinatorError. */
export function advanceMember(shard: ConsumerMembership, draft: GroupDraft, advance: Advance): ConsumerMember {
  const { member, described } = advance
  const { context, nowMs } = shard
  const image = context.image()
  const isNew = !draft.group.members.has(described.id)
  if (isNew || !sameDescription(member, described)) draft.describe(described)
  const subscribesAnew = !sameSubscription(member, described)
  if (subscribesAnew) draft.forgetUnusedRegex(member.regex)
  const matchesAnew = resolveRegexes(shard, draft, advance)
  if (isNew || subscribesAnew || matchesAnew || topicsChanged(draft, image)) draft.bumpEpoch(image)
  const { assignmentIntervalMs } = shard.settingsOf(draft.group.id)
  const { targetMs, epoch, targetEpoch } = draft.group
  const isDue = targetMs === undefined || targetEpoch === 0 || nowMs - targetMs >= assignmentIntervalMs
  if (epoch > targetEpoch && isDue) makeTarget(draft, { image, nowMs, supported: context.settings.consumer.assignors })
  const { group } = draft
  const present = group.members.get(described.id) ?? described
  if (isReconciledTo(present, group.targetEpoch) && !subscribesAnew) return present
  const names = group.subscriptionOf(present)
  const reconciled = reconcileMember(present, {
    targetEpoch: group.targetEpoch,
    target: group.targetOf(present.id),
    owned: advance.owned,
    subscribes: (topicId: Uuid) => names.has(image.topics.get(topicId)?.name ?? ''),
    isHeld: (topicId, partition) => group.holderOf(topicId, partition) !== undefined,
  })
  if (reconciled !== present) draft.setProgress(reconciled)
  return reconciled
}

/** Has something happened to the topics that the group subscribes to? Compares only when any topic has changed. */
function topicsChanged({ group }: GroupDraft, image: ReturnType<ConsumerMembership['context']['image']>): boolean {
  if (group.topicsSeen === image.topics) return false
  if (metadataHashOf(image, group.subscribed.keys()) !== group.metadataHash) return true
  group.topicsSeen = image.topics
  return false
}

/** True if an expression matches other topics than before. */
function resolveRegexes(shard: ConsumerMembership, draft: GroupDraft, { described, describable }: Advance): boolean {
  if (!describable) return false
  const { context, nowMs } = shard
  const image = context.image()
  let changed = false
  const resolve = (regex: string) => {
    const resolved = resolveTopicRegex(regex, image, { describable, nowMs })
    const before = draft.group.regexes.get(regex)
    if (before && before.topics.join() === resolved.topics.join()) return
    draft.apply({ kind: 'regex', regex, value: resolved })
    changed = true
  }
  if (described.regex !== '' && !draft.group.regexes.has(described.regex)) resolve(described.regex)
  const { group } = draft
  if (group.regexes.size === 0) return changed
  const sinceMs = nowMs - group.regexesSeenMs
  const isDue = group.regexTopicsSeen === image.topics ? sinceMs >= context.settings.consumer.regexRefreshMs : true
  if (sinceMs < REGEX_INTERVAL_MS || !isDue) return changed
  for (const regex of [...group.regexes.keys()]) resolve(regex)
  draft.group.regexTopicsSeen = image.topics
  draft.group.regexesSeenMs = nowMs
  return changed
}
