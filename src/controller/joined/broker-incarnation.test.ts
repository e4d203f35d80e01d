/** Which incarnation a life of the node has, after every kind of end of the one before. */
import { deepStrictEqual, notStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryFileSystem } from '../../log/fakes/memory-file-system.ts'
import { BrokerIncarnation } from './broker-incarnation.ts'

async function lives() {
  const fs = new MemoryFileSystem()
  await fs.createDirectory('/data')
  const begin = (bootId: string | undefined) => BrokerIncarnation.begin({ fs, directory: '/data', bootId })
  const first = await begin('monday')
  await first.registered(17)
  return { fs, begin, first }
}

test('a process that crashed goes on under its incarnation, and calls its end unclean', async () => {
  const { begin, first } = await lives()
  strictEqual(first.previousEpoch, -1)
  const second = await begin('monday')
  deepStrictEqual([second.id, second.previousEpoch], [first.id, -1])
})

test('after a crash of the machine, or when that cannot be told, it is a new incarnation', async () => {
  for (const boot of ['tuesday', undefined]) {
    const { begin, first } = await lives()
    const second = await begin(boot)
    notStrictEqual(second.id, first.id)
    strictEqual(second.previousEpoch, -1)
  }
})

test('a clean end goes on over a start of the machine, and may be called clean, once', async () => {
  const { begin, first } = await lives()
  await first.ended('clean')
  const second = await begin('tuesday')
  deepStrictEqual([second.id, second.previousEpoch], [first.id, 17])
  const third = await begin('tuesday')
  deepStrictEqual([third.id, third.previousEpoch], [first.id, -1])
})

test('after leaderships were handed over a new incarnation begins, and says that the last one ended well', async () => {
  const { begin, first } = await lives()
  await first.ended('handed-over')
  const second = await begin('monday')
  notStrictEqual(second.id, first.id)
  strictEqual(second.previousEpoch, 17)
})

test('whoever dies while it hands over begins anew, and claims nothing', async () => {
  const { begin, first } = await lives()
  await first.leaving()
  const second = await begin('monday')
  notStrictEqual(second.id, first.id)
  strictEqual(second.previousEpoch, -1)
})

test('what cannot be read counts as nothing', async () => {
  const { fs, begin, first } = await lives()
  const file = await fs.create('/data/lockstep-incarnation.json')
  await file.write([Buffer.from('{"version":2}')], 0)
  notStrictEqual((await begin('monday')).id, first.id)
})
