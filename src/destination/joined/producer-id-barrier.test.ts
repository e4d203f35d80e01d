/** The producer-id barrier: every broker is taken past the mirrored ids, and what cannot be promised is said. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { javaBroker, joinedImage, lockstepBroker } from '../../metadata/fakes/joined-images.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { BrokerRefusal } from './broker-questions.ts'
import { ProducerIdBarrier } from './producer-id-barrier.ts'

function scene({ nextProducerId = 5000n, fenced = false } = {}) {
  const image = {
    ...joinedImage({
      brokers: [javaBroker(1), javaBroker(2, { fenced }), lockstepBroker(1001), lockstepBroker(1002)],
      topics: { orders: [[1001, 1, 2]], other: [[1, 2]] },
    }),
    nextProducerId,
  }
  /** The next id of each broker, from blocks that it has had for long. */
  const next = new Map([
    [1, 10n],
    [2, 1500n],
    [1002, 7000n],
  ])
  const raised: bigint[] = []
  const clock = new ManualClock()
  let loads = 0
  const barrier = new ProducerIdBarrier({
    brokerId: 1001,
    image: () => image,
    clock,
    producerIds: { raiseAbove: async id => void raised.push(id) },
    questions: {
      takeProducerId: async broker => {
        const id = next.get(broker)
        if (id === undefined) throw new Error('it does not answer')
        if (loads-- > 0) throw new BrokerRefusal('InitProducerId', broker, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        next.set(broker, id + 1n)
        return id
      },
      producersIn: async (broker, partitions) =>
        broker === 1 ? partitions.map(({ topic }) => ({ topic, producerId: 33n })) : [],
      transactionalIds: async broker => (broker === 1002 ? [{ transactionalId: 'payments', producerId: 34n }] : []),
    },
  })
  const wait = (times: number) => {
    loads = times
  }
  return { barrier, next, raised, clock, wait }
}

test('every broker is asked for ids until they are above the mirrored ones, Lockstep nodes too', async () => {
  const { barrier, next, raised } = scene()
  deepEqual(await barrier.raiseAbove(2000n, new Set()), [])
  deepEqual(raised, [2000n])
  for (const id of next.values()) ok(id > 2000n)
  equal(next.get(1002), 7001n, 'one question tells that nothing is to be done')
})

test('producers that go on with ids of the source are named, but not those of mirrors', async () => {
  const { barrier } = scene()
  const [warning, ...others] = await barrier.raiseAbove(40n, new Set([33n, 34n, 35n]))
  match(warning ?? '', /must be restarted.*33 \(writes topic other\).*34 \(transactional id payments\)/)
  deepEqual(others, [])
})

test('a broker that does not answer, and one that is cut off, are named', async () => {
  const { barrier, next } = scene({ fenced: true })
  next.delete(1)
  const warnings = await barrier.raiseAbove(2000n, new Set())
  deepEqual(warnings.length, 2)
  match(warnings[0] ?? '', /^broker 1 may hand out .*: it does not answer$/)
  match(warnings[1] ?? '', /^brokers 2 could not be asked/)
})

test('ids that are too far away are not burned, and that is said', async () => {
  const { barrier, raised } = scene()
  match((await barrier.raiseAbove(10n ** 9n, new Set()))[0] ?? '', /too far above/)
  deepEqual(raised, [])
})

test('a broker that waits for its next block is asked again', async () => {
  const { barrier, clock, wait, next } = scene()
  wait(3)
  const done = barrier.raiseAbove(1600n, new Set())
  await clock.advance(500)
  deepEqual(await done, [])
  ok([...next.values()].every(id => id > 1600n))
})
