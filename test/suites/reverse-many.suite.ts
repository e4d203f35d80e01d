/** Fifty topics change roles by one command and back; `npm run bench:reverse` does five hundred. */
import { ok, strictEqual } from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { ManyReversed } from '../scenarios/many-reversed.ts'

const topics = 50
let many: ManyReversed

before(async () => {
  many = await ManyReversed.start(topics)
})
after(() => many?.close())

test('fifty topics change roles by one command, without a loss, and back', async (t: TestContext) => {
  const { east, west } = many.world
  for (const [mirror, source] of [
    [west, east],
    [east, west],
  ] as const) {
    await many.produce(source, 3)
    const { writableMs, windowsMs } = await many.reverse(mirror, source)
    strictEqual(windowsMs.length, topics)
    ok(windowsMs.every(ms => ms > 0))
    t.diagnostic(`writable after ${Math.round(writableMs)} ms, nobody could write for at most ${windowsMs.at(-1)} ms`)
    await many.produce(mirror, 3)
    await many.inStep()
  }
})
