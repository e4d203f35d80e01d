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
  readonly version?: number
  readonly acks?: number
  readonly partition?: number
  readonly topicId?: Uuid
  readonly transactionalId?: string
  readonly clientId?: string
}

const show = ({ responses }: ProduceResponse) =>
  responses.map(({ partitionResponses }) =>
    partitionResponses.map(partition => ({ ...partition, logAppendTimeMs: partition.logAppendTimeMs === -1n })),
  )

export function produceCase(what: string, topic: string, records: Buffer | null, options: Produced = {}): ParityCase {
  const { version = 12, clientId } = options
  return parityCase(what, ProduceApi, {
    version,
    clientId,
    show,
    request: peer => ({
      transactionalId: options.transactionalId ?? null,
      acks: options.acks ?? -1,
      timeoutMs: 3000,
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
  produceCase(`version ${version}`, 'p', two(), { version }),
)

const refused: ParityCase[] = [
  produceCase('unknown topic id', 'p', two(), { version: 13, topicId: UNKNOWN_ID }),
  produceCase('unknown topic', 'nowhere', two()),
  produceCase('unknown partition', 'p', two(), { partition: 9 }),
  produceCase('acks 2', 'p', two(), { acks: 2 }),
  produceCase('null records', 'p', null),
  produceCase('no records', 'p', Buffer.alloc(0)),
  produceCase('a batch that is cut off', 'p', two().subarray(0, 70)),
  produceCase('two batches', 'p', Buffer.concat([two(), two()])),
  produceCase('one batch and a half', 'p', Buffer.concat([two(), two().subarray(0, 40)])),
  produceCase(
    'magic 1',
    'p',
    changed(two(), batch => batch.writeInt8(1, at.magic)),
  ),
  produceCase(
    'magic 9',
    'p',
    changed(two(), batch => batch.writeInt8(9, at.magic)),
  ),
  produceCase(
    'a length that is too short',
    'p',
    changed(two(), batch => batch.writeInt32BE(20, at.batchLength)),
  ),
  produceCase('a wrong CRC', 'p', two().fill(0xff, at.crc, at.crc + 4)),
  produceCase('a base offset', 'p', two({ baseOffset: 3 })),
  produceCase('a large batch', 'small', buildBatch({ records: [record(NOW, null, Buffer.alloc(200))] })),
  produceCase('a batch without records', 'p', buildBatch({ records: [] })),
  produceCase('more records announced', 'p', counts(3)),
  produceCase('fewer records announced', 'p', counts(1)),
  produceCase('a delta that does not fit', 'p', two({ lastOffsetDelta: 9 })),
  produceCase('a control batch', 'p', marker()),
  produceCase('a producer without sequence', 'p', two({ producerId: 5n, producerEpoch: 0, baseSequence: -1 })),
  produceCase('a record without key, compacted', 'c', buildBatch({ records: [record(), record(NOW, null)] })),
  produceCase('zstd in version 6', 'p', two({ compression: 'zstd' }), { version: 6 }),
  produceCase(
    'codec 6',
    'p',
    changed(two(), batch => batch.writeInt16BE(6, at.attributes)),
  ),
  produceCase(
    'gzip that is none',
    'p',
    changed(two(), batch => batch.writeInt16BE(1, at.attributes)),
  ),
  produceCase('offset deltas with a gap', 'gaps', gap('none')),
  produceCase('offset deltas with a gap, gzip', 'gaps', gap('gzip')),
  produceCase('internal topic', '__consumer_offsets', two()),
  produceCase('internal topic by the admin client', '__consumer_offsets', two(), { clientId: '__admin_client' }),
  produceCase('acks 0', 'p', two(), { acks: 0 }),
  produceCase('acks 0, unknown topic', 'nowhere', two(), { acks: 0 }),
  produceCase('transactional records without an id', 'p', transactional()),
  ...[9, 11, 12].map(version =>
    produceCase(`transactional records, version ${version}`, 'p', transactional(), { transactionalId: 'x', version }),
  ),
]

const timestamps: ParityCase[] = [
  produceCase('a record that is too old', 'times', buildBatch({ records: [record(NOW - 100_000n), record()] })),
  produceCase('a record of the future', 'times', buildBatch({ records: [record(NOW + 100_000n)] })),
  produceCase('a record without timestamp', 'times', buildBatch({ records: [record(-1n)] })),
  produceCase('append time claimed by the client', 'p', two({ logAppendTime: NOW })),
  produceCase('append time', 'append-time', two()),
  produceCase('append time claimed and wanted', 'append-time', two({ logAppendTime: NOW })),
  produceCase('another codec', 'gzip', two({ compression: 'lz4' })),
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
).map(([what, id, epoch, sequence]) => produceCase(`idempotent: ${what}`, 'idempotent', sent(id, epoch, sequence)))

export const produceCases: readonly ParityCase[] = [...versions, ...refused, ...timestamps, ...idempotence]
