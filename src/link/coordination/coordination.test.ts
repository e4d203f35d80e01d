/** Group commit, queues per key and bounded work. */
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { ZERO_UUID } from '../../core/uuid.ts'
import type { StateLog, StateRecord } from '../ports.ts'
import { decodeStateKey, encodeStateKey } from '../state-records/state-key.ts'
import { mapBounded } from './bounded.ts'
import { KeyedQueues } from './keyed-queues.ts'
import { StateJournal } from './state-journal.ts'

const record = (key: string): StateRecord => ({ key: Buffer.from(key), value: null })

function recordingLog(fail: () => Error | undefined = () => undefined) {
  const appends: string[][] = []
  const log: StateLog = {
    open: async () => {},
    close: async () => {},
    append: async records => {
      await new Promise<void>(resolve => setImmediate(resolve))
      const error = fail()
      if (error) throw error
      appends.push(records.map(({ key }) => key.toString()))
    },
  }
  return { log, appends }
}

test('callers of the same time share one append, in their order', async () => {
  const { log, appends } = recordingLog()
  const journal = new StateJournal(log)
  const first = journal.append([record('a'), record('b')])
  const second = journal.append([record('c')])
  await Promise.all([first, second])
  await journal.append([record('d')])
  deepEqual(appends, [['a', 'b', 'c'], ['d']])
  await journal.append([])
  await journal.idle()
})

test('an append that is given while another one ends is not forgotten', async () => {
  const { log, appends } = recordingLog()
  const journal = new StateJournal(log)
  const keys = ['a', 'b', 'c', 'd', 'e']
  for (const key of keys) await journal.append([record(key)])
  await Promise.all(keys.map(async key => journal.append([record(key)]).then(() => journal.append([record(key)]))))
  equal(appends.flat().length, 15)
})

test('a failed append fails those in it and nobody later', async () => {
  let error: Error | undefined = new Error('no space')
  const { log, appends } = recordingLog(() => error)
  const journal = new StateJournal(log)
  await Promise.all([
    rejects(journal.append([record('a')]), /no space/),
    rejects(journal.append([record('b')]), /no space/),
  ])
  error = undefined
  await journal.append([record('c')])
  deepEqual(appends, [['c']])
})

// The answer to an append was lost, and the record was decided all the same. The next change was found to be none when compared
// with what had been replayed, and was acknowledged, while the record that nobody had seen said something else. Found by simulation.
test('after a failed append nothing is decided before a no-op has gone through', async () => {
  const durable: string[] = []
  let isLost = true
  const log: StateLog = {
    open: async () => {},
    close: async () => {},
    append: async records => {
      durable.push(...records.map(({ key }) => decodeStateKey(key).name))
      if (isLost) throw new Error('no answer')
    },
  }
  const journal = new StateJournal(log)
  const named = (name: string): StateRecord => ({
    key: encodeStateKey({ kind: 2, scope: ZERO_UUID, name, partition: 0 }),
    value: null,
  })
  await journal.certain()
  deepEqual(durable, [])
  await rejects(journal.append([named('a')]), /no answer/)
  await rejects(journal.certain(), /no answer/)
  isLost = false
  await journal.certain()
  deepEqual(durable, ['a', '', ''])
  await journal.certain()
  await journal.append([named('b')])
  await journal.certain()
  deepEqual(durable, ['a', '', '', 'b'])
})

test('a large group is cut at its bound, never through one caller', async () => {
  const { log, appends } = recordingLog()
  const journal = new StateJournal(log)
  const many = Array.from({ length: 300 }, (_, index) => record(String(index)))
  await Promise.all([journal.append(many), journal.append(many), journal.append(many)])
  deepEqual(
    appends.map(keys => keys.length),
    [300, 300, 300],
  )
})

test('jobs of one key run one after the other, those of others beside them', async () => {
  const queues = new KeyedQueues()
  const order: string[] = []
  const job = (name: string, turns: number) => async () => {
    for (let turn = 0; turn < turns; turn++) await Promise.resolve()
    order.push(name)
  }
  await Promise.all([
    queues.run('a', job('a1', 20)),
    queues.run('a', job('a2', 1)),
    queues.run('b', job('b1', 1)),
    rejects(
      queues.run('b', async () => {
        throw new Error('b2')
      }),
    ),
  ])
  deepEqual(order, ['b1', 'a1', 'a2'])
  await queues.idle()
})

test('bounded work keeps the order of results and reports the first failure after the rest ended', async () => {
  let running = 0
  let most = 0
  const doubled = await mapBounded([1, 2, 3, 4, 5], 2, async item => {
    most = Math.max(most, ++running)
    await Promise.resolve()
    running--
    return item * 2
  })
  deepEqual(doubled, [2, 4, 6, 8, 10])
  equal(most, 2)
  await rejects(
    mapBounded([1, 2, 3], 3, async item => {
      await Promise.resolve()
      if (item === 2) throw new Error('two')
    }),
    /two/,
  )
  equal(running, 0)
  deepEqual(await mapBounded([], 3, async () => 1), [])
})
