/** Reading batches by question under a throttle: what decides something does not wait, what compares takes turns like a fetch. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { during } from './fakes/answers.ts'
import { startBench } from './fakes/fetch-bench.ts'

// The reading of what a source publishes timed out behind the debts of the data, and nothing could be promoted meanwhile.
test('a read that decides something is paid for, but does not wait for the throttle', async t => {
  const { kafka, source, until, clock } = await startBench(t)
  kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 10)
  const asked: number[] = []
  kafka.onFetch = ({ partitionMaxBytes }) => {
    asked.push(partitionMaxBytes)
    return undefined
  }
  source.fetcher.limitRate(4)
  const read = async (takesTurns: boolean) => {
    const beganMs = clock.monotonicMs()
    const reading = source.readBatches('orders', 0, { offset: 0, maxBytes: 1 << 20, takesTurns })
    assert.equal((await during(until, reading)).length, 80)
    return clock.monotonicMs() - beganMs
  }
  assert.ok((await read(false)) < 1000)
  assert.ok((await read(false)) < 1000)
  // Whoever takes turns waits until both are paid for, and asks for no more than a fetch: mirroring keeps its share.
  const tookMs = await read(true)
  assert.ok(tookMs > 35_000 && tookMs < 45_000, `${tookMs} ms`)
  assert.deepEqual(asked, [1 << 20, 1 << 20, 16 * 1024])
})
