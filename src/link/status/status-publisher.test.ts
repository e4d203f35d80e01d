/** When other clusters can read for the first time of what is here. */
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { EngineWorld } from '../fakes/engine-world.ts'
import { decodeStatusRecord } from './status-codec.ts'
import { StatusContents } from './status-contents.ts'

function clusterIdIn(world: EngineWorld): string | undefined {
  const contents = new StatusContents()
  for (const record of world.cluster.statusRecords) contents.apply(decodeStatusRecord(record))
  return contents.clusterId
}

// A node said that it was ready, and the other half of a bidirectional link was refused: it published nothing yet.
test('until the status was published for the first time it is due', async () => {
  const world = new EngineWorld()
  const opened = Promise.withResolvers<void>()
  const statusLog = world.cluster.statusLog.bind(world.cluster)
  const slow = (...of: Parameters<typeof statusLog>) => {
    const log = statusLog(...of)
    return {
      ...log,
      open: (onRecords: Parameters<typeof log.open>[0]) => opened.promise.then(() => log.open(onRecords)),
    }
  }
  Object.assign(world.cluster, { statusLog: slow })
  await world.start()
  deepEqual([world.engine.ready, world.engine.statusIsDue(), clusterIdIn(world)], [true, true, undefined])
  opened.resolve()
  await world.settle()
  deepEqual([world.engine.statusIsDue(), clusterIdIn(world)], [false, 'destination-cluster'])
  await world.engine.stop()
})
