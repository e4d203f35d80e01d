/** A share group as it will be: operations change it step by step, and its changes become one write, or nothing at all. */
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { metadataHashOf } from '../consumer-groups/metadata-hash.ts'
import type { StateRecord } from '../runtime/load-records.ts'
import { applyShareChange, type ShareChange, shareRecordOf } from './share-change.ts'
import type { ShareGroup } from './share-group.ts'
import type { ShareMember } from './share-member.ts'
import type { StateTopics } from './state-topics.ts'

export class ShareDraft {
  readonly #records: StateRecord[] = []
  #group: ShareGroup
  #copied = false

  constructor(group: ShareGroup) {
    this.#group = group
  }

  /** The group with all changes so far; the one that was given until there is one. */
  get group(): ShareGroup {
    return this.#group
  }

  get records(): readonly StateRecord[] {
    return this.#records
  }

  apply(change: ShareChange): void {
    if (!this.#copied) this.#group = this.#group.copy()
    this.#copied = true
    applyShareChange(this.#group, change)
    this.#records.push(shareRecordOf(this.#group.id, change))
  }

  describe({ id, rackId, clientId, clientHost, topics }: ShareMember): void {
    this.apply({ kind: 'member', memberId: id, value: { rackId, clientId, clientHost, topics } })
  }

  setProgress({ id, epoch, previousEpoch, assigned }: ShareMember): void {
    this.apply({ kind: 'progress', memberId: id, value: { epoch, previousEpoch, assigned } })
  }

  setStateTopics(value: StateTopics): void {
    this.apply({ kind: 'state-topics', value })
  }

  removeMember(memberId: string): void {
    for (const kind of ['progress', 'target', 'member'] as const) this.apply({ kind, memberId, value: undefined })
  }

  /** The next group epoch, with the topics as they are now: the target has to be made anew. */
  bumpEpoch(image: MetadataImage): void {
    const hash = metadataHashOf(image, this.#group.subscribed)
    this.apply({ kind: 'epoch', value: { epoch: this.#group.epoch + 1, hash } })
    this.#group.topicsSeen = image.topics
  }

  /** Tombstones of everything. */
  removeAll(): void {
    const members = [...this.#group.members.keys()]
    for (const kind of ['progress', 'target'] as const)
      for (const memberId of members) this.apply({ kind, memberId, value: undefined })
    this.apply({ kind: 'target-epoch', value: undefined })
    for (const memberId of members) this.apply({ kind: 'member', memberId, value: undefined })
    this.apply({ kind: 'state-topics', value: undefined })
    this.apply({ kind: 'epoch', value: undefined })
  }
}
