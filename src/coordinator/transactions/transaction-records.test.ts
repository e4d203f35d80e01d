/** Records of `__transaction_state`: what is written is read again, in both versions. */
import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { someTransaction } from './fakes/some-transaction.ts'
import { partitionSet } from './transaction-metadata.ts'
import { decodeTransaction, encodeTombstone, encodeTransaction, valueVersionAt } from './transaction-records.ts'

const transaction = someTransaction({
  state: 'PrepareCommit',
  partitions: partitionSet([
    { topic: 'a', partition: 0 },
    { topic: 'b', partition: 5 },
    { topic: 'a', partition: 2 },
  ]),
  previousProducerId: 5n,
  nextProducerId: 9n,
  clientVersion: 2,
})

test('version 1 keeps everything', () => {
  deepStrictEqual(decodeTransaction(encodeTransaction(transaction, 1)), {
    transactionalId: 'tx',
    metadata: { ...transaction, partitions: decodedOrder() },
  })
})

/** Partitions of a topic come together. */
const decodedOrder = () =>
  partitionSet([
    { topic: 'a', partition: 0 },
    { topic: 'a', partition: 2 },
    { topic: 'b', partition: 5 },
  ])

test('version 0 has no other producer ids and no version of the client', () => {
  const decoded = decodeTransaction(encodeTransaction(transaction, valueVersionAt(0)))
  const { previousProducerId, nextProducerId, clientVersion } = decoded?.metadata ?? {}
  deepStrictEqual([previousProducerId, nextProducerId, clientVersion], [-1n, -1n, 0])
  strictEqual(valueVersionAt(1), 1)
})

test('an id that was forgotten, and what a newer Kafka wrote', () => {
  deepStrictEqual(decodeTransaction(encodeTombstone('tx')), { transactionalId: 'tx', metadata: null })
  const { key, value } = encodeTransaction(transaction, 1)
  value?.writeInt16BE(2, 0)
  strictEqual(decodeTransaction({ key, value }), undefined)
  const newKey = Buffer.from(key)
  newKey.writeInt16BE(7, 0)
  strictEqual(decodeTransaction({ key: newKey, value: null }), undefined)
})

test('a state that nobody knows is damage', () => {
  const { key, value } = encodeTransaction(transaction, 0)
  value?.writeInt8(99, 2 + 8 + 2 + 4)
  throws(() => decodeTransaction({ key, value }), /unknown state 99/)
})
