// A node that has joined an Apache Kafka cluster: mirrors of a real Kafka equal their source on it and on every broker that follows.
import { after, before, describe } from 'node:test'
import { sourceVersions } from '../kafka/jars.ts'
import { skipWithout } from '../requirements.ts'
import { borrowed, chosenDestination, type Destination, startDestination } from '../scenarios/destination.ts'
import { mirrorScenarios } from '../scenarios/mirror-scenarios.ts'
import { startMirrorWorld } from '../scenarios/mirror-world.ts'

let destination: Promise<Destination> | undefined

before(() => {
  if (skipWithout('java') === false) destination = startDestination(chosenDestination() ?? { version: '4.3.1' })
  // The first scenario tells.
  destination?.catch(() => {})
})
after(async () => (await destination?.catch(() => undefined))?.close())

// One source after the other is mirrored into the same cluster.
for (const version of sourceVersions())
  describe(`from Kafka ${version}`, () =>
    mirrorScenarios(version, () => startMirrorWorld(version, { destination: destination && borrowed(destination) })))
