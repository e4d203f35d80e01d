/** Keys of `__lockstep_state`: what a record is about. The layout never changes, so that every version can read every key. */
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import { int16, int32, string, uuid } from '../../protocol/schema/field.ts'
import { message } from '../../protocol/schema/message.ts'

/** What kinds of records there are; numbers are for ever. */
export const recordKinds = {
  coordinator: 0,
  link: 1,
  mirror: 2,
  mirrorCreation: 3,
  sourceEpochs: 4,
  groupOffsets: 5,
  ownedAcl: 6,
} as const

/** One key. Fields that a kind does not use have their zero value. */
export interface StateKey {
  readonly kind: number
  /** The link's id; the destination topic's id for kinds about a partition's log. */
  readonly scope: Uuid
  /** Mirror topic name; the source cluster's id for source epochs, the group's id here for group offsets. */
  readonly name: string
  readonly partition: number
}

const keyTable = message({
  name: 'LockstepStateKey',
  versions: '0',
  fields: { kind: int16(), scope: uuid(), name: string(), partition: int32() },
})

export const encodeStateKey = (key: StateKey): Buffer => keyTable.encode(key, 0)

/** Throws DecodeError. */
export const decodeStateKey = (key: Buffer): StateKey => keyTable.decode(key, 0)

export const coordinatorKey: StateKey = { kind: recordKinds.coordinator, scope: ZERO_UUID, name: '', partition: -1 }

export const linkKey = (linkId: Uuid): StateKey => ({ kind: recordKinds.link, scope: linkId, name: '', partition: -1 })

export const mirrorKey = (linkId: Uuid, mirrorTopic: string): StateKey => ({
  kind: recordKinds.mirror,
  scope: linkId,
  name: mirrorTopic,
  partition: -1,
})

export const mirrorCreationKey = (linkId: Uuid, mirrorTopic: string): StateKey => ({
  kind: recordKinds.mirrorCreation,
  scope: linkId,
  name: mirrorTopic,
  partition: -1,
})

/** Epochs belong to the log (topic id, partition) and the cluster that they came from, never to a link's name. */
export const sourceEpochsKey = (topicId: Uuid, partition: number, sourceClusterId: string): StateKey => ({
  kind: recordKinds.sourceEpochs,
  scope: topicId,
  name: sourceClusterId,
  partition,
})

export const groupOffsetsKey = (linkId: Uuid, group: string): StateKey => ({
  kind: recordKinds.groupOffsets,
  scope: linkId,
  name: group,
  partition: -1,
})

/** `acl`: the ACL as text. */
export const ownedAclKey = (linkId: Uuid, acl: string): StateKey => ({
  kind: recordKinds.ownedAcl,
  scope: linkId,
  name: acl,
  partition: -1,
})

/** The key as text, for maps and messages. */
export const stateKeyText = (key: StateKey): string => `${key.kind}/${key.scope}/${key.name}/${key.partition}`
