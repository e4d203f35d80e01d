/** When the cordon of this node is lifted for a request of our own. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { joinedImage, lockstepBroker } from '../../metadata/fakes/joined-images.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { CordonLift } from './cordon-lift.ts'

const cordoned = lockstepBroker(1001)

function world({ level = 31, hears = true } = {}) {
  const clock = new ManualClock()
  const told: boolean[] = []
  const features = new Map([['metadata.version', level]])
  const imageOf = (isCordoned: boolean): MetadataImage => ({
    ...joinedImage({ brokers: [isCordoned ? cordoned : { ...cordoned, cordonedLogDirs: [] }] }),
    features,
  })
  let image = imageOf(true)
  const lift = new CordonLift({
    brokerId: 1001,
    image: () => image,
    cordon: wanted => {
      told.push(wanted)
      // The controller hears of it with the next heartbeat.
      if (hears)
        clock.after(400, () => {
          image = imageOf(wanted)
        })
    },
    clock,
  })
  const asked: boolean[] = []
  const ask = async () => {
    asked.push((image.brokers.get(1001)?.cordonedLogDirs ?? []).length > 0)
    return asked.at(-1) === true ? 'refused' : 'done'
  }
  const run = async () => {
    let answer: string | undefined
    void lift
      .around(ask, given => given === 'refused')
      .then(given => {
        answer = given
      })
    while (answer === undefined) await clock.advance(100)
    return answer
  }
  return { run, told, asked }
}

test('a request that the cordon stands in the way of is asked again without it, and the cordon is back behind it', async () => {
  const { run, told, asked } = world()
  strictEqual(await run(), 'done')
  deepStrictEqual(
    [told, asked],
    [
      [false, true],
      [true, false],
    ],
  )
})

test('where the controller does not hear of it, the refusal is the answer, and the cordon stays', async () => {
  const { run, told, asked } = world({ hears: false })
  strictEqual(await run(), 'refused')
  deepStrictEqual([told, asked], [[false, true], [true]])
})

test('versions that accept assignments to cordoned brokers keep us cordoned, whatever they refuse', async () => {
  const { run, told } = world({ level: 30 })
  strictEqual(await run(), 'refused')
  deepStrictEqual(told, [])
})
