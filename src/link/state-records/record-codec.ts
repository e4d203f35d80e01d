/** State records ⇄ bytes. A value is its version (int16) and the body; an unknown newer version is named, never guessed at. */
import { aclText } from '../acls/acl-names.ts'
import type { StateRecord } from '../ports.ts'
import {
  decodeGroupOffsets,
  encodeGroupOffsets,
  type GroupOffsetsRecord,
  groupOffsetsVersion,
} from './group-offsets-record.ts'
import { decodeKeyed, type Undecoded, versioned } from './keyed-record.ts'
import { decodeLinkRecord, encodeLinkRecord, type LinkRecord, linkRecordVersion } from './link-record.ts'
import {
  decodeMirrorCreation,
  encodeMirrorCreation,
  type MirrorCreationRecord,
  mirrorCreationVersion,
} from './mirror-creation-record.ts'
import type { MirrorRecord } from './mirror-record.ts'
import { decodeMirrorRecord, encodeMirrorRecord, mirrorRecordVersion } from './mirror-record-codec.ts'
import { decodeOwnedAcl, encodeOwnedAcl, type OwnedAclRecord, ownedAclVersion } from './owned-acl-record.ts'
import {
  decodeSourceEpochs,
  encodeSourceEpochs,
  type SourceEpochsRecord,
  sourceEpochsVersion,
} from './source-epochs-record.ts'
import {
  coordinatorKey,
  encodeStateKey,
  groupOffsetsKey,
  linkKey,
  mirrorCreationKey,
  mirrorKey,
  ownedAclKey,
  recordKinds,
  type StateKey,
  sourceEpochsKey,
} from './state-key.ts'

/** One replayed record. */
export type StateChangeRecord =
  /** `keyId`: of the key that its secrets are kept with; undefined = it did not say. */
  | { readonly kind: 'coordinator'; readonly keyId: string | undefined }
  | { readonly kind: 'link'; readonly record: LinkRecord }
  | { readonly kind: 'mirror'; readonly record: MirrorRecord }
  | { readonly kind: 'mirror-creation'; readonly record: MirrorCreationRecord }
  | { readonly kind: 'source-epochs'; readonly record: SourceEpochsRecord }
  | { readonly kind: 'group-offsets'; readonly record: GroupOffsetsRecord }
  | { readonly kind: 'owned-acl'; readonly record: OwnedAclRecord }
  /** What a record that cannot be read is about must stop. */
  | Undecoded

const record = (key: StateKey, version: number, body: Buffer): StateRecord => ({
  key: encodeStateKey(key),
  value: versioned(version, body),
})

export const linkStateRecord = (link: LinkRecord): StateRecord =>
  record(linkKey(link.linkId), linkRecordVersion, encodeLinkRecord(link))

export const mirrorStateRecord = (mirror: MirrorRecord): StateRecord =>
  record(mirrorKey(mirror.linkId, mirror.mirrorTopic), mirrorRecordVersion, encodeMirrorRecord(mirror))

export const mirrorCreationStateRecord = (creation: MirrorCreationRecord): StateRecord =>
  record(
    mirrorCreationKey(creation.linkId, creation.mirrorTopic),
    mirrorCreationVersion,
    encodeMirrorCreation(creation),
  )

export const sourceEpochsStateRecord = (epochs: SourceEpochsRecord): StateRecord =>
  record(
    sourceEpochsKey(epochs.topicId, epochs.partition, epochs.sourceClusterId),
    sourceEpochsVersion,
    encodeSourceEpochs(epochs),
  )

export const groupOffsetsStateRecord = (group: GroupOffsetsRecord): StateRecord =>
  record(groupOffsetsKey(group.linkId, group.group), groupOffsetsVersion, encodeGroupOffsets(group))

export const ownedAclStateRecord = (owned: OwnedAclRecord): StateRecord =>
  record(ownedAclKey(owned.linkId, aclText(owned.acl)), ownedAclVersion, encodeOwnedAcl(owned))

/** The no-op that a new coordinator commits before it decides anything; version 1 says which key it has. */
export const coordinatorStateRecord = (keyId?: string): StateRecord =>
  record(coordinatorKey, keyId === undefined ? 0 : 1, Buffer.from(keyId ?? ''))

export const tombstone = (key: StateKey): StateRecord => ({ key: encodeStateKey(key), value: null })

/** Never throws: what cannot be read is reported with its key. */
export const decodeStateRecord = (record: StateRecord): StateChangeRecord =>
  decodeKeyed(record, 'state record', decodeValue)

function decodeValue(key: StateKey, value: Buffer): StateChangeRecord {
  const version = value.readInt16BE(0)
  const body = value.subarray(2)
  const newest = newestVersions[key.kind]
  if (newest === undefined)
    return { kind: 'unreadable', key, reason: `kind ${key.kind} of state records is unknown to this version` }
  if (version < 0 || version > newest) {
    const reason = `its state record has version ${version}, this version of Lockstep knows up to ${newest}`
    return { kind: 'unreadable', key, reason }
  }
  const ofMirror = { linkId: key.scope, mirrorTopic: key.name }
  switch (key.kind) {
    case recordKinds.link:
      return { kind: 'link', record: decodeLinkRecord(body, key.scope) }
    case recordKinds.mirror:
      return { kind: 'mirror', record: decodeMirrorRecord(body, ofMirror, version) }
    case recordKinds.mirrorCreation:
      return { kind: 'mirror-creation', record: decodeMirrorCreation(body, ofMirror) }
    case recordKinds.sourceEpochs: {
      const ofEpochs = { topicId: key.scope, partition: key.partition, sourceClusterId: key.name }
      return { kind: 'source-epochs', record: decodeSourceEpochs(body, ofEpochs, version) }
    }
    case recordKinds.groupOffsets:
      return { kind: 'group-offsets', record: decodeGroupOffsets(body, { linkId: key.scope, group: key.name }) }
    case recordKinds.ownedAcl:
      return { kind: 'owned-acl', record: decodeOwnedAcl(body, key.scope) }
    default:
      return { kind: 'coordinator', keyId: version === 0 ? undefined : body.toString() }
  }
}

const newestVersions: Readonly<Record<number, number>> = {
  [recordKinds.coordinator]: 1,
  [recordKinds.link]: linkRecordVersion,
  [recordKinds.mirror]: mirrorRecordVersion,
  [recordKinds.mirrorCreation]: mirrorCreationVersion,
  [recordKinds.sourceEpochs]: sourceEpochsVersion,
  [recordKinds.groupOffsets]: groupOffsetsVersion,
  [recordKinds.ownedAcl]: ownedAclVersion,
}
