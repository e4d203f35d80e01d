/** Rounds of a sync do not overlap, and whoever waits is served together with the others. */
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { mergedRounds } from './merged-rounds.ts'
import type { TaskError } from './sync-task.ts'

const mirror = (topicId: string) => ({ topicId, mirrorTopic: topicId }) as unknown as MirrorRecord
const { signal } = new AbortController()

function rounds(current: (record: MirrorRecord) => MirrorRecord | undefined = record => record) {
  const asked: string[][] = []
  const ends: PromiseWithResolvers<readonly TaskError[]>[] = []
  const round = mergedRounds(mirrors => {
    asked.push(mirrors.map(({ topicId }) => topicId))
    const end = Promise.withResolvers<readonly TaskError[]>()
    ends.push(end)
    return end.promise
  }, current)
  return { asked, ends, run: (...topics: string[]) => round(topics.map(mirror), signal) }
}

const settle = () => new Promise<void>(resolve => setImmediate(resolve))

test('one round at a time; what is asked for meanwhile goes into one round after it', async () => {
  const { asked, ends, run } = rounds()
  const first = run('a')
  await settle()
  const others = [run('b'), run('a', 'c')]
  await settle()
  deepEqual(asked, [['a']])
  ends[0]?.resolve([])
  deepEqual(await first, [])
  await settle()
  deepEqual(asked, [['a'], ['b', 'a', 'c']])
  ends[1]?.resolve([{ code: 'X', message: 'bad' }])
  equal((await Promise.all(others)).flat().length, 2)
})

test('a round that fails is told to its callers and to nobody after them', async () => {
  const { ends, run } = rounds()
  const first = run('a')
  await settle()
  const second = run('b')
  ends[0]?.reject(new Error('no answer'))
  await rejects(first, /no answer/)
  await settle()
  ends[1]?.resolve([])
  deepEqual(await second, [])
})

test('a mirror that has stopped while it waited is not synced any more', async () => {
  const stopped = new Set<string>()
  const { asked, ends, run } = rounds(record => (stopped.has(record.topicId) ? undefined : record))
  const first = run('a')
  await settle()
  const others = [run('b', 'c')]
  stopped.add('b')
  ends[0]?.resolve([])
  await first
  await settle()
  deepEqual(asked, [['a'], ['c']])
  ends[1]?.resolve([])
  await Promise.all(others)
  stopped.add('a')
  deepEqual(await run('a'), [])
  equal(asked.length, 2)
})
