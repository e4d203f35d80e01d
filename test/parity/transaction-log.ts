// What the two nodes have written of transactions, read through Fetch: the records of `__transaction_state` and the batches of a partition.

import { partitionForKey } from '../../src/coordinator/runtime/key-partition.ts'
import { decodeTransaction } from '../../src/coordinator/transactions/transaction-records.ts'
import { type BatchHeader, isControl, isTransactional } from '../../src/protocol/batches/batch-header.ts'
import { batchesIn } from '../../src/protocol/batches/batch-iteration.ts'
import { decodeControlRecord } from '../../src/protocol/batches/control-batch.ts'
import { recordsOf } from '../../src/protocol/batches/records-of.ts'
import { FetchApi } from '../../src/protocol/messages/01-fetch.ts'
import { MetadataApi } from '../../src/protocol/messages/03-metadata.ts'
import { ask, type Peer } from './raw-exchange.ts'
import { idName } from './transactional-peer.ts'

async function fetchAll(peer: Peer, place: { topic: string; partition: number }, isolationLevel = 0) {
  const { topic, partition } = place
  const answer = await ask(peer, {
    api: FetchApi,
    version: 12,
    request: {
      maxWaitMs: 0,
      minBytes: 1,
      isolationLevel,
      topics: [{ topic, partitions: [{ partition, fetchOffset: 0n, partitionMaxBytes: 10_000_000 }] }],
    },
  })
  if (typeof answer === 'string') throw new Error(`Fetch: ${answer}`)
  const found = answer.responses[0]?.partitions[0]
  return { records: found?.records ?? Buffer.alloc(0), aborted: found?.abortedTransactions ?? [] }
}

async function partitionCount(peer: Peer, topic: string): Promise<number> {
  const answer = await ask(peer, { api: MetadataApi, request: { topics: [{ name: topic }] }, version: 12 })
  if (typeof answer === 'string') throw new Error(`Metadata: ${answer}`)
  return answer.topics[0]?.partitions.length ?? 0
}

/** Every state that was recorded of the transactional id, in order. */
export async function recordedStates(peer: Peer, transactionalId: string): Promise<string[]> {
  const topic = '__transaction_state'
  const partition = partitionForKey(transactionalId, await partitionCount(peer, topic))
  const { records } = await fetchAll(peer, { topic, partition })
  const states: string[] = []
  for (const header of batchesIn(records))
    for (const { key, value } of recordsOf(records, header)) {
      const transaction = key && decodeTransaction({ key, value })
      if (!transaction || transaction.transactionalId !== transactionalId) continue
      const { metadata } = transaction
      if (metadata === null) {
        states.push('forgotten')
        continue
      }
      const ids = [metadata.producerId, metadata.previousProducerId, metadata.nextProducerId]
      states.push(
        [
          metadata.state,
          ids.map(id => idName(peer, id)).join('/'),
          `epoch ${metadata.producerEpoch}`,
          `timeout ${metadata.timeoutMs}`,
          `version ${metadata.clientVersion} (record ${value?.readInt16BE(0)})`,
          metadata.startMs < 0 ? 'not begun' : 'begun',
          [...metadata.partitions.keys()].sort().join(' '),
        ].join(', '),
      )
    }
  return states
}

/** Batches, markers and aborted transactions of a partition. */
export async function writtenBatches(peer: Peer, topic: string, partition = 0): Promise<string[]> {
  const { records, aborted } = await fetchAll(peer, { topic, partition }, 1)
  const batches = Array.from(batchesIn(records), header => batchText(peer, records, header))
  return [
    ...batches,
    ...aborted.map(({ producerId, firstOffset }) => `aborted ${idName(peer, producerId)} from ${firstOffset}`),
  ]
}

function batchText(peer: Peer, records: Buffer, header: BatchHeader): string {
  const marker = isControl(header) ? decodeControlRecord(records, header) : undefined
  const what = marker ? marker.type : isTransactional(header) ? 'transactional' : 'plain'
  const { baseOffset, lastOffset, producerId, producerEpoch, baseSequence } = header
  return `${baseOffset}-${lastOffset} ${what} ${idName(peer, producerId)} epoch ${producerEpoch} sequence ${baseSequence}`
}
