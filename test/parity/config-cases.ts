// DescribeConfigs, AlterConfigs, IncrementalAlterConfigs, DescribeLogDirs, FindCoordinator and ApiVersions as both nodes must answer them.
import { FindCoordinatorApi } from '../../src/protocol/messages/10-find-coordinator.ts'
import { ApiVersionsApi, type ApiVersionsRequestInput } from '../../src/protocol/messages/18-api-versions.ts'
import { DescribeConfigsApi } from '../../src/protocol/messages/32-describe-configs.ts'
import { AlterConfigsApi } from '../../src/protocol/messages/33-alter-configs.ts'
import {
  DescribeLogDirsApi,
  type DescribeLogDirsRequestInput,
} from '../../src/protocol/messages/35-describe-log-dirs.ts'
import { IncrementalAlterConfigsApi } from '../../src/protocol/messages/44-incremental-alter-configs.ts'
import { type ParityCase, parityCase, sortedBy } from './parity-case.ts'
import { isHeardOf } from './resource-config-cases.ts'

const [TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP] = [2, 4, 8, 16, 32]
const [SET, DELETE, APPEND, SUBTRACT] = [0, 1, 2, 3]

interface Resource {
  readonly type: number
  readonly name: string
}

function describeCase(what: string, { type, name }: Resource, options: { keys?: string[]; version?: number } = {}) {
  const { keys = null, version = 4 } = options
  return parityCase(what, DescribeConfigsApi, {
    version,
    request: {
      resources: [{ resourceType: type, resourceName: name, configurationKeys: keys }],
      includeSynonyms: true,
    },
    show: ({ results }) =>
      results.map(({ errorCode, configs }) => ({
        errorCode,
        configs: configs
          .map(config => {
            const synonyms = config.synonyms.map(synonym => `${synonym.name}:${synonym.value}:${synonym.source}`)
            const { value, configSource, readOnly, isSensitive, configType } = config
            return [config.name, value, configSource, readOnly, isSensitive, configType, ...synonyms].join('/')
          })
          .sort(),
      })),
  })
}

const topic = (name: string): Resource => ({ type: TOPIC, name })
const broker = (name: string): Resource => ({ type: BROKER, name })

const describeCases: ParityCase[] = [
  describeCase('topic', topic('p')),
  describeCase('topic with overrides', topic('times')),
  describeCase('some keys', topic('p'), { keys: ['retention.ms', 'foo'] }),
  describeCase('no keys', topic('p'), { keys: [] }),
  describeCase('version 1', topic('p'), { keys: ['retention.ms'], version: 1 }),
  describeCase('unknown topic', topic('nowhere')),
  describeCase('bad topic', topic('a b')),
  describeCase('another broker', broker('9')),
  describeCase('no broker', broker('x')),
  describeCase('all brokers', broker('')),
  describeCase('no logger', { type: LOGGER, name: '1x' }),
  describeCase('client metrics without name', { type: CLIENT_METRICS, name: '' }),
  describeCase('client metrics', { type: CLIENT_METRICS, name: 'm' }),
  describeCase('group without name', { type: GROUP, name: '' }),
  describeCase('group', { type: GROUP, name: 'g' }),
  describeCase('unknown type', { type: 99, name: 'q' }),
  parityCase('names of broker configs', DescribeConfigsApi, {
    request: { resources: [{ resourceType: BROKER, resourceName: '1', configurationKeys: null }] },
    show: ({ results }) =>
      results[0]?.configs
        .map(({ name, readOnly, isSensitive, configType }) => `${name}/${readOnly}/${isSensitive}/${configType}`)
        .sort(),
  }),
]

type Operation = readonly [key: string, operation: number, value: string | null]

function alterCase(what: string, resources: readonly (Resource & { ops: readonly Operation[] })[], done = false) {
  return parityCase(what, IncrementalAlterConfigsApi, {
    request: {
      resources: resources.map(({ type, name, ops }) => ({
        resourceType: type,
        resourceName: name,
        configs: ops.map(([key, configOperation, value]) => ({ name: key, configOperation, value })),
      })),
      validateOnly: !done,
    },
    show: ({ responses }) => sortedBy(responses, ({ resourceName, resourceType }) => `${resourceName}${resourceType}`),
  })
}

const one = (resource: Resource, ...ops: Operation[]) => [{ ...resource, ops }]
const configured = topic('configured')

const alterCases: ParityCase[] = [
  alterCase('nothing', []),
  alterCase('no operations', one(configured)),
  alterCase('set', one(configured, ['retention.ms', SET, '77'])),
  alterCase('a resource twice', [...one(configured, ['retention.ms', SET, '1']), ...one(configured)]),
  alterCase('a key twice', one(configured, ['retention.ms', SET, '1'], ['retention.ms', DELETE, null])),
  alterCase('without value', one(configured, ['retention.ms', SET, null])),
  alterCase('append to a number', one(configured, ['retention.ms', APPEND, '1'])),
  alterCase('append to an unknown key', one(configured, ['foo', APPEND, '1'])),
  alterCase('append to a list', one(configured, ['cleanup.policy', APPEND, 'compact'])),
  alterCase('append something wrong', one(configured, ['cleanup.policy', APPEND, 'shred'])),
  alterCase('subtract from a list', one(configured, ['cleanup.policy', SUBTRACT, 'delete'])),
  alterCase('set a bad value', one(configured, ['retention.ms', SET, 'abc'])),
  alterCase('set an unknown key', one(configured, ['foo', SET, '1'])),
  alterCase('delete an unknown key', one(configured, ['foo', DELETE, null])),
  alterCase('delete what is not set', one(configured, ['segment.bytes', DELETE, null])),
  alterCase('unknown operation', one(configured, ['retention.ms', 9, '1'])),
  alterCase(
    'lags that contradict',
    one(configured, ['min.compaction.lag.ms', SET, '9'], ['max.compaction.lag.ms', SET, '3']),
  ),
  alterCase('unknown topic', one(topic('nowhere'), ['retention.ms', SET, '1'])),
  alterCase('bad topic', one(topic('a b'), ['retention.ms', SET, '1'])),
  alterCase('no topic', one(topic(''), ['retention.ms', SET, '1'])),
  alterCase('unknown type', one({ type: 99, name: 'q' }, ['a', SET, '1'])),
  alterCase('no type', one({ type: 0, name: 'q' }, ['a', SET, '1'])),
  alterCase('another broker', one(broker('9'), ['log.retention.ms', SET, '1'])),
  alterCase('no broker', one(broker('x'), ['log.retention.ms', SET, '1'])),
  alterCase('this broker', one(broker('1'), ['log.cleaner.threads', SET, '1'])),
  alterCase('all brokers', one(broker(''), ['log.retention.ms', SET, '900000'])),
  alterCase('all brokers, read-only key', one(broker(''), ['broker.id', SET, '4'])),
  alterCase('all brokers, a key per broker', one(broker(''), ['listeners', SET, 'A://:1'])),
  alterCase('all brokers, bad value', one(broker(''), ['log.retention.ms', SET, 'abc'])),
  alterCase('all brokers, unknown key', one(broker(''), ['foo.bar', SET, '4'])),
  alterCase('this broker, min.insync.replicas', one(broker('1'), ['min.insync.replicas', SET, '1'])),
  alterCase('all brokers, min.insync.replicas removed', one(broker(''), ['min.insync.replicas', DELETE, null])),
  alterCase('logger', one({ type: LOGGER, name: '1' }, ['kafka', SET, 'WARN'])),
  alterCase('client metrics', one({ type: CLIENT_METRICS, name: 'm' }, ['interval.ms', SET, '1000'])),
  alterCase('group', one({ type: GROUP, name: 'g' }, ['consumer.session.timeout.ms', SET, '50000'])),
  alterCase('done', one(configured, ['retention.ms', SET, '77'], ['cleanup.policy', APPEND, 'compact']), true),
  isHeardOf([TOPIC, 'configured'], { 'retention.ms': '77', 'cleanup.policy': 'delete,compact' }),
  describeCase('as altered', configured),
]

type Replacement = readonly [key: string, value: string | null]

function replaceCase(
  what: string,
  configs: readonly Replacement[],
  options: { resource?: Resource; done?: true } = {},
): ParityCase {
  const { resource: { type, name } = configured, done = false } = options
  return parityCase(what, AlterConfigsApi, {
    request: {
      resources: [
        { resourceType: type, resourceName: name, configs: configs.map(([key, value]) => ({ name: key, value })) },
      ],
      validateOnly: !done,
    },
  })
}

const replaceCases: ParityCase[] = [
  replaceCase('one', [['retention.ms', '7']]),
  replaceCase('without value', [['retention.ms', null]]),
  replaceCase('a key twice', [
    ['retention.ms', '7'],
    ['retention.ms', '8'],
  ]),
  replaceCase('bad value', [['retention.ms', 'abc']]),
  replaceCase('unknown key', [['foo', '1']]),
  replaceCase('unknown topic', [['retention.ms', '7']], { resource: topic('nowhere') }),
  replaceCase('unknown type', [['retention.ms', '7']], { resource: { type: 99, name: 'q' } }),
  replaceCase('another broker', [], { resource: broker('9') }),
  replaceCase('done', [['segment.bytes', '1048576']], { done: true }),
  isHeardOf([TOPIC, 'configured'], { 'segment.bytes': '1048576', 'retention.ms': null, 'cleanup.policy': null }),
  describeCase('as replaced', configured),
]

const directoryCase = (what: string, topics: DescribeLogDirsRequestInput['topics'], version = 5): ParityCase =>
  parityCase(what, DescribeLogDirsApi, {
    version,
    request: { topics },
    show: ({ errorCode, results }) => ({
      errorCode,
      results: results.map(result => ({
        ...result,
        totalBytes: result.totalBytes > 0n,
        usableBytes: result.usableBytes > 0n,
        topics: sortedBy(result.topics, ({ name }) => name).map(({ name, partitions }) => ({
          name,
          // Epochs and versions of Produce make the sizes of batches equal, so even these agree.
          partitions: sortedBy(partitions, ({ partitionIndex }) => String(partitionIndex)),
        })),
      })),
    }),
  })

const directoryCases: ParityCase[] = [
  directoryCase('some', [{ topic: 'p', partitions: [0, 1, 9] }]),
  directoryCase('unknown topic', [{ topic: 'nowhere', partitions: [0] }]),
  directoryCase('none', []),
  ...[1, 3, 4].map(version => directoryCase(`version ${version}`, [{ topic: 'idempotent', partitions: [0] }], version)),
]

const versionsCase = (what: string, version: number, request: ApiVersionsRequestInput = {}): ParityCase =>
  parityCase(what, ApiVersionsApi, {
    version,
    request,
    show: ({ errorCode, supportedFeatures, finalizedFeatures }) => ({
      errorCode,
      supported: sortedBy(supportedFeatures, ({ name }) => name),
      finalized: sortedBy(finalizedFeatures, ({ name }) => name),
    }),
  })

const client = { clientSoftwareName: 'a', clientSoftwareVersion: '1' }
/** Served by both. */
const compared: ReadonlySet<number> = new Set([
  0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34,
  35, 36, 37, 42, 43, 44, 45, 46, 47, 48, 50, 51, 55, 57, 60, 61, 64, 65, 66, 74, 75, 80, 81,
])

const otherCases: ParityCase[] = [
  ...[0, 1, 2].map(version => versionsCase(`version ${version}`, version)),
  ...[3, 4].map(version => versionsCase(`version ${version}`, version, client)),
  versionsCase('bad software name', 3, { clientSoftwareName: '-a', clientSoftwareVersion: '' }),
  parityCase('ranges', ApiVersionsApi, {
    request: client,
    show: ({ apiKeys }) => apiKeys.filter(({ apiKey }) => compared.has(apiKey)),
  }),
  parityCase('unknown type', FindCoordinatorApi, { request: { keyType: 9, coordinatorKeys: ['a'] } }),
  parityCase('share group in version 5', FindCoordinatorApi, {
    version: 5,
    request: { keyType: 2, coordinatorKeys: ['a'] },
  }),
]

export const configCases: readonly ParityCase[] = [
  ...describeCases,
  ...alterCases,
  ...replaceCases,
  ...directoryCases,
  ...otherCases,
]
