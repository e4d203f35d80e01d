/** A consumer group as it will be: operations change it step by step, and its changes become one write, or nothing at all. */
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import type { StateRecord } from '../runtime/load-records.ts'
import type { ConsumerGroup } from './consumer-group.ts'
import { descriptionOf } from './consumer-group.ts'
import type { ConsumerMember } from './consumer-member.ts'
import { applyChange, type GroupChange, recordOf } from './group-change.ts'
import { metadataHashOf } from './metadata-hash.ts'

export class GroupDraft {
  readonly #records: StateRecord[] = []
  #group: ConsumerGroup
  #copied = false

  constructor(group: ConsumerGroup) {
    this.#group = group
  }

  /** The group with all changes so far; the one that was given until there is one. */
  get group(): ConsumerGroup {
    return this.#group
  }

  get records(): readonly StateRecord[] {
    return this.#records
  }

  apply(change: GroupChange): void {
    if (!this.#copied) this.#group = this.#group.copy()
    this.#copied = true
    applyChange(this.#group, change)
    this.#records.push(recordOf(this.#group.id, change))
  }

  setProgress(member: ConsumerMember): void {
    const { epoch, previousEpoch, state, assigned, revoking } = member
    const value = { epoch, previousEpoch, state, assigned, revoking }
    this.apply({ kind: 'progress', memberId: member.id, value })
  }

  describe(member: ConsumerMember): void {
    this.apply({ kind: 'member', memberId: member.id, value: descriptionOf(member) })
  }

  removeMember({ id, regex }: ConsumerMember): void {
    for (const kind of ['progress', 'target', 'member'] as const) this.apply({ kind, memberId: id, value: undefined })
    this.forgetUnusedRegex(regex)
  }

  forgetUnusedRegex(regex: string): void {
    if (regex === '' || this.#group.usesRegex(regex) || !this.#group.regexes.has(regex)) return
    this.apply({ kind: 'regex', regex, value: undefined })
  }

  /** The next group epoch, with the topics as they are now: the target has to be made anew. */
  bumpEpoch(image: MetadataImage): void {
    if (this.#group.hasOldMetadata) this.apply({ kind: 'old-metadata', value: undefined })
    const hash = metadataHashOf(image, this.#group.subscribed.keys())
    this.apply({ kind: 'epoch', value: { epoch: this.#group.epoch + 1, hash } })
    this.#group.topicsSeen = image.topics
  }

  /** Tombstones of everything. */
  removeAll(): void {
    const { group } = this
    const members = [...group.members.keys()]
    for (const kind of ['progress', 'target'] as const)
      for (const memberId of members) this.apply({ kind, memberId, value: undefined })
    this.apply({ kind: 'target-epoch', value: undefined })
    for (const memberId of members) this.apply({ kind: 'member', memberId, value: undefined })
    for (const regex of group.regexes.keys()) this.apply({ kind: 'regex', regex, value: undefined })
    if (group.hasOldMetadata) this.apply({ kind: 'old-metadata', value: undefined })
    this.apply({ kind: 'epoch', value: undefined })
  }
}
