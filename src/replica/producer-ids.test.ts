/** Producer ids come from blocks, each once, and the barrier holds for the block at hand too. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ProducerIds } from './producer-ids.ts'

function controllerWithBlocksOf(length: number) {
  let next = 0n
  let blocks = 0
  return {
    get blocks() {
      return blocks
    },
    async allocateProducerIds() {
      const firstId = next
      next += BigInt(length)
      blocks++
      return { firstId, length }
    },
    async skipProducerIdsBelow(producerId: bigint) {
      if (next <= producerId) next = producerId + 1n
    },
  }
}

test('concurrent callers share blocks and get different ids', async () => {
  const controller = controllerWithBlocksOf(3)
  const ids = new ProducerIds(controller)
  deepStrictEqual(await Promise.all(Array.from({ length: 7 }, () => ids.next())), [0n, 1n, 2n, 3n, 4n, 5n, 6n])
  strictEqual(controller.blocks, 3)
})

test('after the barrier no id at or below it is handed out', async () => {
  const ids = new ProducerIds(controllerWithBlocksOf(10))
  strictEqual(await ids.next(), 0n)
  await ids.raiseAbove(4n)
  strictEqual(await ids.next(), 5n)
  await ids.raiseAbove(4n)
  strictEqual(await ids.next(), 6n)
  await ids.raiseAbove(100n)
  strictEqual(await ids.next(), 101n)
  await ids.raiseAbove(1n)
  strictEqual(await ids.next(), 102n)
})
