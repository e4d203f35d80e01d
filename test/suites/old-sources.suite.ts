/** Sources older than what Kafka's own tests still know: 2.1, the oldest that a link speaks to, and 2.8, both on ZooKeeper. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import { JavaDriver } from '../java/driver.ts'
import type { OldKafkaVersion } from '../kafka/jars.ts'
import { OldKafkaCluster } from '../kafka/old-cluster.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { assertEqualTopics, type Sides, waitUntilInStep } from '../scenarios/equality.ts'
import { MirrorLink } from '../scenarios/mirror-link.ts'
import { sourceTopics } from '../scenarios/source-topics.ts'
import { TopicSide } from '../scenarios/topic-side.ts'

const skip = skipWithout('java')
const versions: readonly OldKafkaVersion[] = ['2.1.1', '2.8.2']
const mirrored = sourceTopics.filter(({ name }) => ['codecs', 'transactions', 'deleted-before'].includes(name))
const groupFilters = [{ name: '*', patternType: 'LITERAL', filterType: 'INCLUDE' }]
const opened = new Opened()
let java: JavaDriver
after(async () => {
  if (skip === false) await java.close()
})
before(async () => {
  if (skip === false) java = await JavaDriver.start({ version: '4.3.1' })
})

interface World {
  readonly cluster: OldKafkaCluster
  readonly link: MirrorLink
  readonly sides: Sides
}

async function openWorld(version: OldKafkaVersion): Promise<World> {
  const starting = opened.all<[OldKafkaCluster, LockstepNode]>([OldKafkaCluster.start(version), LockstepNode.start()])
  const [cluster, node] = await starting
  const { bootstrap } = cluster
  const link = await MirrorLink.create(node, `kafka-${version}`, {
    bootstrap,
    configs: {
      'consumer.offset.sync.enable': 'true',
      'consumer.offset.sync.ms': '1000',
      'consumer.offset.group.filters': JSON.stringify({ groupFilters }),
      'metadata.max.age.ms': '1000',
      'cluster.link.retry.timeout.ms': '3000',
    },
  })
  const sides = { source: new TopicSide(java, cluster), mirror: new TopicSide(java, node) }
  return { cluster, link, sides }
}

for (const version of versions) {
  test(`Kafka ${version} is mirrored, followed through a restart, promoted and failed over`, { skip }, async () => {
    try {
      const world = await openWorld(version)
      await mirrorEverything(world)
      await followGroups(world)
      await growAndChange(world)
      await comeBack(world)
      await promote(world)
      await tellRecreated(world)
      await world.cluster.killBroker()
      await world.link.failOver(['transactions'])
      await world.sides.mirror.produce('transactions', { generate: { count: 3 } })
      await world.link.must('failover', { pattern: 'codecs|recreated' })
      for (const topic of ['codecs', 'recreated']) await world.link.waitForStatus(topic, 'STOPPED')
    } finally {
      await opened.close()
    }
  })
}

async function mirrorEverything({ sides, link }: World): Promise<void> {
  for (const { name, partitions = 1, configs = {}, fill } of mirrored) {
    await sides.source.createTopic(name, { partitions, configs })
    await fill?.(sides.source, name)
    await link.mirror(name)
    await assertEqualTopics(sides, name)
  }
}

async function followGroups({ cluster, link, sides }: World): Promise<void> {
  const group = `readers-${link.name}`
  const groups = <T>(args: object) => java.call<T>('admin-groups', args)
  const { bootstrap } = cluster
  await groups({ bootstrap, op: 'alter-offsets', group, offsets: { 'codecs-0': 7, 'codecs-1': 11 } })
  await eventually(async () => {
    const synced = JSON.stringify(await groups({ bootstrap: sides.mirror.bootstrap, op: 'offsets', group }))
    match(synced, /codecs-0[^}]*\b7\b/)
    match(synced, /codecs-1[^}]*\b11\b/)
  })
}

async function growAndChange({ sides, link }: World): Promise<void> {
  await sides.source.createPartitions('codecs', 3)
  // Java's Admin cannot alter configs below Kafka 2.3.
  const retention = link.name === 'kafka-2.1.1' ? {} : { 'retention.ms': '86400000' }
  if ('retention.ms' in retention) await sides.source.alterConfigs('codecs', retention)
  await sides.source.produce('codecs', { partition: 2, generate: { count: 20 } })
  await eventually(async () => {
    const { configs, partitions } = await sides.mirror.describe('codecs')
    deepStrictEqual([configs['retention.ms'], partitions.length], [retention['retention.ms'], 3])
  })
  await assertEqualTopics(sides, 'codecs')
}

async function comeBack({ cluster, sides }: World): Promise<void> {
  await cluster.stopBroker()
  await cluster.startBroker()
  await sides.source.produce('codecs', { partition: 0, codec: 'lz4', generate: { count: 50 } })
  await waitUntilInStep(sides, 'codecs')
}

async function promote({ link, sides }: World): Promise<void> {
  await link.must('promote', ['deleted-before'])
  await link.waitForStatus('deleted-before', 'STOPPED')
  const end = (await sides.source.describe('deleted-before')).partitions[0]?.highWatermark
  strictEqual((await sides.mirror.describe('deleted-before')).partitions[0]?.highWatermark, end)
  await sides.mirror.produce('deleted-before', { generate: { count: 5 } })
}

/** Without topic ids the log tells: its end, or what the epochs and CRCs say of it. */
async function tellRecreated({ link, sides }: World): Promise<void> {
  await sides.source.createTopic('recreated')
  await sides.source.produce('recreated', { generate: { count: 100, seed: 1 } })
  await link.mirror('recreated')
  await waitUntilInStep(sides, 'recreated')
  await sides.source.deleteTopic('recreated')
  await eventually(() => sides.source.createTopic('recreated'))
  await sides.source.produce('recreated', { generate: { count: 40, seed: 2 } })
  await link.waitForStatus('recreated', 'FAILED')
  strictEqual((await sides.mirror.describe('recreated')).partitions[0]?.highWatermark, 100)
}
