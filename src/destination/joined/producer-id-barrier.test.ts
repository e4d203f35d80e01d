/** The producer-id barrier: every broker is taken past the mirrored ids, and what cannot be promised is said. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { javaBroker, joinedImage, lockstepBroker } from '../../metadata/fakes/joined-images.ts'
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
  const barrier = new ProducerIdBarrier({
    brokerId: 1001,
    image: () => image,
    producerIds: { raiseAbove: async id => void raised.push(id) },
    questions: {
      takeProducerId: async broker => {
        const id = next.get(broker)
        if (id === undefined) throw new Error('it does not answer')
        next.set(broker, id + 1n)
        return id
      },
      producersIn: async (broker, partitions) =>
        broker === 1 ? partitions.map(({ topic }) => ({ topic, producerId: 33n })) : [],
      transactionalIds: async broker => (broker === 1002 ? [{ transactionalId: 'payments', producerId: 34n }] : []),
    },
  })
  return { barrier, next, raised }
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
