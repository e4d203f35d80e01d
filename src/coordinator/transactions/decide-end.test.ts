/** EndTxn in every state, in both versions, as Kafka's tables have it, and aborts by the coordinator. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { errorName } from '../../protocol/errors.ts'
import { decideEnd, decideFence, type EndRequest } from './decide-end.ts'
import type { Decision } from './decision.ts'
import { NOW_MS, someTransaction } from './fakes/some-transaction.ts'
import { completed, type TransactionMetadata } from './transaction-metadata.ts'

const PRESENT = 3

const shown = (decision: Decision): string =>
  decision.kind === 'refuse'
    ? errorName(decision.errorCode)
    : decision.kind === 'change'
      ? `${decision.to.state} ${decision.to.producerEpoch}`
      : decision.kind

const end = (metadata: TransactionMetadata, change: Partial<EndRequest> = {}) =>
  shown(
    decideEnd(metadata, {
      producerId: 7n,
      producerEpoch: PRESENT,
      committed: true,
      clientVersion: 2,
      pending: false,
      nowMs: NOW_MS,
      ...change,
    }),
  )

const ITS = 'INVALID_TXN_STATE'
const PF = 'PRODUCER_FENCED'
const CT = 'CONCURRENT_TRANSACTIONS'

test('version 2, by state: abort and commit, repeated (epoch below) and present', () => {
  const table = {
    Empty: [PF, 'PrepareAbort 4', PF, ITS],
    Ongoing: [PF, 'PrepareAbort 4', PF, 'PrepareCommit 4'],
    PrepareAbort: [CT, PF, ITS, PF],
    PrepareCommit: [ITS, PF, CT, PF],
    CompleteAbort: ['done', 'PrepareAbort 4', ITS, ITS],
    CompleteCommit: [ITS, 'PrepareAbort 4', 'done', ITS],
  } as const
  for (const [state, row] of Object.entries(table)) {
    const metadata = someTransaction({ state: state as keyof typeof table })
    const asked = [false, true].flatMap(committed => [
      end(metadata, { committed, producerEpoch: PRESENT - 1 }),
      end(metadata, { committed }),
    ])
    deepStrictEqual([state, ...asked], [state, ...row])
  }
})

test('version 1, by state: abort and commit', () => {
  const table = {
    Empty: [ITS, ITS],
    Ongoing: ['PrepareAbort 3', 'PrepareCommit 3'],
    PrepareAbort: [CT, ITS],
    PrepareCommit: [ITS, CT],
    CompleteAbort: ['done', ITS],
    CompleteCommit: [ITS, 'done'],
  } as const
  for (const [state, row] of Object.entries(table)) {
    const metadata = someTransaction({ state: state as keyof typeof table })
    const asked = [false, true].map(committed => end(metadata, { committed, clientVersion: 0 }))
    deepStrictEqual([state, ...asked], [state, ...row])
    strictEqual(end(metadata, { clientVersion: 0, producerEpoch: PRESENT - 1 }), PF)
    strictEqual(end(metadata, { clientVersion: 0, producerId: 8n }), 'INVALID_PRODUCER_ID_MAPPING')
  }
})

test('while a transition is pending version 2 says so first, version 1 after the epoch', () => {
  const metadata = someTransaction()
  strictEqual(end(metadata, { pending: true, producerId: 8n }), CT)
  strictEqual(end(metadata, { pending: true, clientVersion: 0, producerEpoch: 1 }), PF)
  strictEqual(end(metadata, { pending: true, clientVersion: 0 }), CT)
})

test('the last epoch is followed by another producer id, and a repetition across it is known', () => {
  const metadata = someTransaction({ producerEpoch: 32_766 })
  strictEqual(end(metadata, { producerEpoch: 32_766 }), 'needs-producer-id')
  const request = {
    producerId: 7n,
    producerEpoch: 32_766,
    committed: true,
    clientVersion: 2,
    pending: false,
    nowMs: NOW_MS,
    freshProducerId: 9n,
  } as const
  const decision = decideEnd(metadata, request)
  if (decision.kind !== 'change') throw new Error(decision.kind)
  const { producerId, producerEpoch, nextProducerId, lastProducerEpoch } = decision.to
  deepStrictEqual([producerId, producerEpoch, nextProducerId, lastProducerEpoch], [7n, 32_767, 9n, 32_766])
  const complete = completed(decision.to, NOW_MS)
  deepStrictEqual([complete.producerId, complete.producerEpoch, complete.previousProducerId], [9n, 0, 7n])
  strictEqual(shown(decideEnd(complete, request)), 'done')
  strictEqual(end(complete, { producerEpoch: 5 }), 'INVALID_PRODUCER_ID_MAPPING')
})

test('the coordinator aborts with the next epoch in both versions', () => {
  const metadata = someTransaction({ lastProducerEpoch: 2 })
  const by = (serverVersion: 0 | 1 | 2) => {
    const decision = decideFence(metadata, { serverVersion, nowMs: NOW_MS })
    if (decision.kind !== 'change') throw new Error(decision.kind)
    const { state, producerEpoch, lastProducerEpoch, clientVersion } = decision.to
    return [state, producerEpoch, lastProducerEpoch, clientVersion]
  }
  deepStrictEqual(by(1), ['PrepareAbort', 4, -1, 0])
  deepStrictEqual(by(2), ['PrepareAbort', 4, 3, 2])
})
