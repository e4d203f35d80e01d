// Two sides with a bidirectional link between them that keeps the offsets of all groups in step; used by the failback suites.
import { JavaDriver } from '../java/driver.ts'
import { Opened } from '../opened.ts'
import { Site, type SiteShape } from './failback-site.ts'

export interface FailbackWorld {
  readonly driver: JavaDriver
  readonly east: Site
  readonly west: Site
  readonly close: () => Promise<void>
}

const everyGroup = { groupFilters: [{ name: '*', patternType: 'LITERAL', filterType: 'INCLUDE' }] }

const configs = {
  'metadata.max.age.ms': '1000',
  'consumer.offset.sync.enable': 'true',
  'consumer.offset.sync.ms': '1000',
  'consumer.offset.group.filters': JSON.stringify(everyGroup),
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
