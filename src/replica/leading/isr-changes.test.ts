/** ISR changes on their way to the controller: batched, asked for again where that is right, given up where it is not. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { seededRandom } from '../../core/random.ts'
import type { ApiError, IsrChange } from '../../metadata/controller-port.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { turns } from '../fakes/fetches.ts'
import { PartitionBench } from '../fakes/open-partition.ts'
import type { Partition } from '../partition.ts'
import { IsrChanges } from './isr-changes.ts'
import type { IsrHolder } from './isr-proposal.ts'

async function start(outcomes: (number | Error)[]) {
  const clock = new ManualClock()
  const bench = new PartitionBench(clock)
  const requests: (readonly IsrChange[])[] = []
  const changes: IsrChanges = new IsrChanges({
    alterPartition: async (asked): Promise<(ApiError & IsrChange)[]> => {
      requests.push(asked)
      const outcome = outcomes.shift() ?? ErrorCode.NONE
      if (outcome instanceof Error) throw outcome
      return asked.map(change => ({ ...change, errorCode: outcome, errorMessage: null }))
    },
    clock,
    random: seededRandom(1),
    logger: silentLogger,
  })
  const context = {
    nowMs: () => clock.monotonicMs(),
    lagTimeMaxMs: 1000,
    isEligible: () => true,
    brokerEpoch: () => 7,
    isrChangeWanted: (partition: IsrHolder) => changes.add(partition),
  }
  const assignment = { replicas: [1, 2], isr: [1], leaderEpoch: 3, partitionEpoch: 8 }
  const open = (topic: string) => bench.open({ topic, assignment, context })
  const join = (partition: Partition) => partition.followerFetched({ replicaId: 2, brokerEpoch: 7, fetchOffset: 0 })
  const close = async () => {
    changes.close()
    await bench.close()
  }
  return { clock, open, join, requests, close }
}

test('what is wanted in one turn is one request, with epochs to compare', async () => {
  const { open, join, requests, close } = await start([])
  const partitions = [await open('orders'), await open('payments')]
  for (const partition of partitions) join(partition)
  await turns()
  deepStrictEqual(
    requests.map(asked => asked.map(({ isr, leaderEpoch, partitionEpoch }) => ({ isr, leaderEpoch, partitionEpoch }))),
    [partitions.map(() => ({ isr: [1, 2], leaderEpoch: 3, partitionEpoch: 8 }))],
  )
  deepStrictEqual(
    [...(requests[0]?.[0]?.memberEpochs ?? [])],
    [
      [1, -1],
      [2, 7],
    ],
  )
  await close()
})

test('a lost answer and a controller that is behind are asked again', async () => {
  const { clock, open, join, requests, close } = await start([new Error('lost'), ErrorCode.NOT_CONTROLLER, 0])
  const partition = await open('orders')
  join(partition)
  for (let i = 0; i < 5; i++) await clock.advance(2000)
  strictEqual(requests.length, 3)
  await close()
})

test('after an answer that the image is behind nothing more is asked, and the high watermark still waits', async () => {
  const { clock, open, join, requests, close } = await start([ErrorCode.INVALID_UPDATE_VERSION])
  const partition = await open('orders')
  join(partition)
  for (let i = 0; i < 5; i++) await clock.advance(2000)
  strictEqual(requests.length, 1)
  deepStrictEqual(partition.isrProposal?.isr, [1, 2])
  await close()
})

test('an ineligible follower is proposed again by its next fetch', async () => {
  const { open, join, requests, close } = await start([ErrorCode.INELIGIBLE_REPLICA])
  const partition = await open('orders')
  join(partition)
  await turns()
  strictEqual(partition.isrProposal, undefined)
  join(partition)
  await turns()
  strictEqual(requests.length, 2)
  await close()
})
