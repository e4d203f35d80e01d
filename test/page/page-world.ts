// Two standalone nodes, one the source of the other, with topics that are written to; what the page is tried on.
import type { Producer } from 'kafkajs'
import { Partitioners } from 'kafkajs'
import { patientKafkaJs } from '../clients/kafkajs.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { MirrorLink } from '../scenarios/mirror-link.ts'

export interface PageWorld {
  readonly source: LockstepNode
  readonly node: LockstepNode
  /** Of the mirror node, to the source. */
  readonly link: MirrorLink
  readonly producer: Producer
  close(): Promise<void>
}

/** Topics of the source by name, with their partitions. */
export const TOPICS: Readonly<Record<string, number>> = {
  orders: 6,
  payments: 3,
  'customer-profiles': 4,
  'clicks.web': 8,
  'clicks.mobile': 8,
  'audit-log': 1,
  'inventory.stock-levels': 3,
  'shipping.events': 2,
}

const entries = (configs: Readonly<Record<string, string>>) =>
  Object.entries(configs).map(([name, value]) => ({ name, value }))

/** `mirrored`: which topics get a mirror; `properties`: of both nodes. */
export async function startPageWorld(
  mirrored: readonly string[] = Object.keys(TOPICS),
  properties: Readonly<Record<string, string>> = {},
): Promise<PageWorld> {
  const opened = new Opened()
  const start = () => LockstepNode.start({ properties })
  try {
    const [source, node] = await opened.all<[LockstepNode, LockstepNode]>([start(), start()])
    for (const [topic, partitions] of Object.entries(TOPICS))
      await source.rest.call('POST', '/topics', { topic_name: topic, partitions_count: partitions })
    const producer = patientKafkaJs(source.bootstrap).producer({
      createPartitioner: Partitioners.DefaultPartitioner,
    })
    await producer.connect()
    await opened.add(Promise.resolve({ close: () => producer.disconnect() }))
    for (const topic of Object.keys(TOPICS)) await write(producer, topic, 200)
    const link = await MirrorLink.create(node, 'west', {
      bootstrap: source.bootstrap,
      clusterId: source.clusterId,
      configs: {
        'consumer.offset.sync.enable': 'true',
        'consumer.offset.sync.ms': '1000',
        'consumer.offset.group.filters':
          '{"groupFilters":[{"name":"*","patternType":"LITERAL","filterType":"INCLUDE"}]}',
        'availability.check.ms': '1000',
        'availability.check.consecutive.failure.threshold': '2',
      },
    })
    for (const topic of mirrored) await link.mirror(topic)
    return { source, node, link, producer, close: () => opened.close() }
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** Records with keys, spread over the partitions. */
export async function write(producer: Producer, topic: string, count: number): Promise<void> {
  const messages = Array.from({ length: count }, (_, index) => ({
    key: `${topic}-${index}`,
    value: JSON.stringify({ topic, index, note: 'x'.repeat(120) }),
  }))
  await producer.send({ topic, messages })
}

/** A link whose source nobody answers for. */
export async function createUnreachableLink(node: LockstepNode, name: string): Promise<void> {
  await node.rest.call('POST', `/links?link_name=${name}&validate_link=false`, {
    configs: entries({
      'bootstrap.servers': '127.0.0.1:1',
      'availability.check.ms': '1000',
      'availability.check.consecutive.failure.threshold': '2',
    }),
  })
}
