// Real clients against a Lockstep node: they read mirrors like the source, and write topics that all can read back.
import { after, before, test } from 'node:test'
import type { ClientReader, ClientWriter } from '../clients/client-record.ts'
import { confluentReader, confluentWriter } from '../clients/confluent.ts'
import { javaReader, javaWriter } from '../clients/java.ts'
import { kafkaJsWriter } from '../clients/kafkajs.ts'
import { kcatReader, kcatWriter } from '../clients/kcat.ts'
import { platformaticWriter } from '../clients/platformatic.ts'
import { sourceVersion } from '../kafka/jars.ts'
import { skipWithout, type Tool } from '../requirements.ts'
import { readAlike, writeAndReadBack } from '../scenarios/client-scenarios.ts'
import { waitUntilInStep } from '../scenarios/equality.ts'
import { type MirrorWorld, startMirrorWorld } from '../scenarios/mirror-world.ts'
import { sourceTopics } from '../scenarios/source-topics.ts'

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
  { name: 'kcat', needs: ['java', 'kcat'], reader: () => kcatReader },
  { name: 'confluent-kafka', needs: ['java', 'python'], reader: () => confluentReader },
]

const writers: readonly { name: string; needs: readonly Tool[]; writer: () => ClientWriter }[] = [
  { name: 'Java', needs: ['java'], writer: () => javaWriter(world().sides.source.driver) },
  { name: 'kcat', needs: ['java', 'kcat'], writer: () => kcatWriter },
  { name: 'confluent-kafka', needs: ['java', 'python'], writer: () => confluentWriter },
  { name: 'KafkaJS', needs: ['java'], writer: () => kafkaJsWriter },
  { name: '@platformatic/kafka', needs: ['java'], writer: () => platformaticWriter },
]

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
  })
}

test('every client writes on after a failover', { skip }, async () => {
  const { sides, link } = world()
  await link.failOver(['codecs'])
  for (const { needs, writer } of writers) {
    if (skipWithout(...needs) !== false) continue
    const [partition] = (await sides.mirror.describe('codecs')).partitions
    const options = { readers: available(), topic: 'codecs', from: partition?.highWatermark ?? -1 }
    await writeAndReadBack(sides.mirror, writer(), options)
  }
})
