/** A consumer group of KIP-848 as its records tell: members, their target and who holds which partition; GroupDraft changes it, and nothing else does. */
import type { Uuid } from '../../core/uuid.ts'
import type { ConsumerMember, MemberDescription, MemberProgress } from './consumer-member.ts'
import { newMember } from './consumer-member.ts'
import { eachPartition, NO_PARTITIONS, type Partitions } from './partition-sets.ts'

/** As clients see them. */
export type ConsumerGroupState = 'Empty' | 'Assigning' | 'Reconciling' | 'Stable'

/** Topics that a regular expression has matched. */
export interface ResolvedRegex {
  readonly topics: readonly string[]
  /** Offset of the metadata that was looked at. */
  readonly version: bigint
  readonly timestampMs: number
}

export class ConsumerGroup {
  readonly id: string
  epoch = 0
  /** Of the subscribed topics as they were when the epoch began. */
  metadataHash = 0n
  /** Group epoch that the target was made for. */
  targetEpoch = 0
  /** When the target was made; undefined = not known. */
  targetMs: number | undefined
  /** The log has a record of a type that Kafka 4.0 wrote and nobody reads any more. */
  hasOldMetadata = false
  /** The topics of the cluster when the hash was last compared; not stored. */
  topicsSeen: unknown
  /** The topics of the cluster when regular expressions were last tried on them, and when that was; not stored. */
  regexTopicsSeen: unknown
  regexesSeenMs = 0
  readonly #members: Map<string, ConsumerMember>
  readonly #targets: Map<string, Partitions>
  readonly #regexes: Map<string, ResolvedRegex>
  readonly #staticMembers: Map<string, string>
  /** Member that holds a partition or has to give it up. */
  readonly #holders: Map<Uuid, Map<number, string>>
  #subscribed: ReadonlyMap<string, number> | undefined

  constructor(id: string, from?: ConsumerGroup) {
    this.id = id
    this.#members = new Map(from?.members)
    this.#targets = new Map(from?.targets)
    this.#regexes = new Map(from?.regexes)
    this.#staticMembers = new Map(from?.staticMembers)
    this.#holders = new Map()
    for (const [topicId, held] of from?.holders ?? []) this.#holders.set(topicId, new Map(held))
  }

  copy(): ConsumerGroup {
    const copy = new ConsumerGroup(this.id, this)
    copy.epoch = this.epoch
    copy.metadataHash = this.metadataHash
    copy.targetEpoch = this.targetEpoch
    copy.targetMs = this.targetMs
    copy.hasOldMetadata = this.hasOldMetadata
    copy.topicsSeen = this.topicsSeen
    copy.regexTopicsSeen = this.regexTopicsSeen
    copy.regexesSeenMs = this.regexesSeenMs
    return copy
  }

  get members(): ReadonlyMap<string, ConsumerMember> {
    return this.#members
  }

  get targets(): ReadonlyMap<string, Partitions> {
    return this.#targets
  }

  get regexes(): ReadonlyMap<string, ResolvedRegex> {
    return this.#regexes
  }

  /** Instance id → member id. */
  get staticMembers(): ReadonlyMap<string, string> {
    return this.#staticMembers
  }

  get holders(): ReadonlyMap<Uuid, ReadonlyMap<number, string>> {
    return this.#holders
  }

  get isEmpty(): boolean {
    return this.#members.size === 0
  }

  get state(): ConsumerGroupState {
    if (this.isEmpty) return 'Empty'
    if (this.epoch > this.targetEpoch) return 'Assigning'
    for (const { state, epoch } of this.#members.values())
      if (state !== 'stable' || epoch !== this.targetEpoch) return 'Reconciling'
    return 'Stable'
  }

  staticMember(instanceId: string): ConsumerMember | undefined {
    const id = this.#staticMembers.get(instanceId)
    return id === undefined ? undefined : this.#members.get(id)
  }

  targetOf(memberId: string): Partitions {
    return this.#targets.get(memberId) ?? NO_PARTITIONS
  }

  /** Who holds the partition, or has not said yet that it gave it up. */
  holderOf(topicId: Uuid, partition: number): string | undefined {
    return this.#holders.get(topicId)?.get(partition)
  }

  /** Names of the topics that the member subscribes to, by name or by regular expression. */
  subscriptionOf({ topics, regex }: Pick<ConsumerMember, 'topics' | 'regex'>): ReadonlySet<string> {
    const matched = regex === '' ? undefined : this.#regexes.get(regex)?.topics
    return new Set(matched ? [...topics, ...matched] : topics)
  }

  /** Topics that anybody subscribes to, with the number of members that do. */
  get subscribed(): ReadonlyMap<string, number> {
    if (this.#subscribed) return this.#subscribed
    const counts = new Map<string, number>()
    for (const member of this.#members.values())
      for (const topic of this.subscriptionOf(member)) counts.set(topic, (counts.get(topic) ?? 0) + 1)
    this.#subscribed = counts
    return counts
  }

  isSubscribedTo(topic: string): boolean {
    return this.subscribed.has(topic)
  }

  /** The assignor that most members ask for; undefined if nobody asks. */
  get preferredAssignor(): string | undefined {
    const votes = new Map<string, number>()
    for (const { assignor } of this.#members.values())
      if (assignor !== null) votes.set(assignor, (votes.get(assignor) ?? 0) + 1)
    let winner: [string, number] | undefined
    for (const vote of votes) if (!winner || vote[1] > winner[1]) winner = vote
    return winner?.[0]
  }

  usesRegex(regex: string): boolean {
    for (const member of this.#members.values()) if (member.regex === regex) return true
    return false
  }

  describeMember(id: string, description: MemberDescription | undefined): void {
    const before = this.#members.get(id)
    if (description) return this.#put({ ...(before ?? newMember(id)), ...description, id })
    if (!before) return
    this.#release(before)
    this.#members.delete(id)
    this.#subscribed = undefined
    if (before.instanceId !== null && this.#staticMembers.get(before.instanceId) === id)
      this.#staticMembers.delete(before.instanceId)
  }

  /** undefined: the member has got nowhere. */
  setProgress(id: string, progress: MemberProgress | undefined): void {
    const before = this.#members.get(id)
    if (progress) return this.#put({ ...(before ?? newMember(id)), ...progress, id })
    if (before) this.#put({ ...newMember(id), ...descriptionOf(before) })
  }

  setTarget(memberId: string, target: Partitions | undefined): void {
    if (target) this.#targets.set(memberId, target)
    else this.#targets.delete(memberId)
  }

  setRegex(regex: string, resolved: ResolvedRegex | undefined): void {
    if (resolved) this.#regexes.set(regex, resolved)
    else this.#regexes.delete(regex)
    this.#subscribed = undefined
  }

  #put(member: ConsumerMember): void {
    const before = this.#members.get(member.id)
    if (before) this.#release(before)
    this.#members.set(member.id, member)
    if (member.instanceId !== null) this.#staticMembers.set(member.instanceId, member.id)
    for (const held of [member.assigned, member.revoking])
      for (const [topicId, partition] of eachPartition(held)) {
        const holders = this.#holders.get(topicId) ?? new Map<number, string>()
        this.#holders.set(topicId, holders)
        holders.set(partition, member.id)
      }
    if (!before || before.topics !== member.topics || before.regex !== member.regex) this.#subscribed = undefined
  }

  /** What somebody else has taken since is the other's. */
  #release(member: ConsumerMember): void {
    for (const held of [member.assigned, member.revoking])
      for (const [topicId, partition] of eachPartition(held)) {
        const holders = this.#holders.get(topicId)
        if (holders?.get(partition) === member.id) holders.delete(partition)
        if (holders?.size === 0) this.#holders.delete(topicId)
      }
  }
}

export const descriptionOf = (member: MemberDescription): MemberDescription => {
  const { instanceId, rackId, clientId, clientHost, rebalanceTimeoutMs, topics, regex, assignor, classic } = member
  return { instanceId, rackId, clientId, clientHost, rebalanceTimeoutMs, topics, regex, assignor, classic }
}
