// Real clients against a Lockstep node: they read mirrors like the source, and write topics that all can read back.
import { ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ClientReader, ClientWriter } from '../clients/client-record.ts'
import { confluentReader, confluentWriter } from '../clients/confluent.ts'
import { javaReader, javaWriter } from '../clients/java.ts'
import { kafkaJsWriter } from '../clients/kafkajs.ts'
import { kcatReader, kcatWriter } from '../clients/kcat.ts'
import { platformaticWriter } from '../clients/platformatic.ts'
import { eventually } from '../eventually.ts'
import { sourceVersion } from '../kafka/jars.ts'
import { skipWithout, type Tool } from '../requirements.ts'
import { readAlike, writeAndReadBack } from '../scenarios/client-scenarios.ts'
import { kcatMayLogIn } from '../scenarios/destination.ts'
import { waitUntilInStep } from '../scenarios/equality.ts'
import { assertHandedOver } from '../scenarios/handed-over.ts'
import { checkIndexes } from '../scenarios/logs.ts'
import { type MirrorWorld, startMirrorWorld } from '../scenarios/mirror-world.ts'
import { sourceTopics } from '../scenarios/source-topics.ts'
import type { TopicSide } from '../scenarios/topic-side.ts'

const skip = skipWithout('java')
let started: MirrorWorld | undefined

function world(): MirrorWorld {
  if (started === undefined) throw new Error('the clusters did not start')
  return started
}

before(async () => {
  if (skip === false) started = await startMirrorWorld(sourceVersion())
})
after(() => started?.close())

const mirrored = sourceTopics.filter(({ name }) => ['codecs', 'transactions', 'deleted-before'].includes(name))
const java = (): ClientReader => javaReader(world().sides.source.driver)

const readers: readonly { name: string; needs: readonly Tool[]; reader: () => ClientReader }[] = [
  { name: 'Java', needs: ['java'], reader: java },
  ...(kcatMayLogIn() ? [{ name: 'kcat', needs: ['java', 'kcat'], reader: () => kcatReader } as const] : []),
  { name: 'confluent-kafka', needs: ['java', 'python'], reader: () => confluentReader },
]

const writers: readonly { name: string; needs: readonly Tool[]; writer: () => ClientWriter }[] = [
  { name: 'Java', needs: ['java'], writer: () => javaWriter(world().sides.source.driver) },
  ...(kcatMayLogIn() ? [{ name: 'kcat', needs: ['java', 'kcat'], writer: () => kcatWriter } as const] : []),
  { name: 'confluent-kafka', needs: ['java', 'python'], writer: () => confluentWriter },
  { name: 'KafkaJS', needs: ['java'], writer: () => kafkaJsWriter },
  { name: '@platformatic/kafka', needs: ['java'], writer: () => platformaticWriter },
]

/** The topic is on this node unless it has joined a cluster. */
async function checkOnDisk(topic: string): Promise<void> {
  const { joined, sides } = world()
  if (joined === undefined) await checkIndexes(sides.mirror, topic)
}

const available = () => readers.filter(({ needs }) => skipWithout(...needs) === false).map(({ reader }) => reader())

test('topics with every codec and transactions are mirrored', { skip }, async () => {
  const { sides, link } = world()
  for (const { name, partitions = 1, configs = {}, fill } of mirrored) {
    await sides.source.createTopic(name, { partitions, configs })
    await fill?.(sides.source, name)
    await link.mirror(name)
    await waitUntilInStep(sides, name)
  }
})

for (const { name, needs, reader } of readers) {
  test(`${name} reads mirrors as Java reads their source`, { skip: skipWithout(...needs) }, async () => {
    for (const topic of mirrored) {
      await readAlike(world().sides, topic.name, { java: java(), readers: [reader()] })
    }
  })
}

for (const { name, needs, writer } of writers) {
  test(`what ${name} writes to an ordinary topic every client reads`, { skip: skipWithout(...needs) }, async () => {
    const { mirror } = world().sides
    const topic = `from-${name.replaceAll(/[^A-Za-z]/g, '-')}`
    await mirror.createTopic(topic)
    await writeAndReadBack(mirror, writer(), { readers: available(), topic })
    await checkOnDisk(topic)
  })
}

test('every client writes on after a failover', { skip }, async () => {
  const { sides, link } = world()
  const partitionOf = async (side: TopicSide) => {
    const found = (await side.describe('codecs')).partitions.find(({ partition }) => partition === 0)
    ok(found)
    return found
  }
  await link.failOver(['codecs'])
  await assertHandedOver(world(), 'codecs')
  // The Kafka broker that leads it next has to hear from the others how far they are.
  const { highWatermark: end } = await partitionOf(sides.source)
  for (const { needs, writer } of writers) {
    if (skipWithout(...needs) !== false) continue
    const from = await eventually(async () => {
      const { highWatermark } = await partitionOf(sides.mirror)
      ok(highWatermark >= end)
      return highWatermark
    })
    await writeAndReadBack(sides.mirror, writer(), { readers: available(), topic: 'codecs', from })
    await checkOnDisk('codecs')
  }
})
