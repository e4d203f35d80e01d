/** Every pair of states: which transitions exist, as Kafka has them. */
import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { someTransaction } from './fakes/some-transaction.ts'
import { TransactionEntry } from './transaction-entry.ts'
import { partitionSet } from './transaction-metadata.ts'
import { type TransactionStateName, transactionStateOf, transactionStates } from './transaction-state.ts'

const names = Object.keys(transactionStates) as TransactionStateName[]

/** By hand: from → to. */
const allowed: Record<TransactionStateName, readonly TransactionStateName[]> = {
  Empty: ['Empty', 'Ongoing', 'PrepareAbort', 'Dead'],
  Ongoing: ['Ongoing', 'PrepareCommit', 'PrepareAbort', 'PrepareEpochFence'],
  PrepareCommit: ['CompleteCommit'],
  PrepareAbort: ['CompleteAbort'],
  CompleteCommit: ['Empty', 'Ongoing', 'PrepareAbort', 'Dead'],
  CompleteAbort: ['Empty', 'Ongoing', 'PrepareAbort', 'Dead'],
  Dead: [],
  PrepareEpochFence: ['PrepareAbort'],
}

test('every pair of states is allowed or refused as in the table', () => {
  for (const from of names)
    for (const to of names) {
      const entry = new TransactionEntry(someTransaction({ state: from }))
      if (allowed[from].includes(to)) entry.begin(to)
      else throws(() => entry.begin(to), `${from} to ${to}`)
    }
})

test('states have the numbers of the log', () => {
  deepStrictEqual(
    names.map(name => transactionStates[name].id),
    [0, 1, 2, 3, 4, 5, 6, 7],
  )
  strictEqual(transactionStateOf(4), 'CompleteCommit')
  strictEqual(transactionStateOf(9), undefined)
})

test('one transition at a time, and those who wait go on when it has settled', async () => {
  const entry = new TransactionEntry(someTransaction())
  await entry.settled()
  entry.begin('PrepareCommit')
  throws(() => entry.begin('PrepareCommit'))
  const waiting = entry.settled()
  entry.cancel()
  await waiting
  strictEqual(entry.current.state, 'Ongoing')
  entry.begin('PrepareCommit')
  throws(() => entry.complete(someTransaction({ state: 'PrepareAbort' })))
  entry.complete(someTransaction({ state: 'PrepareCommit' }))
  strictEqual(entry.current.state, 'PrepareCommit')
})

test('partitions leave the transaction as their markers are written', () => {
  const places = [0, 1, 2].map(partition => ({ topic: 'orders', partition }))
  const entry = new TransactionEntry(someTransaction({ state: 'PrepareCommit', partitions: partitionSet(places) }))
  const before = entry.current
  entry.begin('CompleteCommit')
  for (const [marked, place] of places.entries()) {
    entry.marked(place)
    strictEqual(entry.current.partitions.size, 2 - marked)
  }
  strictEqual(before.partitions.size, 3)
})
