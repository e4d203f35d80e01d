/** The local controller's metadata log and bootstrap.checkpoint, read by Kafka's own DumpLogSegments. */
import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { LocalController } from '../../src/controller/local/local-controller.ts'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { randomUuid, ZERO_UUID } from '../../src/core/uuid.ts'
import { nodeFileSystem } from '../../src/log/node-file-system.ts'
import type { NewTopic } from '../../src/metadata/controller-port.ts'
import { topicByName } from '../../src/metadata/metadata-image.ts'
import { JavaDriver } from '../java/driver.ts'
import { skipWithoutJava } from '../kafka/jars.ts'

const skip = skipWithoutJava()
let java: JavaDriver
let directory: string

before(async () => {
  if (skip) return
  java = await JavaDriver.start({ version: '4.3.1' })
  directory = await mkdtemp(join(tmpdir(), 'lockstep-metadata-'))
})
after(async () => {
  if (skip) return
  await java.close()
  await rm(directory, { recursive: true })
})

const directoryId = randomUuid()

const open = () =>
  LocalController.open({
    directory,
    clusterId: '4L6g3nShT-eMCtK--X86sw',
    nodeId: 1,
    directoryId,
    listeners: [{ name: 'PLAINTEXT', host: 'localhost', port: 9092, securityProtocol: 0 }],
    rack: 'r1',
    serverProperties: new Map(),
    fs: nodeFileSystem(),
    clock: systemClock,
    logger: silentLogger,
  })

const newTopic = (name: string, partitions: number): NewTopic => ({
  name,
  partitions,
  replicationFactor: 1,
  assignments: new Map(),
  configs: new Map([['cleanup.policy', 'compact']]),
})

interface DumpedRecord {
  readonly type: string
  readonly version: number
  readonly data: Record<string, unknown>
}

async function dump(files: string[]): Promise<{ lines: string[]; records: DumpedRecord[] }> {
  const args = ['--cluster-metadata-decoder', '--deep-iteration']
  const { output, problems } = await java.call<{ output: string[]; problems: string }>('dump-log', { files, args })
  equal(problems, '')
  const payloads = output.flatMap(line => line.split(' payload: ')[1] ?? [])
  return { lines: output, records: payloads.map(payload => JSON.parse(payload)) }
}

/** What the test below makes the controller write. */
const start = ['REGISTER_BROKER_RECORD', 'BROKER_REGISTRATION_CHANGE_RECORD']
const features = Array(6).fill('FEATURE_LEVEL_RECORD')
const topics = ['TOPIC_RECORD', 'CONFIG_RECORD', 'PARTITION_RECORD']
const RECORD_TYPES = [
  ...[...features, 'CONFIG_RECORD', ...start],
  ...[...topics, 'PARTITION_RECORD', ...topics, 'PARTITION_RECORD', 'CONFIG_RECORD', 'CLEAR_ELR_RECORD'],
  ...['REMOVE_TOPIC_RECORD', 'PRODUCER_IDS_RECORD', ...start],
  ...[...Array(3).fill('PARTITION_CHANGE_RECORD'), 'PRODUCER_IDS_RECORD'],
  ...['ACCESS_CONTROL_ENTRY_RECORD', 'REMOVE_ACCESS_CONTROL_ENTRY_RECORD'],
]

const acl = {
  resourceType: 2,
  resourceName: 't',
  patternType: 3,
  principal: 'User:a',
  host: '*',
  operation: 3,
  permissionType: 3,
}

test('DumpLogSegments decodes every record of the metadata log as it was meant', { skip }, async () => {
  const first = await open()
  await first.createTopics([newTopic('t', 2), newTopic('gone', 1)], { validateOnly: false })
  const topicId = topicByName(first.image, 't')?.id
  await first.createPartitions([{ name: 't', newCount: 3 }], { validateOnly: false })
  const change = { key: 'min.insync.replicas', operation: 'set' as const, value: '2' }
  await first.incrementalAlterConfigs([{ resource: { type: 2, name: 't' }, changes: [change] }], {
    validateOnly: false,
  })
  await first.deleteTopics([{ name: 'gone', topicId: ZERO_UUID }])
  await first.allocateProducerIds()
  await first.close()
  const second = await open()
  await second.skipProducerIdsBelow(1_000_000n)
  await second.acls.createAcls([acl])
  await second.acls.deleteAcls([acl])
  await second.close()

  const log = join(directory, '__cluster_metadata-0', '00000000000000000000')
  const { lines, records } = await dump([`${log}.log`, `${log}.index`, `${log}.timeindex`])
  deepEqual(
    lines.filter(line => line.includes('isvalid: false')),
    [],
  )
  const leaderChanges = lines.flatMap(line => line.split('LeaderChange: ')[1] ?? [])
  deepEqual(leaderChanges, Array(2).fill(leaderChanges[0]))
  match(leaderChanges[0] ?? '', /"leaderId":1,"voters":\[\{"voterId":1\}\]/)
  deepEqual(
    records.map(record => record.type),
    RECORD_TYPES,
  )
  const partition = records.find(record => record.type === 'PARTITION_RECORD')
  deepEqual(partition, {
    type: 'PARTITION_RECORD',
    version: 2,
    data: {
      partitionId: 0,
      topicId,
      replicas: [1],
      isr: [1],
      removingReplicas: [],
      addingReplicas: [],
      leader: 1,
      leaderEpoch: 0,
      partitionEpoch: 0,
      directories: [directoryId],
    },
  })
  const registration = records.find(record => record.type === 'REGISTER_BROKER_RECORD')
  equal(registration?.version, 4)
  deepEqual([registration?.data['rack'], registration?.data['logDirs']], ['r1', [directoryId]])
  const producerIds = records.filter(record => record.type === 'PRODUCER_IDS_RECORD')
  deepEqual(
    producerIds.map(record => record.data['nextProducerId']),
    [1000, 1_000_001],
  )
})

test('DumpLogSegments reads bootstrap.checkpoint as a bootstrap snapshot of a 4.3.1 cluster', { skip }, async () => {
  const { lines, records } = await dump([join(directory, 'bootstrap.checkpoint')])
  deepEqual(
    records.map(({ data }) => `${data['name']}=${data['featureLevel']}`),
    [
      'metadata.version=30',
      'eligible.leader.replicas.version=1',
      'group.version=1',
      'share.version=1',
      'streams.version=1',
      'transaction.version=2',
    ],
  )
  equal(lines.filter(line => /SnapshotHeader|SnapshotFooter/.test(line)).length, 2)
})
