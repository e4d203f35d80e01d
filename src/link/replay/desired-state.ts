/** What the replayed records of `__lockstep_state` say should be; changed by `apply` only, so that every node reads the same. */
import type { Uuid } from '../../core/uuid.ts'
import type { AclBinding } from '../acl-ports.ts'
import { aclText } from '../acls/acl-names.ts'
import type { GroupOffsetsRecord, WrittenOffset } from '../state-records/group-offsets-record.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import type { MirrorCreationRecord } from '../state-records/mirror-creation-record.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import type { OwnedAclRecord } from '../state-records/owned-acl-record.ts'
import type { StateChangeRecord } from '../state-records/record-codec.ts'
import type { EpochRange, SourceEpochsRecord } from '../state-records/source-epochs-record.ts'
import {
  groupOffsetsKey,
  linkKey,
  mirrorCreationKey,
  mirrorKey,
  ownedAclKey,
  recordKinds,
  type StateKey,
  sourceEpochsKey,
  stateKeyText,
} from '../state-records/state-key.ts'

/** A key whose record this version cannot read. */
export interface UnreadableRecord {
  readonly key: StateKey
  readonly reason: string
}

/** A pure function of the records applied so far; holds no time and does no I/O. */
export class DesiredState {
  readonly #links = new Map<string, LinkRecord>()
  readonly #mirrors = new Map<string, MirrorRecord>()
  readonly #creations = new Map<string, MirrorCreationRecord>()
  readonly #epochs = new Map<string, SourceEpochsRecord>()
  readonly #groupOffsets = new Map<string, GroupOffsetsRecord>()
  readonly #ownedAcls = new Map<string, OwnedAclRecord>()
  readonly #unreadable = new Map<string, UnreadableRecord>()
  readonly #mirrorsByTopicId = new Map<Uuid, Map<string, MirrorRecord>>()
  readonly #epochKeysByTopicId = new Map<Uuid, Map<string, StateKey>>()
  #garbage: string | undefined
  #secretKeyId: string | undefined

  apply(change: StateChangeRecord): void {
    switch (change.kind) {
      case 'coordinator':
        this.#secretKeyId = change.keyId ?? this.#secretKeyId
        return
      case 'garbage':
        this.#garbage = change.reason
        return
      case 'unreadable':
        // What was known under this key stays, so that nothing becomes writable; whoever acts asks `problemOf` first.
        this.#unreadable.set(stateKeyText(change.key), change)
        return
      case 'removed':
        return this.#remove(change.key)
      case 'link':
        return this.#readable(linkKey(change.record.linkId), text => this.#links.set(text, change.record))
      case 'mirror':
        return this.#applyMirror(change.record)
      case 'mirror-creation': {
        const { linkId, mirrorTopic } = change.record
        return this.#readable(mirrorCreationKey(linkId, mirrorTopic), text => this.#creations.set(text, change.record))
      }
      case 'source-epochs':
        return this.#applyEpochs(change.record)
      case 'owned-acl': {
        const { linkId, acl } = change.record
        return this.#readable(ownedAclKey(linkId, aclText(acl)), text => this.#ownedAcls.set(text, change.record))
      }
      case 'group-offsets': {
        const { linkId, group } = change.record
        return this.#readable(groupOffsetsKey(linkId, group), text => this.#groupOffsets.set(text, change.record))
      }
    }
  }

  /** Of the key with which the last coordinator that said so keeps secrets. */
  get secretKeyId(): string | undefined {
    return this.#secretKeyId
  }

  links(): MapIterator<LinkRecord> {
    return this.#links.values()
  }

  link(linkId: Uuid): LinkRecord | undefined {
    return this.#links.get(stateKeyText(linkKey(linkId)))
  }

  linkByName(name: string): LinkRecord | undefined {
    return this.#links.values().find(link => link.name === name)
  }

  mirrors(): MapIterator<MirrorRecord> {
    return this.#mirrors.values()
  }

  mirrorsOf(linkId: Uuid): MirrorRecord[] {
    return [...this.#mirrors.values()].filter(mirror => mirror.linkId === linkId)
  }

  mirror(linkId: Uuid, mirrorTopic: string): MirrorRecord | undefined {
    return this.#mirrors.get(stateKeyText(mirrorKey(linkId, mirrorTopic)))
  }

  /** All records bound to a destination topic: more than one after a topic went from one link to another. */
  mirrorsOfTopic(topicId: Uuid): Iterable<MirrorRecord> {
    return this.#mirrorsByTopicId.get(topicId)?.values() ?? []
  }

  /** Mirrors whose creation has begun and not ended. */
  creations(): MapIterator<MirrorCreationRecord> {
    return this.#creations.values()
  }

  creationOf(mirrorTopic: string): MirrorCreationRecord | undefined {
    return this.#creations.values().find(creation => creation.mirrorTopic === mirrorTopic)
  }

  epochRanges(topicId: Uuid, partition: number, sourceClusterId: string): readonly EpochRange[] {
    return this.#epochs.get(stateKeyText(sourceEpochsKey(topicId, partition, sourceClusterId)))?.ranges ?? []
  }

  /** Leader epochs of this cluster in which the partition was mirrored from that source, ascending. */
  ledEpochs(topicId: Uuid, partition: number, sourceClusterId: string): readonly number[] {
    return this.#epochs.get(stateKeyText(sourceEpochsKey(topicId, partition, sourceClusterId)))?.ledEpochs ?? []
  }

  /** Keys of all epoch records, by destination topic. */
  epochKeysOf(topicId: Uuid): StateKey[] {
    return [...(this.#epochKeysByTopicId.get(topicId)?.values() ?? [])]
  }

  topicsWithEpochs(): MapIterator<Uuid> {
    return this.#epochKeysByTopicId.keys()
  }

  /** What this link wrote last for a group; empty = nothing yet. */
  groupOffsets(linkId: Uuid, group: string): readonly WrittenOffset[] {
    return this.#groupOffsets.get(stateKeyText(groupOffsetsKey(linkId, group)))?.written ?? []
  }

  groupsWrittenBy(linkId: Uuid): string[] {
    return [...this.#groupOffsets.values()].filter(record => record.linkId === linkId).map(({ group }) => group)
  }

  /** ACLs of this cluster that the link created. */
  ownedAcls(linkId: Uuid): AclBinding[] {
    return [...this.#ownedAcls.values()].filter(record => record.linkId === linkId).map(({ acl }) => acl)
  }

  isAclOwnedByAnother(linkId: Uuid, acl: AclBinding): boolean {
    return this.#links.values().some(link => {
      return link.linkId !== linkId && this.#ownedAcls.has(stateKeyText(ownedAclKey(link.linkId, aclText(acl))))
    })
  }

  /** Why this link must not act: a record about it or its mirrors cannot be read. undefined = it may. */
  problemOf(linkId: Uuid): string | undefined {
    if (this.#garbage !== undefined) return this.#garbage
    for (const { key, reason } of this.#unreadable.values()) {
      if (key.scope === linkId) return reason
      for (const mirror of this.mirrorsOfTopic(key.scope)) if (mirror.linkId === linkId) return reason
    }
    return undefined
  }

  /** Is there an unreadable record about a mirror of this name? Then nobody can tell whether the topic is writable. */
  unreadableMirror(topic: string): UnreadableRecord | undefined {
    if (this.#unreadable.size === 0) return undefined
    return this.#unreadable.values().find(record => record.key.kind !== recordKinds.link && record.key.name === topic)
  }

  unreadable(): MapIterator<UnreadableRecord> {
    return this.#unreadable.values()
  }

  #readable(key: StateKey, store: (text: string) => void): void {
    const text = stateKeyText(key)
    this.#unreadable.delete(text)
    store(text)
  }

  #applyMirror(record: MirrorRecord): void {
    this.#readable(mirrorKey(record.linkId, record.mirrorTopic), text => {
      this.#unindexMirror(text)
      this.#mirrors.set(text, record)
      const ofTopic = this.#mirrorsByTopicId.get(record.topicId) ?? new Map<string, MirrorRecord>()
      this.#mirrorsByTopicId.set(record.topicId, ofTopic.set(text, record))
    })
  }

  #applyEpochs(record: SourceEpochsRecord): void {
    const key = sourceEpochsKey(record.topicId, record.partition, record.sourceClusterId)
    this.#readable(key, text => {
      this.#epochs.set(text, record)
      const ofTopic = this.#epochKeysByTopicId.get(record.topicId) ?? new Map<string, StateKey>()
      this.#epochKeysByTopicId.set(record.topicId, ofTopic.set(text, key))
    })
  }

  #remove(key: StateKey): void {
    this.#readable(key, text => {
      this.#unindexMirror(text)
      this.#links.delete(text)
      this.#mirrors.delete(text)
      this.#creations.delete(text)
      this.#groupOffsets.delete(text)
      this.#ownedAcls.delete(text)
      if (!this.#epochs.delete(text)) return
      const ofTopic = this.#epochKeysByTopicId.get(key.scope)
      ofTopic?.delete(text)
      if (ofTopic?.size === 0) this.#epochKeysByTopicId.delete(key.scope)
    })
  }

  #unindexMirror(text: string): void {
    const previous = this.#mirrors.get(text)
    if (!previous) return
    const ofTopic = this.#mirrorsByTopicId.get(previous.topicId)
    ofTopic?.delete(text)
    if (ofTopic?.size === 0) this.#mirrorsByTopicId.delete(previous.topicId)
  }
}
