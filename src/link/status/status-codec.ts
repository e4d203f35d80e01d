/**
 * Published records ⇄ bytes. A value is its version (int16) and a flexible body: a later version of Lockstep adds facts as
 * tagged fields, which older ones pass over, or as kinds of their own; it raises the number of a version only where older
 * ones must not go on reading.
 */
import { array, bool, int32, int64, list, string, struct, uuid } from '../../protocol/schema/field.ts'
import { message } from '../../protocol/schema/message.ts'
import type { StateRecord } from '../ports.ts'
import { decodeKeyed, type Undecoded, versioned } from '../state-records/keyed-record.ts'
import { encodeStateKey, type StateKey } from '../state-records/state-key.ts'
import {
  clusterStatusKey,
  linkStatusKey,
  mirrorStatusKey,
  reversalStatusKey,
  statusKinds,
  stopPointStatusKey,
} from './status-key.ts'
import type { ClusterStatus, LinkStatus, MirrorStatus, ReversalStatus, StopPointStatus } from './status-records.ts'

/** One record of the topic. */
export type StatusChange =
  | { readonly kind: 'cluster'; readonly key: StateKey; readonly record: ClusterStatus }
  | { readonly kind: 'link'; readonly key: StateKey; readonly record: LinkStatus }
  | { readonly kind: 'mirror'; readonly key: StateKey; readonly record: MirrorStatus }
  | { readonly kind: 'stop-point'; readonly key: StateKey; readonly record: StopPointStatus }
  | { readonly kind: 'reversal'; readonly key: StateKey; readonly record: ReversalStatus }
  /** A kind that a later version publishes. */
  | { readonly kind: 'other'; readonly key: StateKey }
  | Undecoded

/** Newest version of every kind that is written and understood. */
const version = 0

const clusterTable = message({
  name: 'LockstepClusterStatusValue',
  versions: '0',
  flexibleFrom: 0,
  fields: { clusterId: string(), takesReverses: bool({ tag: 0 }) },
})

const linkTable = message({
  name: 'LockstepLinkStatusValue',
  versions: '0',
  flexibleFrom: 0,
  fields: {
    name: string(),
    mode: string(),
    remoteClusterId: string({ nullable: '0+' }),
    createdTimeMs: int64(),
    groupFilters: string({ nullable: '0+', default: null, tag: 0 }),
    isPaused: bool({ tag: 1 }),
    problem: string({ nullable: '0+', default: null, tag: 2 }),
  },
})

const mirrorTable = message({
  name: 'LockstepMirrorStatusValue',
  versions: '0',
  flexibleFrom: 0,
  fields: {
    topicId: uuid(),
    linkName: string(),
    state: string(),
    stateEpoch: int32(),
    stateTimeMs: int64(),
    partitions: int32(),
    chain: array(struct({ clusterId: string(), topic: string(), topicId: uuid() })),
    chainEnd: string(),
    configs: array(struct({ name: string(), value: string({ nullable: '0+' }), overridden: bool() })),
  },
})

const stopPointTable = message({
  name: 'LockstepStopPointStatusValue',
  versions: '0',
  flexibleFrom: 0,
  fields: {
    topicId: uuid(),
    sourceClusterId: string(),
    sourceTopicId: uuid(),
    stopOffset: int64(),
    lastSourceEpoch: int32(),
    timeMs: int64(),
    sourceEpochs: array(struct({ epoch: int32(), firstOffset: int64() })),
    ofSource: bool({ tag: 0 }),
  },
})

const reversalTable = message({
  name: 'LockstepReversalStatusValue',
  versions: '0',
  flexibleFrom: 0,
  fields: {
    topicId: uuid(),
    stateEpoch: int32(),
    request: int32(),
    paused: bool(),
    sealedOffsets: list(int64),
    withdrawn: bool(),
    abortedTransactions: int32(),
    windowMs: int64(),
    reason: string(),
    admitsWriters: bool({ tag: 0 }),
    isHurried: bool({ tag: 1 }),
  },
})

const published = (key: StateKey, body: Buffer): StateRecord => ({
  key: encodeStateKey(key),
  value: versioned(version, body),
})

export const clusterStatusRecord = (cluster: ClusterStatus): StateRecord =>
  published(clusterStatusKey, clusterTable.encode(cluster, version))

export function linkStatusRecord({ linkId, remoteClusterId, createdTimeMs, ...link }: LinkStatus): StateRecord {
  const { groupFilters = null, problem = null } = link
  const more = { remoteClusterId: remoteClusterId ?? null, createdTimeMs: BigInt(createdTimeMs), groupFilters, problem }
  const value = { ...link, ...more }
  return published(linkStatusKey(linkId), linkTable.encode(value, version))
}

export function mirrorStatusRecord({ linkId, mirrorTopic, stateTimeMs, ...mirror }: MirrorStatus): StateRecord {
  const { chain, configs, ...rest } = mirror
  const value = { ...rest, stateTimeMs: BigInt(stateTimeMs), chain: [...chain], configs: [...configs] }
  return published(mirrorStatusKey(linkId, mirrorTopic), mirrorTable.encode(value, version))
}

export function stopPointStatusRecord(point: StopPointStatus): StateRecord {
  const { linkId, mirrorTopic, partition, stopOffset, lastSourceEpoch, timeMs, sourceEpochs, ...rest } = point
  const value = {
    ...rest,
    stopOffset: BigInt(stopOffset),
    lastSourceEpoch: lastSourceEpoch ?? -1,
    timeMs: BigInt(timeMs),
    sourceEpochs: sourceEpochs.map(({ epoch, firstOffset }) => ({ epoch, firstOffset: BigInt(firstOffset) })),
  }
  return published(stopPointStatusKey(linkId, mirrorTopic, partition), stopPointTable.encode(value, version))
}

export function reversalStatusRecord({ linkId, mirrorTopic, ...reversal }: ReversalStatus): StateRecord {
  const { sealedOffsets, windowMs = -1, ...rest } = reversal
  const value = { ...rest, sealedOffsets: sealedOffsets.map(BigInt), windowMs: BigInt(windowMs) }
  return published(reversalStatusKey(linkId, mirrorTopic), reversalTable.encode(value, version))
}

/** Never throws: what cannot be read is reported with its key. */
export const decodeStatusRecord = (record: StateRecord): StatusChange => decodeKeyed(record, 'record', decodeValue)

function decodeValue(key: StateKey, value: Buffer): StatusChange {
  const decode = decoders[key.kind]
  if (!decode) return { kind: 'other', key }
  const found = value.readInt16BE(0)
  if (found === version) return decode(key, value.subarray(2))
  const reason = `its record has version ${found}, this version of Lockstep knows up to ${version}`
  return { kind: 'unreadable', key, reason }
}

const decoders: Readonly<Record<number, (key: StateKey, body: Buffer) => StatusChange>> = {
  [statusKinds.cluster]: (key, body) => ({ kind: 'cluster', key, record: clusterTable.decode(body, version) }),
  [statusKinds.link]: (key, body) => {
    const { remoteClusterId, createdTimeMs, groupFilters, problem, ...link } = linkTable.decode(body, version)
    const more = { remoteClusterId: remoteClusterId ?? undefined, createdTimeMs: Number(createdTimeMs) }
    const optional = { groupFilters: groupFilters ?? undefined, problem: problem ?? undefined }
    return { kind: 'link', key, record: { linkId: key.scope, ...link, ...more, ...optional } }
  },
  [statusKinds.mirror]: (key, body) => {
    const { stateTimeMs, ...mirror } = mirrorTable.decode(body, version)
    const of = { linkId: key.scope, mirrorTopic: key.name }
    return { kind: 'mirror', key, record: { ...of, ...mirror, stateTimeMs: Number(stateTimeMs) } }
  },
  [statusKinds.reversal]: (key, body) => {
    const { sealedOffsets, windowMs, ...rest } = reversalTable.decode(body, version)
    const of = { linkId: key.scope, mirrorTopic: key.name, sealedOffsets: sealedOffsets.map(Number) }
    return { kind: 'reversal', key, record: { ...of, ...rest, windowMs: windowMs < 0n ? undefined : Number(windowMs) } }
  },
  [statusKinds.stopPoint]: (key, body) => {
    const { stopOffset, lastSourceEpoch, timeMs, sourceEpochs, ...rest } = stopPointTable.decode(body, version)
    const record: StopPointStatus = {
      linkId: key.scope,
      mirrorTopic: key.name,
      partition: key.partition,
      ...rest,
      stopOffset: Number(stopOffset),
      lastSourceEpoch: lastSourceEpoch < 0 ? undefined : lastSourceEpoch,
      timeMs: Number(timeMs),
      sourceEpochs: sourceEpochs.map(({ epoch, firstOffset }) => ({ epoch, firstOffset: Number(firstOffset) })),
    }
    return { kind: 'stop-point', key, record }
  },
}
