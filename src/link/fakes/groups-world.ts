/** Links that sync the offsets of groups, and what the tests of consumer and share groups look at. */
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './engine-world.ts'

const filters = JSON.stringify({
  groupFilters: [
    { name: '*', patternType: 'LITERAL', filterType: 'INCLUDE' },
    { name: 'secret-', patternType: 'PREFIXED', filterType: 'EXCLUDE' },
  ],
})
/** Properties of a link that syncs all groups but the secret ones. */
export const syncing = { 'consumer.offset.sync.enable': 'true', 'consumer.offset.group.filters': filters }

/** With two mirrored partitions: 10 and 4 records. */
export async function mirroring(configs: Record<string, string> = syncing): Promise<EngineWorld> {
  const world = new EngineWorld()
  await world.start()
  const prefix = configs['cluster.link.prefix'] ?? ''
  const [first, second] = world.source.addTopic('orders', 2).partitions
  first?.append(batchAt(0, 10))
  second?.append(batchAt(0, 4))
  await world.engine.createLink(linkRequest('west', configs), { validateOnly: false, validateLink: true })
  const names = prefix === '' ? {} : { mirrorTopicName: `${prefix}orders` }
  await world.engine.createMirror('west', { ...mirrorRequest('orders'), ...names })
  await world.mirrorAll()
  return world
}

export const commitAtSource = (world: EngineWorld, group: string, offsets: Record<string, number>) =>
  world.source.groups.set(group, new Map(Object.entries(offsets)))

/** One period. */
export async function round(world: EngineWorld): Promise<void> {
  await world.clock.advance(30_000)
  await world.settle()
}

export const here = (world: EngineWorld, group: string) =>
  Object.fromEntries(
    [...(world.cluster.groups.get(group)?.offsets ?? [])].map(([place, { offset }]) => [place, offset]),
  )

export const rows = (world: EngineWorld) =>
  world.engine
    .listGroupOffsets('west')
    .map(({ group, partition, state, clamped }) => [group, partition, state, clamped])
