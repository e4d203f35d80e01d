// Two sides with a bidirectional link between them that keeps the offsets of all groups in step, in both directions; used by the failback suites.
import { JavaDriver } from '../java/driver.ts'
import { Opened } from '../opened.ts'
import { MIRROR_GROUPS } from './failback-load.ts'
import { Site, type SiteShape } from './failback-site.ts'

export interface FailbackWorld {
  readonly driver: JavaDriver
  readonly east: Site
  readonly west: Site
  readonly close: () => Promise<void>
}

/** Offsets of groups come with the data; those of groups that read mirrors go back to where the data comes from. */
const groupFilters = [
  { name: '*', patternType: 'LITERAL', filterType: 'INCLUDE' },
  { name: MIRROR_GROUPS, patternType: 'PREFIXED', filterType: 'EXCLUDE', topicTypes: ['LOCAL_MIRROR'] },
  { name: MIRROR_GROUPS, patternType: 'PREFIXED', filterType: 'INCLUDE', topicTypes: ['REMOTE_MIRROR'] },
]

const configs = {
  'metadata.max.age.ms': '1000',
  'consumer.offset.sync.enable': 'true',
  'consumer.offset.sync.ms': '1000',
  'consumer.offset.group.filters': JSON.stringify({ groupFilters }),
}

export async function startFailbackWorld(shapes: {
  readonly east: SiteShape
  readonly west: SiteShape
}): Promise<FailbackWorld> {
  const opened = new Opened()
  const properties = { 'group.initial.rebalance.delay.ms': '0' }
  try {
    const driver = await opened.add(JavaDriver.start({ version: '4.3.1', heapMb: 384 }))
    const [east, west] = await opened.all<[Site, Site]>([
      Site.start('east', { shape: shapes.east, driver, properties }),
      Site.start('west', { shape: shapes.west, driver, properties }),
    ])
    await west.linkTo(east, configs)
    await east.linkTo(west, configs)
    return { driver, east, west, close: () => opened.close() }
  } catch (error) {
    await opened.close()
    throw error
  }
}
