/** Metadata snapshots between Kafka 4.3.1 and the local controller: each reads what the other wrote, and Kafka's tools decode ours. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { LocalController } from '../../src/controller/local/local-controller.ts'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Uuid } from '../../src/core/uuid.ts'
import { loadMetaProperties } from '../../src/log/meta-properties.ts'
import { nodeFileSystem } from '../../src/log/node-file-system.ts'
import { configOverrides, topicByName } from '../../src/metadata/metadata-image.ts'
import { eventually } from '../eventually.ts'
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { skipWithoutJava } from '../kafka/jars.ts'

const skip = skipWithoutJava()
const often = { 'metadata.log.max.record.bytes.between.snapshots': '1000' }
let java: JavaDriver
let cluster: KafkaCluster

before(async () => {
  if (skip) return
  java = await JavaDriver.start({ version: '4.3.1' })
  cluster = await KafkaCluster.start({ version: '4.3.1', properties: often })
})
after(async () => {
  if (skip) return
  await java.close()
  await cluster.close()
})

const node = () => cluster.node(1)
const folder = () => join(node().dataDirectory, '__cluster_metadata-0')
const snapshots = async () => (await readdir(folder())).filter(name => name.endsWith('.checkpoint')).sort()

async function openOurs(properties: Record<string, string>): Promise<LocalController> {
  const fs = nodeFileSystem()
  const meta = await loadMetaProperties(fs, node().dataDirectory)
  ok(meta)
  return await LocalController.open({
    directory: node().dataDirectory,
    ...meta,
    listeners: [{ name: 'PLAINTEXT', host: 'localhost', port: 9092, securityProtocol: 0 }],
    rack: null,
    serverProperties: new Map(Object.entries(properties)),
    fs,
    clock: systemClock,
    logger: silentLogger,
  })
}

const createTopic = (controller: LocalController, name: string) => {
  const topic = { name, partitions: 2, replicationFactor: 1, assignments: new Map() }
  return controller.createTopics([{ ...topic, configs: new Map([['retention.ms', '70000']]) }], { validateOnly: false })
}

test('we start from snapshot and log of Kafka, and Kafka from ours, with nothing else left', { skip }, async () => {
  const topic = { partitions: 3, replicationFactor: 1, configs: { 'retention.ms': '90000' } }
  const topics = [1, 2, 3, 4].map(i => ({ name: `theirs-${i}`, ...topic }))
  const ids = await java.call<Record<string, string>>('create-topics', { bootstrap: cluster.bootstrap, topics })
  await eventually(async () => ok((await snapshots()).length > 0))
  await node().stop()

  const ours = await openOurs({
    ...often,
    'internal.metadata.log.segment.bytes': '600',
    'metadata.max.retention.bytes': '0',
  })
  for (const [name, id] of Object.entries(ids)) {
    const found = topicByName(ours.image, name)
    deepEqual([found?.id, found?.partitions.length], [id, 3])
    equal(configOverrides(ours.image, { type: 2, name }).get('retention.ms'), '90000')
  }
  for (let i = 0; i < 30; i++) await createTopic(ours, `ours-${i}`)
  const known = ours.image
  await eventually(async () => ok(Number((await snapshots())[0]?.slice(0, 20)) > 100))
  await ours.close()
  const logs = (await readdir(folder())).filter(name => name.endsWith('.log')).sort()
  ok(Number(logs[0]?.slice(0, 20)) > 0, 'the beginning of the log is gone')

  await checkDump(join(folder(), (await snapshots()).at(-1) ?? ''))
  await node().start()
  for (const name of ['theirs-4', 'ours-0', 'ours-29']) {
    const described = await eventually(() =>
      java.call<{ id: string; configs: object; partitions: { leader: number }[] }>('describe-topic', {
        bootstrap: cluster.bootstrap,
        topic: name,
      }),
    )
    equal(described.id, topicByName(known, name)?.id as Uuid)
    deepEqual(described.configs, { 'retention.ms': name === 'theirs-4' ? '90000' : '70000' })
  }
  const records = [{ value: 'a record' }]
  const to = { bootstrap: cluster.bootstrap, topic: 'ours-29', partition: 1, records }
  deepEqual((await java.call<{ first: object }>('produce', to)).first, { '1': 0 })
})

/** DumpLogSegments decodes every record, between the header and the footer. */
async function checkDump(file: string): Promise<void> {
  const args = ['--cluster-metadata-decoder', '--deep-iteration']
  const { output, problems } = await java.call<{ output: string[]; problems: string }>('dump-log', {
    files: [file],
    args,
  })
  equal(problems, '')
  deepEqual(
    output.filter(line => line.includes('isvalid: false')),
    [],
  )
  equal(output.filter(line => /SnapshotHeader|SnapshotFooter/.test(line)).length, 2)
  const records = output.flatMap(line => line.split(' payload: ')[1] ?? []).map(text => JSON.parse(text))
  const types = new Set(records.map(record => record.type))
  for (const type of ['FEATURE_LEVEL', 'REGISTER_BROKER', 'REGISTER_CONTROLLER', 'TOPIC', 'PARTITION', 'CONFIG'])
    ok(types.has(`${type}_RECORD`), type)
  equal(records[0].data.name, 'metadata.version')
  ok((await readFile(file)).length > 1000)
}
