// Kafka's own command-line tools for administrators: what they print about a cluster and do to it; run by the suite of the tools.
import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scenario } from './scenario.ts'
import type { Side } from './side.ts'
import { printedBy } from './tool-output.ts'

const TOOLS = 'org.apache.kafka.tools'
const tools = {
  topics: `${TOOLS}.TopicCommand`,
  configs: 'kafka.admin.ConfigCommand',
  features: `${TOOLS}.FeatureCommand`,
  quorum: `${TOOLS}.MetadataQuorumCommand`,
  elections: `${TOOLS}.LeaderElectionCommand`,
  reassignments: `${TOOLS}.reassign.ReassignPartitionsCommand`,
  logDirs: `${TOOLS}.LogDirsCommand`,
  offsets: `${TOOLS}.GetOffsetShell`,
  deleteRecords: `${TOOLS}.DeleteRecordsCommand`,
  cluster: `${TOOLS}.ClusterTool`,
  clientMetrics: `${TOOLS}.ClientMetricsCommand`,
  versions: `${TOOLS}.BrokerApiVersionsCommand`,
} as const

const BOOTSTRAP = ['--bootstrap-server', '{bootstrap}']

/** Runs the tool and shows what it printed. */
const run = (side: Side, tool: keyof typeof tools, args: readonly string[]): Promise<string> =>
  printedBy(side, tools[tool], args)

/** A file with JSON for the time of `work`. */
async function withJson<T>(value: unknown, work: (path: string) => Promise<T>): Promise<T> {
  const path = join(tmpdir(), `lockstep-tools-${randomBytes(8).toString('hex')}.json`)
  await writeFile(path, JSON.stringify(value))
  try {
    return await work(path)
  } finally {
    await rm(path, { force: true })
  }
}

const topics: Scenario = {
  name: 'kafka-topics',
  async run(side, seen) {
    const tool = (...args: string[]) => run(side, 'topics', [...BOOTSTRAP, ...args])
    await seen.step('create', () =>
      tool('--create', '--topic', 'tooled', '--partitions', '2', '--config', 'retention.ms=5000'),
    )
    await seen.step('create again', () => tool('--create', '--topic', 'tooled'))
    await seen.step('create if it does not exist', () => tool('--create', '--if-not-exists', '--topic', 'tooled'))
    await seen.step('create with too many replicas', () =>
      tool('--create', '--topic', 'wide', '--replication-factor', '2'),
    )
    await seen.settles(
      'describe',
      () => tool('--describe', '--topic', 'tooled'),
      text => text.includes('Partition: 1'),
    )
    await seen.step('grow', () => tool('--alter', '--topic', 'tooled', '--partitions', '3'))
    await seen.step('shrink', () => tool('--alter', '--topic', 'tooled', '--partitions', '1'))
    await seen.settles(
      'describe the grown',
      () => tool('--describe', '--topic', 'tooled'),
      text => text.includes('Partition: 2'),
    )
    await seen.step('list', () => tool('--list', '--topic', 'tooled.*'))
    for (const filter of ['--under-replicated-partitions', '--unavailable-partitions', '--at-min-isr-partitions'])
      await seen.step(filter, () => tool('--describe', '--topic', 'tooled', filter))
    await seen.step('describe overrides', () => tool('--describe', '--topics-with-overrides', '--topic', 'tooled'))
    await seen.step('describe what is not there', () => tool('--describe', '--topic', 'nowhere'))
    await seen.step('delete', () => tool('--delete', '--topic', 'tooled'))
    await seen.settles(
      'list afterwards',
      () => tool('--list', '--topic', 'tooled.*'),
      text => !text.includes('tooled'),
    )
  },
}

const configs: Scenario = {
  name: 'kafka-configs',
  async run(side, seen) {
    const tool = (...args: string[]) => run(side, 'configs', [...BOOTSTRAP, ...args])
    const altered = (entity: readonly string[], entry: string) => tool('--alter', ...entity, '--add-config', entry)
    await side.createTopics({ name: 'tuned', configs: { 'segment.ms': '60000' } })
    const entities: Readonly<Record<string, readonly [entity: readonly string[], good: string, bad: string]>> = {
      topic: [['--entity-type', 'topics', '--entity-name', 'tuned'], 'max.message.bytes=2000', 'retention.ms=soon'],
      broker: [['--entity-type', 'brokers', '--entity-name', '1'], 'log.retention.ms=3600000', 'num.partitions=3'],
      brokers: [['--entity-type', 'brokers', '--entity-default'], 'message.max.bytes=900000', 'log.dirs=/tmp'],
      group: [['--entity-type', 'groups', '--entity-name', 'g1'], 'consumer.session.timeout.ms=46000', 'foo=1'],
      'client metrics': [['--entity-type', 'client-metrics', '--entity-name', 'm1'], 'interval.ms=2000', 'foo=1'],
      logger: [['--entity-type', 'broker-loggers', '--entity-name', '1'], 'root=WARN', 'root=LOUD'],
    }
    for (const [name, [entity, good, bad]] of Object.entries(entities)) {
      await seen.step(`${name}: set`, () => altered(entity, good))
      await seen.step(`${name}: set wrongly`, () => altered(entity, bad))
      const [key = ''] = good.split('=')
      const describe = async () => {
        const text = await tool('--describe', ...entity)
        // Loggers of Java are not ours, and a broker's own file is not the same.
        return text.split('\n').filter(line => line.startsWith(key) || line.startsWith('status'))
      }
      await seen.settles(`${name}: describe`, describe, lines => lines.some(line => line.startsWith(good)))
      if (name === 'logger') continue
      await seen.step(`${name}: delete`, () => tool('--alter', ...entity, '--delete-config', key))
      await seen.settles(`${name}: describe afterwards`, describe, lines => !lines.some(line => line.startsWith(good)))
    }
    await seen.step('all configs of a topic', () =>
      tool('--describe', '--entity-type', 'topics', '--entity-name', 'tuned', '--all'),
    )
    await seen.step('a topic that is not there', () =>
      altered(['--entity-type', 'topics', '--entity-name', 'nowhere'], 'retention.ms=1'),
    )
  },
}

const quotas: Scenario = {
  name: 'kafka-configs for quotas',
  async run(side, seen) {
    const tool = (...args: string[]) => run(side, 'configs', [...BOOTSTRAP, ...args])
    const entities: Readonly<Record<string, readonly [entity: readonly string[], quota: string]>> = {
      user: [['--entity-type', 'users', '--entity-name', 'alice'], 'producer_byte_rate=1048576'],
      'default user': [['--entity-type', 'users', '--entity-default'], 'consumer_byte_rate=2097152'],
      client: [['--entity-type', 'clients', '--entity-name', 'app'], 'request_percentage=150'],
      'user with client': [
        ['--entity-type', 'users', '--entity-name', 'alice', '--entity-type', 'clients', '--entity-default'],
        'controller_mutation_rate=10',
      ],
      address: [['--entity-type', 'ips', '--entity-name', '127.0.0.9'], 'connection_creation_rate=200'],
    }
    for (const [name, [entity, quota]] of Object.entries(entities)) {
      const [key = ''] = quota.split('=')
      const describe = () => tool('--describe', ...entity)
      await seen.step(`${name}: set`, () => tool('--alter', ...entity, '--add-config', quota))
      await seen.step(`${name}: set wrongly`, () => tool('--alter', ...entity, '--add-config', `${key}=0`))
      await seen.settles(`${name}: describe`, describe, text => text.includes(quota))
      await seen.step(`${name}: delete`, () => tool('--alter', ...entity, '--delete-config', key))
      await seen.settles(`${name}: describe afterwards`, describe, text => !text.includes(quota))
    }
  },
}

/** The epoch of finalized features is the offset of a record. */
const withoutEpoch = (text: string): string => text.replaceAll(/Epoch: \d+/g, 'Epoch: N')

const features: Scenario = {
  name: 'kafka-features',
  async run(side, seen) {
    const tool = async (...args: string[]) => withoutEpoch(await run(side, 'features', [...BOOTSTRAP, ...args]))
    await seen.step('describe', () => tool('describe'))
    await seen.step('version mapping', () => tool('version-mapping'))
    await seen.step('dependencies', () => tool('feature-dependencies', '--feature', 'transaction.version=2'))
    await seen.step('upgrade to what is', () => tool('upgrade', '--feature', 'metadata.version=30'))
    await seen.step('upgrade too far', () => tool('upgrade', '--feature', 'transaction.version=9'))
    await seen.step('downgrade of metadata', () => tool('downgrade', '--metadata', '4.2'))
    await seen.step('dry run', () => tool('downgrade', '--dry-run', '--feature', 'transaction.version=1'))
    await seen.step('downgrade', () => tool('downgrade', '--feature', 'transaction.version=1'))
    await seen.settles(
      'describe afterwards',
      () => tool('describe'),
      text => /transaction\.version.*FinalizedVersionLevel: 1/.test(text),
    )
    await seen.step('upgrade', () => tool('upgrade', '--feature', 'transaction.version=2'))
    await seen.step('disable', () => tool('disable', '--feature', 'share.version'))
    await seen.step('enable', () => tool('upgrade', '--feature', 'share.version=1'))
    await seen.settles(
      'describe at the end',
      () => tool('describe'),
      text => /share\.version.*FinalizedVersionLevel: 1/.test(text) && /transaction\.version.*Level: 2/.test(text),
    )
  },
}

const quorum: Scenario = {
  name: 'kafka-metadata-quorum and kafka-cluster',
  async run(side, seen) {
    // Offsets, epochs, times and the controller's address are each cluster's own.
    const numbers = (text: string) =>
      text
        .replaceAll(/\b\d+\b/g, 'N')
        .replaceAll(/"[A-Z]+:\/\/[^"]*"/g, 'ADDRESS')
        .replaceAll(/[ \t]+/g, ' ')
    const tool = async (...args: string[]) => numbers(await run(side, 'quorum', [...BOOTSTRAP, ...args]))
    await seen.step('status', () => tool('describe', '--status'))
    await seen.step('replication', () => tool('describe', '--replication'))
    await seen.step('replication for people', () => tool('describe', '--replication', '--human-readable'))
    await seen.step('remove a voter', () =>
      tool('remove-controller', '--controller-id', '1', '--controller-directory-id', 'AAAAAAAAAAAAAAAAAAAAdA'),
    )
    await seen.step('cluster id', () => run(side, 'cluster', ['cluster-id', ...BOOTSTRAP]))
    await seen.step('endpoints', async () => numbers(await run(side, 'cluster', ['list-endpoints', ...BOOTSTRAP])))
    await seen.step('unregister nobody', () => run(side, 'cluster', ['unregister', ...BOOTSTRAP, '--id', '7']))
  },
}

const leaders: Scenario = {
  name: 'kafka-leader-election and kafka-reassign-partitions',
  async run(side, seen) {
    await side.createTopics({ name: 'led', partitions: 2 })
    const elect = (...args: string[]) => run(side, 'elections', [...BOOTSTRAP, ...args])
    for (const type of ['preferred', 'unclean']) {
      await seen.step(`${type} for one`, () => elect('--election-type', type, '--topic', 'led', '--partition', '0'))
      await seen.step(`${type} for none`, () => elect('--election-type', type, '--topic', 'led', '--partition', '7'))
      await seen.step(`${type} for all`, () => elect('--election-type', type, '--all-topic-partitions'))
    }
    const reassign = (plan: unknown, ...args: string[]) =>
      withJson(plan, path => run(side, 'reassignments', [...BOOTSTRAP, '--reassignment-json-file', path, ...args]))
    const plan = (...replicas: number[]) => ({
      version: 1,
      partitions: [{ topic: 'led', partition: 0, replicas, log_dirs: replicas.map(() => 'any') }],
    })
    await seen.step('reassign to where it is', () => reassign(plan(1), '--execute'))
    await seen.settles(
      'verify',
      () => reassign(plan(1), '--verify'),
      text => text.includes('completed'),
    )
    await seen.step('reassign elsewhere', () => reassign(plan(2), '--execute'))
    await seen.step('cancel', () => reassign(plan(1), '--cancel'))
    await seen.step('list', () => run(side, 'reassignments', [...BOOTSTRAP, '--list']))
    await seen.step('generate', () =>
      withJson({ version: 1, topics: [{ topic: 'led' }] }, path =>
        run(side, 'reassignments', [
          ...BOOTSTRAP,
          '--topics-to-move-json-file',
          path,
          '--broker-list',
          '1',
          '--generate',
        ]),
      ),
    )
  },
}

const records: Scenario = {
  name: 'kafka-get-offsets, kafka-delete-records and kafka-log-dirs',
  async run(side, seen) {
    await side.createTopics({ name: 'cut', partitions: 2 })
    await side.write('cut', 10, { partition: 0 })
    const offsets = (...args: string[]) =>
      run(side, 'offsets', [...BOOTSTRAP, '--topic-partitions', 'cut:0-2', ...args])
    for (const time of ['latest', 'earliest', '0', '9999999999999', '-4', '-5'])
      await seen.step(`offsets of ${time}`, () => offsets('--time', time))
    await seen.step('offsets of a topic that is not there', () =>
      run(side, 'offsets', [...BOOTSTRAP, '--topic', 'nowhere']),
    )
    const cut = (offset: number) =>
      withJson({ version: 1, partitions: [{ topic: 'cut', partition: 0, offset }] }, path =>
        run(side, 'deleteRecords', [...BOOTSTRAP, '--offset-json-file', path]),
      )
    await seen.step('delete some', () => cut(4))
    await seen.step('delete more than there is', () => cut(99))
    await seen.step('delete all', () => cut(-1))
    await seen.step('earliest afterwards', () => offsets('--time', 'earliest'))
    await seen.step('directories', async () => {
      const text = await run(side, 'logDirs', ['--describe', ...BOOTSTRAP, '--topic-list', 'cut'])
      return text.replaceAll(/"size":\d+/g, '"size":N')
    })
  },
}

const others: Scenario = {
  name: 'kafka-client-metrics and kafka-broker-api-versions',
  async run(side, seen) {
    const tool = (...args: string[]) => run(side, 'clientMetrics', [...BOOTSTRAP, ...args])
    await seen.step('alter', () =>
      tool('--alter', '--name', 'tool-metrics', '--metrics', 'org.apache', '--interval', '500'),
    )
    await seen.settles(
      'describe',
      () => tool('--describe', '--name', 'tool-metrics'),
      text => text.includes('interval.ms=500'),
    )
    // A broker lists later than it describes.
    await seen.settles(
      'list',
      () => tool('--list'),
      text => text.includes('tool-metrics'),
    )
    await seen.step('delete', () => tool('--delete', '--name', 'tool-metrics'))
    // Which APIs are served at all is told in the documentation; here, that none is served in other versions.
    await seen.step('versions', async () => {
      const text = await run(side, 'versions', BOOTSTRAP)
      return text.split('\n').filter(line => /^(Produce|Fetch|Metadata|ElectLeaders|UpdateFeatures)\(/.test(line))
    })
  },
}

export const adminToolScenarios: readonly Scenario[] = [
  topics,
  configs,
  quotas,
  features,
  quorum,
  leaders,
  records,
  others,
]
