/** Bytes of mirror records; called by the record codec. */
import type { Uuid } from '../../core/uuid.ts'
import { array, bool, int32, int64, list, string, struct, uuid } from '../../protocol/schema/field.ts'
import { type Infer, message } from '../../protocol/schema/message.ts'
import type { MirrorState } from '../engine-api.ts'
import { mirrorTopicTable } from '../states/mirror-topic-state.ts'
import type { MirrorRecord } from './mirror-record.ts'

/** Newest version that is written and understood. */
export const mirrorRecordVersion = 6

const table = message({
  name: 'LockstepMirrorValue',
  versions: '0-6',
  flexibleFrom: 0,
  fields: {
    topicId: uuid(),
    sourceTopic: string(),
    sourceTopicId: uuid(),
    sourceClusterId: string(),
    createdTimeMs: int64(),
    state: string(),
    stateEpoch: int32(),
    stateTimeMs: int64(),
    reason: string({ nullable: '0+' }),
    held: bool(),
    failedFrom: string({ nullable: '0+' }),
    failures: array(struct({ partition: int32(), error: string(), reason: string(), timeMs: int64() })),
    troubles: array(struct({ kind: string(), sinceMs: int64() })),
    stoppingVerb: string({ nullable: '0+' }),
    stoppingSinceMs: int64(),
    startOffsets: list(int64),
    stopPoints: array(
      struct({
        partition: int32(),
        stopOffset: int64(),
        lastSourceEpoch: int32(),
        timeMs: int64(),
        lastSourceFetchOffset: int64(),
        lag: int64(),
        openTransactions: int32(),
        overlappingProducerIds: list(int64, { versions: '2+' }),
        ofSource: bool({ tag: 0 }),
      }),
    ),
    history: array(struct({ state: string(), event: string(), reason: string(), timeMs: int64() })),
    together: list(string, { versions: '1+' }),
    stoppingKeepsRetention: bool({ versions: '2+' }),
    handOver: array(struct({ plan: string(), endOffsets: list(int64), warnings: list(string) }), { versions: '3+' }),
    trueConfigs: array(struct({ key: string(), value: string() }), { versions: '3+' }),
    restore: array(
      struct({
        paused: bool(),
        exportsTail: bool(),
        sinceMs: int64(),
        cuts: array(
          struct({
            partition: int32(),
            offset: int64(),
            endOffset: int64(),
            messages: int64(),
            sourceEpoch: int32(),
          }),
        ),
        plan: string({ versions: '5+' }),
        givenUp: string({ versions: '5+', nullable: '5+', default: null }),
      }),
      { versions: '4+' },
    ),
    reversal: array(
      struct({
        paused: bool(),
        sinceMs: int64(),
        request: int32(),
        together: list(string),
        closed: bool(),
        sealedOffsets: list(int64),
        abortedTransactions: int32(),
        withdrawn: bool(),
        windowMs: int64(),
        writers: string({ versions: '6+', default: 'refused' }),
        hurried: bool({ versions: '6+' }),
        plan: string({ versions: '6+' }),
        givenUp: string({ versions: '6+', nullable: '6+', default: null }),
      }),
      { versions: '5+' },
    ),
  },
})

export function encodeMirrorRecord(record: MirrorRecord): Buffer {
  return table.encode(
    {
      topicId: record.topicId,
      sourceTopic: record.sourceTopic,
      sourceTopicId: record.sourceTopicId,
      sourceClusterId: record.sourceClusterId,
      createdTimeMs: BigInt(record.createdTimeMs),
      state: record.state,
      stateEpoch: record.stateEpoch,
      stateTimeMs: BigInt(record.stateTimeMs),
      reason: record.reason ?? null,
      held: record.held,
      failedFrom: record.failedFrom ?? null,
      failures: record.failures.map(failure => ({ ...failure, timeMs: BigInt(failure.timeMs) })),
      troubles: record.troubles.map(({ kind, sinceMs }) => ({ kind, sinceMs: BigInt(sinceMs) })),
      stoppingVerb: record.stopping?.verb ?? null,
      stoppingSinceMs: BigInt(record.stopping?.sinceMs ?? -1),
      startOffsets: record.startOffsets.map(BigInt),
      stopPoints: record.stopPoints.map(point => ({
        partition: point.partition,
        stopOffset: BigInt(point.stopOffset),
        lastSourceEpoch: point.lastSourceEpoch ?? -1,
        timeMs: BigInt(point.timeMs),
        lastSourceFetchOffset: BigInt(point.lastSourceFetchOffset),
        lag: BigInt(point.lag ?? -1),
        openTransactions: point.openTransactions,
        overlappingProducerIds: [...point.overlappingProducerIds],
        ofSource: point.ofSource,
      })),
      history: record.history.map(change => ({ ...change, timeMs: BigInt(change.timeMs) })),
      together: [...record.together],
      stoppingKeepsRetention: record.stopping?.keepsRetention ?? false,
      handOver: handOvers(record),
      trueConfigs: [...record.trueConfigs].map(([key, value]) => ({ key, value })),
      restore: restores(record),
      reversal: reversals(record),
    },
    mirrorRecordVersion,
  )
}

/** Throws DecodeError, or RangeError for a state or verb of a newer version. */
export function decodeMirrorRecord(
  body: Buffer,
  key: { linkId: Uuid; mirrorTopic: string },
  version: number,
): MirrorRecord {
  const value = table.decode(body, version)
  return {
    ...key,
    topicId: value.topicId,
    sourceTopic: value.sourceTopic,
    sourceTopicId: value.sourceTopicId,
    sourceClusterId: value.sourceClusterId,
    createdTimeMs: Number(value.createdTimeMs),
    state: storedState(value.state),
    stateEpoch: value.stateEpoch,
    stateTimeMs: Number(value.stateTimeMs),
    reason: value.reason ?? undefined,
    held: value.held,
    failedFrom: value.failedFrom === null ? undefined : storedState(value.failedFrom),
    failures: value.failures.map(failure => ({ ...failure, timeMs: Number(failure.timeMs) })),
    troubles: value.troubles.map(({ kind, sinceMs }) => ({ kind, sinceMs: Number(sinceMs) })),
    stopping: stopping(value),
    restore: restore(value),
    reversal: reversal(value),
    startOffsets: value.startOffsets.map(Number),
    stopPoints: value.stopPoints.map(point => ({
      partition: point.partition,
      stopOffset: Number(point.stopOffset),
      lastSourceEpoch: point.lastSourceEpoch < 0 ? undefined : point.lastSourceEpoch,
      timeMs: Number(point.timeMs),
      lastSourceFetchOffset: Number(point.lastSourceFetchOffset),
      lag: point.lag < 0n ? undefined : Number(point.lag),
      openTransactions: point.openTransactions,
      overlappingProducerIds: point.overlappingProducerIds,
      ofSource: point.ofSource,
    })),
    history: value.history.map(change => ({
      ...change,
      state: storedState(change.state),
      timeMs: Number(change.timeMs),
    })),
    together: value.together,
    trueConfigs: new Map(value.trueConfigs.map(({ key: name, value: text }) => [name, text])),
  }
}

/** One or none. */
function handOvers({ stopping }: MirrorRecord) {
  const { handOver } = stopping ?? {}
  if (!handOver) return []
  return [{ ...handOver, endOffsets: handOver.endOffsets.map(BigInt), warnings: [...handOver.warnings] }]
}

/** One or none. */
function restores({ restore: of }: MirrorRecord) {
  if (!of) return []
  const cuts = of.cuts.map(({ partition, offset, endOffset, messages, sourceEpoch = -1 }) => {
    const [offsets, ends, counts] = [BigInt(offset), BigInt(endOffset), BigInt(messages)]
    return { partition, offset: offsets, endOffset: ends, messages: counts, sourceEpoch }
  })
  return [{ ...of, sinceMs: BigInt(of.sinceMs), cuts, givenUp: of.givenUp ?? null }]
}

function restore({ restore: [of] }: Infer<typeof table>): MirrorRecord['restore'] {
  if (!of) return undefined
  const cuts = of.cuts.map(({ partition, offset, endOffset, messages, sourceEpoch }) => ({
    partition,
    offset: Number(offset),
    endOffset: Number(endOffset),
    messages: Number(messages),
    sourceEpoch: sourceEpoch < 0 ? undefined : sourceEpoch,
  }))
  return { ...of, sinceMs: Number(of.sinceMs), cuts, givenUp: of.givenUp ?? undefined }
}

/** One or none. */
function reversals({ reversal: of }: MirrorRecord) {
  if (!of) return []
  const times = { sinceMs: BigInt(of.sinceMs), windowMs: BigInt(of.windowMs ?? -1) }
  const more = { together: [...of.together], sealedOffsets: of.sealedOffsets.map(BigInt), givenUp: of.givenUp ?? null }
  return [{ ...of, ...times, ...more }]
}

function reversal({ reversal: [of] }: Infer<typeof table>): MirrorRecord['reversal'] {
  if (!of) return undefined
  const times = { sinceMs: Number(of.sinceMs), windowMs: of.windowMs < 0n ? undefined : Number(of.windowMs) }
  const { writers } = of
  if (writers !== 'admitted' && writers !== 'leaving' && writers !== 'refused')
    throw new RangeError(`unknown state of writers ${writers}`)
  return { ...of, ...times, writers, sealedOffsets: of.sealedOffsets.map(Number), givenUp: of.givenUp ?? undefined }
}

function stopping(value: Infer<typeof table>): MirrorRecord['stopping'] {
  const { stoppingVerb: verb } = value
  if (verb === null) return undefined
  if (verb !== 'failover' && verb !== 'promote') throw new RangeError(`unknown stopping verb ${verb}`)
  const [handOver] = value.handOver.map(of => ({ ...of, endOffsets: of.endOffsets.map(Number) }))
  return { verb, sinceMs: Number(value.stoppingSinceMs), keepsRetention: value.stoppingKeepsRetention, handOver }
}

function storedState(text: string): MirrorState {
  if (!Object.hasOwn(mirrorTopicTable, text) || text === 'none') throw new RangeError(`unknown mirror state ${text}`)
  return text as MirrorState
}
