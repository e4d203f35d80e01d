/** Who comes in, who waits and who is turned away. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionQuota, noConnectionLimits } from './connection-quota.ts'

test('a client too many of one address is turned away, until one of them leaves', () => {
  const quota = new ConnectionQuota({ ...noConnectionLimits, perAddress: 2, addresses: new Map([['10.0.0.9', 0]]) })
  const first = quota.enter('10.0.0.1')
  ok(first && quota.enter('10.0.0.1'))
  strictEqual(quota.enter('10.0.0.1'), undefined)
  ok(quota.enter('10.0.0.2'))
  strictEqual(quota.enter('10.0.0.9'), undefined)
  first()
  first()
  ok(quota.enter('10.0.0.1'))
  strictEqual(quota.enter('10.0.0.1'), undefined)
})

test('a client too many in all or on its listener waits for its turn', () => {
  const quota = new ConnectionQuota({ ...noConnectionLimits, total: 3, listeners: new Map([['B', 1]]) })
  const started: string[] = []
  const open = (listener: string, name: string) => quota.admit(listener, () => started.push(name))
  const a1 = open('A', 'a1')
  const b1 = open('B', 'b1')
  const b2 = open('B', 'b2')
  open('A', 'a2')
  const a3 = open('A', 'a3')
  deepStrictEqual(started, ['a1', 'b1', 'a2'])
  strictEqual(quota.waitingCount, 2)
  a1?.()
  deepStrictEqual(started, ['a1', 'b1', 'a2', 'a3'])
  b2?.()
  b1?.()
  a3?.()
  deepStrictEqual([started.length, quota.waitingCount], [4, 0])
  open('B', 'b3')
  deepStrictEqual(started.at(-1), 'b3')
})

test('limits change while connections are open', () => {
  const quota = new ConnectionQuota()
  const started: number[] = []
  const releases = [1, 2, 3].map(n => quota.admit('A', () => started.push(n)))
  quota.change({ ...noConnectionLimits, total: 2 })
  quota.admit('A', () => started.push(4))
  releases[0]?.()
  deepStrictEqual(started, [1, 2, 3])
  quota.change(noConnectionLimits)
  deepStrictEqual(started, [1, 2, 3, 4])
})
