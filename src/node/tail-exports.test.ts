/** Files that hold what restores cut off. */
import { deepEqual, equal } from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { tailExports } from './tail-exports.ts'

test('a tail is there as a whole or not at all, under the name that Kafka gives a segment', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'tails-'))
  t.after(() => rm(folder, { recursive: true }))
  const exports = tailExports(join(folder, 'made', 'when-needed'))
  const tail = { topic: 'orders', partition: 3, baseOffset: 17, timeMs: 0 }
  const path = exports.pathOf(tail)
  equal(path, join(folder, 'made/when-needed/orders-1970-01-01T00-00-00-000Z/3/00000000000000000017.log'))
  for (const text of ['first', 'second try']) {
    const file = await exports.create(tail)
    await file.append(Buffer.from(text.slice(0, 3)))
    await file.append(Buffer.from(text.slice(3)))
    await file.close()
    equal(await readFile(path, 'utf8'), text)
  }
  deepEqual(await readdir(dirname(path)), ['00000000000000000017.log'])
})
