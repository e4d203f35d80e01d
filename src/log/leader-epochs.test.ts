/** The epoch cache answers as Kafka's does, and its checkpoint has Kafka's format. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryFileSystem } from './fakes/memory-file-system.ts'
import { LeaderEpochs } from './leader-epochs.ts'

async function epochsOf(...entries: [epoch: number, startOffset: number][]) {
  const fs = new MemoryFileSystem()
  await fs.createDirectory('/log')
  const epochs = await LeaderEpochs.load(fs, '/log/leader-epoch-checkpoint')
  for (const [epoch, startOffset] of entries) epochs.assign(epoch, startOffset)
  return { fs, epochs, reload: () => LeaderEpochs.load(fs, '/log/leader-epoch-checkpoint') }
}

test('an epoch ends where the next one begins, the newest at the log end', async () => {
  const { epochs } = await epochsOf([2, 0], [3, 100], [7, 250])
  deepStrictEqual(epochs.endOffsetFor(2, 400), { epoch: 2, endOffset: 100 })
  deepStrictEqual(epochs.endOffsetFor(3, 400), { epoch: 3, endOffset: 250 })
  deepStrictEqual(epochs.endOffsetFor(7, 400), { epoch: 7, endOffset: 400 })
})

test('a missing epoch answers the one below it', async () => {
  const { epochs } = await epochsOf([2, 0], [3, 100], [7, 250])
  deepStrictEqual(epochs.endOffsetFor(5, 400), { epoch: 3, endOffset: 250 })
})

test('an epoch below all known ones ends where the first begins', async () => {
  const { epochs } = await epochsOf([5, 40], [6, 60])
  deepStrictEqual(epochs.endOffsetFor(1, 400), { epoch: 1, endOffset: 40 })
})

test('an epoch above all known ones, none at all, and epoch -1 are unknown', async () => {
  const { epochs } = await epochsOf([5, 40])
  const unknown = { epoch: -1, endOffset: -1 }
  deepStrictEqual(epochs.endOffsetFor(6, 400), unknown)
  deepStrictEqual(epochs.endOffsetFor(-1, 400), unknown)
  deepStrictEqual((await epochsOf()).epochs.endOffsetFor(0, 400), unknown)
})

test('assigning removes what contradicts it', async () => {
  const { epochs } = await epochsOf([1, 0], [2, 50], [4, 90])
  epochs.assign(3, 60)
  deepStrictEqual(epochs.entries, [
    { epoch: 1, startOffset: 0 },
    { epoch: 2, startOffset: 50 },
    { epoch: 3, startOffset: 60 },
  ])
  epochs.assign(5, 50)
  deepStrictEqual(epochs.entries, [
    { epoch: 1, startOffset: 0 },
    { epoch: 5, startOffset: 50 },
  ])
  epochs.assign(5, 70)
  strictEqual(epochs.latest?.startOffset, 50)
})

test('truncation from the end forgets epochs that have no record left', async () => {
  const { epochs } = await epochsOf([1, 0], [2, 50], [3, 90])
  epochs.truncateFromEnd(90)
  strictEqual(epochs.latest?.epoch, 2)
  epochs.truncateFromEnd(51)
  strictEqual(epochs.latest?.epoch, 2)
  epochs.truncateFromEnd(50)
  strictEqual(epochs.latest?.epoch, 1)
})

test('truncation from the start lets the epoch that holds it begin there', async () => {
  const { epochs } = await epochsOf([1, 0], [2, 50], [3, 90])
  epochs.truncateFromStart(70)
  deepStrictEqual(epochs.entries, [
    { epoch: 2, startOffset: 70 },
    { epoch: 3, startOffset: 90 },
  ])
  strictEqual(epochs.epochAt(75), 2)
  strictEqual(epochs.epochAt(69), undefined)
})

test('the checkpoint has the format of Kafka and loads again', async () => {
  const { fs, epochs, reload } = await epochsOf([1, 0], [4, 1_000_000_007])
  await epochs.save()
  const text = (await fs.readFile('/log/leader-epoch-checkpoint')).toString()
  strictEqual(text, '0\n2\n1 0\n4 1000000007\n')
  deepStrictEqual((await reload()).entries, epochs.entries)
})

test('a torn checkpoint counts as empty', async () => {
  const { fs, epochs, reload } = await epochsOf([1, 0], [4, 10])
  await epochs.save()
  await fs.file('/log/leader-epoch-checkpoint').truncate(6)
  deepStrictEqual((await reload()).entries, [])
})
