/** The map of newest offsets: bounded, exact beyond 2^32, small while it holds little. */
import { ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { OffsetMap } from './offset-map.ts'

const key = (index: number) => Buffer.from(`key-${index}`)

test('the newest offset of every key is found again, of others none', () => {
  const map = new OffsetMap({ bytes: 24 * 100_000, loadFactor: 0.9 })
  const base = 2 ** 33
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 5000; index++) ok(map.put(key(index), base + round * 5000 + index))
  }
  strictEqual(map.size, 5000)
  strictEqual(map.latestOffset, base + 9999)
  for (let index = 0; index < 5000; index += 7) strictEqual(map.offsetOf(key(index)), base + 5000 + index)
  strictEqual(map.offsetOf(key(5000)), -1)
  ok(map.put(key(1), 0))
  strictEqual(map.offsetOf(key(1)), 0)
})

test('it takes as many keys as Kafka’s, in little more memory than it may, and next to none while it is empty', () => {
  const bytes = 24 * 40_000
  const map = new OffsetMap({ bytes, loadFactor: 0.9 })
  ok(map.bytes < 100_000)
  let keys = 0
  while (map.put(key(keys), keys)) keys++
  strictEqual(keys, 36_000)
  ok(map.bytes <= bytes * 1.2, `${map.bytes} bytes`)
  // A full one says so for known keys, too.
  strictEqual(map.put(key(1), 1_000_000), false)
  strictEqual(map.offsetOf(key(1)), 1)
})
