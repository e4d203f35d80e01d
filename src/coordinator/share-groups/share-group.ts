/** A share group (KIP-932) as its records tell: members, their target, and the partitions that have state; ShareDraft changes it, and nothing else does. */
import { NO_PARTITIONS, type Partitions } from '../consumer-groups/partition-sets.ts'
import {
  newShareMember,
  type ShareMember,
  type ShareMemberDescription,
  type ShareMemberProgress,
  withoutProgress,
} from './share-member.ts'
import { NO_STATE, type StateTopics } from './state-topics.ts'

/** As clients see them. */
export type ShareGroupState = 'Empty' | 'Stable'

export class ShareGroup {
  readonly id: string
  epoch = 0
  /** Of the subscribed topics as they were when the epoch began. */
  metadataHash = 0n
  /** Group epoch that the target was made for. */
  targetEpoch = 0
  /** When the target was made; undefined = not known. */
  targetMs: number | undefined
  stateTopics: StateTopics = NO_STATE
  /** The topics of the cluster when the hash was last compared; not stored. */
  topicsSeen: unknown
  readonly #members: Map<string, ShareMember>
  readonly #targets: Map<string, Partitions>
  #subscribed: ReadonlySet<string> | undefined

  constructor(id: string, from?: ShareGroup) {
    this.id = id
    this.#members = new Map(from?.members)
    this.#targets = new Map(from?.targets)
  }

  copy(): ShareGroup {
    const copy = new ShareGroup(this.id, this)
    copy.epoch = this.epoch
    copy.metadataHash = this.metadataHash
    copy.targetEpoch = this.targetEpoch
    copy.targetMs = this.targetMs
    copy.stateTopics = this.stateTopics
    copy.topicsSeen = this.topicsSeen
    return copy
  }

  get members(): ReadonlyMap<string, ShareMember> {
    return this.#members
  }

  get targets(): ReadonlyMap<string, Partitions> {
    return this.#targets
  }

  get isEmpty(): boolean {
    return this.#members.size === 0
  }

  get state(): ShareGroupState {
    return this.isEmpty ? 'Empty' : 'Stable'
  }

  targetOf(memberId: string): Partitions {
    return this.#targets.get(memberId) ?? NO_PARTITIONS
  }

  /** Names of the topics that anybody subscribes to. */
  get subscribed(): ReadonlySet<string> {
    this.#subscribed ??= new Set([...this.#members.values()].flatMap(({ topics }) => topics))
    return this.#subscribed
  }

  describeMember(id: string, description: ShareMemberDescription | undefined): void {
    if (description) this.#members.set(id, { ...(this.#members.get(id) ?? newShareMember(id)), ...description, id })
    else this.#members.delete(id)
    this.#subscribed = undefined
  }

  /** undefined: the member has got nowhere. */
  setProgress(id: string, progress: ShareMemberProgress | undefined): void {
    const before = this.#members.get(id)
    if (progress) this.#members.set(id, { ...(before ?? newShareMember(id)), ...progress, id })
    else if (before) this.#members.set(id, withoutProgress(before))
  }

  setTarget(memberId: string, target: Partitions | undefined): void {
    if (target) this.#targets.set(memberId, target)
    else this.#targets.delete(memberId)
  }
}
