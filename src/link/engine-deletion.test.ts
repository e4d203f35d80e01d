/** What deleting a link takes with it, whatever runs meanwhile. */
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterAcls } from './acl-ports.ts'
import { EngineWorld, linkRequest } from './fakes/engine-world.ts'
import { decodeStateRecord } from './state-records/record-codec.ts'

const configs = {
  'acl.sync.enable': 'true',
  'acl.filters': JSON.stringify({ aclFilters: [{ resourceFilter: { resourceType: 'topic' } }] }),
}
const binding = { resourceType: 2, patternType: 3, host: '*', operation: 3, permissionType: 3 }

// A round that had read the source wrote what it owns after the link was gone, and nobody would ever remove that.
test('a link that is deleted while its syncs run leaves no record behind', async () => {
  const world = new EngineWorld()
  await world.start()
  const acls: ClusterAcls = { kind: 'acls', acls: [{ ...binding, resourceName: 'orders', principal: 'User:app' }] }
  let deletion: Promise<unknown> | undefined
  // The source answers when the link is gone.
  const late = async () => {
    deletion ??= world.engine.deleteLink('west', { force: false, validateOnly: false })
    while (world.engine.listLinks().length > 0) await world.settle()
    return acls
  }
  Object.defineProperty(world.source, 'acls', { get: late })
  await world.engine.createLink(linkRequest('west', configs), { validateOnly: false, validateLink: false })
  await world.settle()
  await deletion
  deepEqual(world.engine.listLinks(), [])
  deepEqual(world.cluster.acls, { kind: 'acls', acls: [] })
  await world.engine.stop()
  const last = new Map(world.cluster.stateRecords.map(record => [record.key.toString('latin1'), record]))
  const left = [...last.values()]
    .filter(({ value }) => value !== null)
    .map(record => decodeStateRecord(record).kind)
    .filter(kind => kind !== 'coordinator')
  deepEqual(left, [])
})
