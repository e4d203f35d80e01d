// Produce as both nodes must answer it: what is refused with which error, duplicates and gaps of idempotent producers.
import { type Uuid, ZERO_UUID } from '../../src/core/uuid.ts'
import { at } from '../../src/protocol/batches/batch-layout.ts'
import { type BatchInput, buildBatch } from '../../src/protocol/batches/build-batch.ts'
import { buildEndMarker } from '../../src/protocol/batches/control-batch.ts'
import { computeCrc } from '../../src/protocol/batches/verify-batch.ts'
import { ProduceApi, type ProduceResponse } from '../../src/protocol/messages/00-produce.ts'
import { type ParityCase, parityCase, topicIdOf, UNKNOWN_ID } from './parity-case.ts'

export const NOW = BigInt(Date.now())

export const record = (timestamp = NOW, key: Buffer | null = Buffer.from('k'), value = Buffer.from('v')) => ({
  timestamp,
  key,
  value,
})
export const two = (input: Partial<BatchInput> = {}) => buildBatch({ records: [record(), record(NOW + 5n)], ...input })

/** The batch with some bytes changed and a CRC that fits. */
function changed(batch: Buffer, change: (batch: Buffer) => void): Buffer {
  change(batch)
  batch.writeUInt32BE(computeCrc(batch, 0, batch.length), at.crc)
  return batch
}

interface Produced {
  /** Default: p. */
  readonly topic?: string
  readonly version?: number
  readonly acks?: number
  readonly patienceMs?: number
  readonly partition?: number
  readonly topicId?: Uuid
  readonly transactionalId?: string
  readonly clientId?: string
}

const show = ({ responses }: ProduceResponse) =>
  responses.map(({ partitionResponses }) =>
    partitionResponses.map(partition => ({ ...partition, logAppendTimeMs: partition.logAppendTimeMs === -1n })),
  )

export function produceCase(what: string, records: Buffer | null, options: Produced = {}): ParityCase {
  const { topic = 'p', version = 12, clientId } = options
  return parityCase(what, ProduceApi, {
    version,
    clientId,
    patienceMs: options.patienceMs,
    show,
    request: peer => ({
      transactionalId: options.transactionalId ?? null,
      acks: options.acks ?? -1,
      timeoutMs: 30_000,
      topicData: [
        {
          name: version < 13 ? topic : '',
          topicId: version < 13 ? ZERO_UUID : (options.topicId ?? topicIdOf(peer, topic)),
          partitionData: [{ index: options.partition ?? 0, records }],
        },
      ],
    }),
  })
}

const transactional = () => two({ producerId: 5n, producerEpoch: 0, baseSequence: 0, transactional: true })
const marker = () =>
  buildEndMarker({
    type: 'commit',
    producerId: 1n,
    producerEpoch: 0,
    coordinatorEpoch: 0,
    offset: 0,
    timestamp: 1n,
    leaderEpoch: 0,
  })
const gap = (compression: 'none' | 'gzip') =>
  changed(
    buildBatch({
      compression,
      records: [
        { ...record(), offsetDelta: 0 },
        { ...record(), offsetDelta: 5 },
      ],
    }),
    batch => batch.writeInt32BE(1, at.lastOffsetDelta),
  )
const counts = (records: number) =>
  changed(two(), batch => {
    batch.writeInt32BE(records, at.recordCount)
    batch.writeInt32BE(records - 1, at.lastOffsetDelta)
  })

const versions: ParityCase[] = [3, 5, 7, 8, 9, 11, 12, 13].map(version =>
  produceCase(`version ${version}`, two(), { version }),
)

const refused: ParityCase[] = [
  produceCase('unknown topic id', two(), { version: 13, topicId: UNKNOWN_ID }),
  produceCase('unknown topic', two(), { topic: 'nowhere' }),
  produceCase('unknown partition', two(), { partition: 9 }),
  produceCase('acks 2', two(), { acks: 2 }),
  produceCase('null records', null, { patienceMs: 10_000 }),
  produceCase('no records', Buffer.alloc(0)),
  produceCase('a batch that is cut off', two().subarray(0, 70)),
  produceCase('two batches', Buffer.concat([two(), two()])),
  produceCase('one batch and a half', Buffer.concat([two(), two().subarray(0, 40)])),
  produceCase(
    'magic 1',
    changed(two(), batch => batch.writeInt8(1, at.magic)),
  ),
  produceCase(
    'magic 9',
    changed(two(), batch => batch.writeInt8(9, at.magic)),
  ),
  produceCase(
    'a length that is too short',
    changed(two(), batch => batch.writeInt32BE(20, at.batchLength)),
  ),
  produceCase('a wrong CRC', two().fill(0xff, at.crc, at.crc + 4)),
  produceCase('a base offset', two({ baseOffset: 3 })),
  produceCase('a large batch', buildBatch({ records: [record(NOW, null, Buffer.alloc(200))] }), { topic: 'small' }),
  produceCase('a batch without records', buildBatch({ records: [] })),
  produceCase('more records announced', counts(3)),
  produceCase('fewer records announced', counts(1)),
  produceCase('a delta that does not fit', two({ lastOffsetDelta: 9 })),
  produceCase('a control batch', marker()),
  produceCase('a producer without sequence', two({ producerId: 5n, producerEpoch: 0, baseSequence: -1 })),
  produceCase('a record without key, compacted', buildBatch({ records: [record(), record(NOW, null)] }), {
    topic: 'c',
  }),
  produceCase('zstd in version 6', two({ compression: 'zstd' }), { version: 6 }),
  produceCase(
    'codec 6',
    changed(two(), batch => batch.writeInt16BE(6, at.attributes)),
  ),
  produceCase(
    'gzip that is none',
    changed(two(), batch => batch.writeInt16BE(1, at.attributes)),
  ),
  produceCase('offset deltas with a gap', gap('none'), { topic: 'gaps' }),
  produceCase('offset deltas with a gap, gzip', gap('gzip'), { topic: 'gaps' }),
  produceCase('internal topic', two(), { topic: '__consumer_offsets' }),
  produceCase('internal topic by the admin client', two(), { topic: '__consumer_offsets', clientId: '__admin_client' }),
  produceCase('acks 0', two(), { acks: 0 }),
  produceCase('acks 0, unknown topic', two(), { topic: 'nowhere', acks: 0 }),
  produceCase('transactional records without an id', transactional()),
  ...[9, 11, 12].map(version =>
    produceCase(`transactional records, version ${version}`, transactional(), { transactionalId: 'x', version }),
  ),
]

const timestamps: ParityCase[] = [
  produceCase('a record that is too old', buildBatch({ records: [record(NOW - 100_000n), record()] }), {
    topic: 'times',
  }),
  produceCase('a record of the future', buildBatch({ records: [record(NOW + 100_000n)] }), { topic: 'times' }),
  produceCase('a record without timestamp', buildBatch({ records: [record(-1n)] }), { topic: 'times' }),
  produceCase('append time claimed by the client', two({ logAppendTime: NOW })),
  produceCase('append time', two(), { topic: 'append-time' }),
  produceCase('append time claimed and wanted', two({ logAppendTime: NOW }), { topic: 'append-time' }),
  produceCase('another codec', two({ compression: 'lz4' }), { topic: 'gzip' }),
]

/** One batch of a producer. */
const sent = (producerId: bigint, producerEpoch: number, baseSequence: number) =>
  two({ producerId, producerEpoch, baseSequence })

/** Producer 70 from its first batch on: every step leaves a state that the next one meets. */
const idempotence: ParityCase[] = (
  [
    ['first batch', 70n, 2, 0],
    ['duplicate', 70n, 2, 0],
    ['second batch', 70n, 2, 2],
    ['duplicate of the first', 70n, 2, 0],
    ['gap', 70n, 2, 9],
    ['overlap', 70n, 2, 3],
    ['older epoch', 70n, 1, 4],
    ['newer epoch that does not start at 0', 70n, 3, 2],
    ['newer epoch', 70n, 3, 0],
    ['duplicate from the older epoch', 70n, 2, 2],
    ['unknown producer with any sequence', 71n, 0, 99],
    ['unknown producer goes on', 71n, 0, 101],
    ['sequence before the wrap', 72n, 0, 2_147_483_646],
    ['sequence after the wrap', 72n, 0, 0],
    ['third', 70n, 3, 2],
    ['fourth', 70n, 3, 4],
    ['fifth', 70n, 3, 6],
    ['sixth', 70n, 3, 8],
    ['seventh', 70n, 3, 10],
    ['duplicate of the fifth last', 70n, 3, 2],
    ['duplicate that is too old', 70n, 3, 0],
  ] as const
).map(([what, id, epoch, sequence]) =>
  produceCase(`idempotent: ${what}`, sent(id, epoch, sequence), { topic: 'idempotent' }),
)

export const produceCases: readonly ParityCase[] = [...versions, ...refused, ...timestamps, ...idempotence]
