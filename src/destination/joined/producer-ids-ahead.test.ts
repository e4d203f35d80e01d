/** The allocator of producer ids stays above what mirrors hold. */
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { joinedImage } from '../../metadata/fakes/joined-images.ts'
import { ProducerIdsAhead } from './producer-ids-ahead.ts'

test('ids are burned when a mirror, and only a mirror, has seen one that was not handed out yet', async () => {
  const clock = new ManualClock()
  const image = { ...joinedImage({ brokers: [] }), nextProducerId: 3000n }
  const log = { maxProducerId: 10n }
  const skipped: bigint[] = []
  const ahead = new ProducerIdsAhead({
    partitions: () => [
      { topicId: 'a', topic: 'mirror', log },
      { topicId: 'b', topic: 'plain', log: { maxProducerId: 9000n } },
    ],
    isMirror: (_topicId, topic) => topic === 'mirror',
    controller: {
      image,
      skipProducerIdsBelow: async id => {
        skipped.push(id)
        image.nextProducerId = id + 1n
      },
    },
    distanceProblem: highest => (highest > 1_000_000n ? 'too far' : undefined),
    clock,
    logger: silentLogger,
  })
  await clock.advance(11_000)
  log.maxProducerId = 4000n
  await clock.advance(11_000)
  await clock.advance(11_000)
  log.maxProducerId = 2_000_000n
  await clock.advance(11_000)
  deepEqual(skipped, [4000n])
  await ahead.close()
})
