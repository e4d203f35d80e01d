/** Group commit: who shares a pass with whom. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { Flusher } from './flusher.ts'

/** Passes that end when the test says so. */
function controlled(mayOverlap?: () => boolean) {
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = []
  const flusher = new Flusher(async before => {
    await new Promise<void>((resolve, reject) => ends.push({ resolve, reject }))
    await before
  }, mayOverlap)
  return { flusher, ends, settle: () => new Promise(resolve => setImmediate(resolve)) }
}

test('callers that come while a pass runs share the next one', async () => {
  const { flusher, ends, settle } = controlled()
  const done: string[] = []
  const flush = (name: string) => flusher.flush().then(() => done.push(name))
  const all = [flush('first')]
  await settle()
  for (let i = 0; i < 100; i++) all.push(flush('later'))
  await settle()
  strictEqual(ends.length, 1)
  ends[0]?.resolve()
  await settle()
  deepStrictEqual(done, ['first'])
  strictEqual(ends.length, 2)
  ends[1]?.resolve()
  await Promise.all(all)
  strictEqual(ends.length, 2)
})

test('callers of one turn of the event loop share a pass', async () => {
  const { flusher, ends, settle } = controlled()
  const all = Array.from({ length: 100 }, () => flusher.flush())
  strictEqual(ends.length, 0)
  await settle()
  strictEqual(ends.length, 1)
  ends[0]?.resolve()
  await Promise.all(all)
  strictEqual(ends.length, 1)
})

test('a failed pass fails its own callers only', async () => {
  const { flusher, ends, settle } = controlled()
  const first = rejects(flusher.flush(), /disk/)
  await settle()
  const second = flusher.flush()
  ends[0]?.reject(new Error('disk'))
  await first
  await settle()
  ends[1]?.resolve()
  await second
})

test('exclusive work and passes never overlap', async () => {
  let running = 0
  let most = 0
  const busy = async () => {
    running++
    most = Math.max(most, running)
    await new Promise(resolve => setImmediate(resolve))
    running--
  }
  const flusher = new Flusher(busy)
  const work = Array.from({ length: 20 }, (_, index) => (index % 3 === 0 ? flusher.exclusive(busy) : flusher.flush()))
  await Promise.all(work)
  strictEqual(most, 1)
})

test('passes that may overlap begin while others run, so many and no more, and end in their order', async () => {
  const { flusher, ends, settle } = controlled(() => true)
  const done: number[] = []
  const all: Promise<unknown>[] = []
  for (let i = 0; i < 5; i++) {
    all.push(flusher.flush().then(() => done.push(i)))
    await settle()
  }
  strictEqual(ends.length, 3)
  ends[2]?.resolve()
  ends[1]?.resolve()
  await settle()
  deepStrictEqual(done, [])
  ends[0]?.resolve()
  await settle()
  await settle()
  deepStrictEqual(done, [0, 1, 2])
  strictEqual(ends.length, 4)
  ends[3]?.resolve()
  await Promise.all(all)
  deepStrictEqual(done, [0, 1, 2, 3, 4])
})

test('a pass that overlaps one that fails does not say that all is durable', async () => {
  const { flusher, ends, settle } = controlled(() => true)
  const first = rejects(flusher.flush(), /disk/)
  await settle()
  const second = rejects(flusher.flush(), /disk/)
  await settle()
  ends[1]?.resolve()
  await settle()
  ends[0]?.reject(new Error('disk'))
  await Promise.all([first, second])
})

test('exclusive work comes before passes that have not begun', async () => {
  const { flusher, ends, settle } = controlled(() => true)
  const events: string[] = []
  const first = flusher.flush().then(() => events.push('first'))
  await settle()
  const work = flusher.exclusive(async () => {
    events.push('begun')
    await settle()
    events.push('ended')
  })
  const second = flusher.flush().then(() => events.push('second'))
  await settle()
  strictEqual(ends.length, 1)
  ends[0]?.resolve()
  await work
  await settle()
  ends[1]?.resolve()
  await Promise.all([first, second])
  deepStrictEqual(events, ['first', 'begun', 'ended', 'second'])
})
