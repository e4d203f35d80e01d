// Configs of groups, client metrics subscriptions, loggers and brokers, altered and described, as both nodes must answer.
import { ErrorCode } from '../../src/protocol/errors.ts'
import { DescribeConfigsApi } from '../../src/protocol/messages/32-describe-configs.ts'
import { AlterConfigsApi } from '../../src/protocol/messages/33-alter-configs.ts'
import { IncrementalAlterConfigsApi } from '../../src/protocol/messages/44-incremental-alter-configs.ts'
import { ListConfigResourcesApi } from '../../src/protocol/messages/74-list-config-resources.ts'
import { eventually } from '../eventually.ts'
import { type ParityCase, parityCase, sortedBy } from './parity-case.ts'
import { ask, type Peer } from './raw-exchange.ts'

const [TOPIC, BROKER, LOGGER, METRICS, GROUP] = [2, 4, 8, 16, 32]
const [SET, DELETE, APPEND, SUBTRACT] = [0, 1, 2, 3]

type Place = readonly [type: number, name: string]
type Operation = readonly [key: string, operation: number, value: string | null]

const requestOf = ([resourceType, resourceName]: Place, ops: readonly Operation[], validateOnly: boolean) => ({
  resources: [
    {
      resourceType,
      resourceName,
      configs: ops.map(([name, configOperation, value]) => ({ name, configOperation, value })),
    },
  ],
  validateOnly,
})

/** Only validated. */
const alterCase = (place: Place, ...ops: Operation[]): ParityCase =>
  parityCase(`of ${place.join(' ')}: ${JSON.stringify(ops)}`, IncrementalAlterConfigsApi, {
    request: requestOf(place, ops, true),
  })

/** `key=value` each. */
const setCases = (place: Place, ...texts: string[]): ParityCase[] =>
  texts.map(text => {
    const at = text.indexOf('=')
    return alterCase(place, [text.slice(0, at), SET, text.slice(at + 1)])
  })

const group: Place = [GROUP, 'g']
const metrics: Place = [METRICS, 'm']
const logger: Place = [LOGGER, '1']
const broker: Place = [BROKER, '1']
const brokers: Place = [BROKER, '']

const groupCases: ParityCase[] = [
  ...['consumer', 'share', 'streams'].flatMap(kind =>
    setCases(
      group,
      ...['50000', '44999', '60001', 'abc'].map(value => `${kind}.session.timeout.ms=${value}`),
      ...['6000', '4999', '15001', '-1'].map(value => `${kind}.heartbeat.interval.ms=${value}`),
      ...['7', '15001', '-1'].map(value => `${kind}.assignment.interval.ms=${value}`),
    ),
  ),
  ...setCases(
    group,
    ...['1', '2', '10', '11'].map(value => `share.delivery.count.limit=${value}`),
    ...['999', '14999', '15000', '60000', '60001'].map(value => `share.record.lock.duration.ms=${value}`),
    ...['99', '100', '4000', '4001'].map(value => `share.partition.max.record.locks=${value}`),
    ...[
      'none',
      'latest',
      'EARLIEST',
      'by_duration:PT1H',
      'by_duration:P1DT2.5S',
      'by_duration:-PT1H',
      'by_duration:P',
    ].map(value => `share.auto.offset.reset=${value}`),
    ...['read_committed', 'READ_COMMITTED', 'x'].map(value => `share.isolation.level=${value}`),
    ...['false', 'x'].map(value => `share.renew.acknowledge.enable=${value}`),
    ...['2', '3', '-1'].map(value => `streams.num.standby.replicas=${value}`),
    ...['99999999', '-1'].map(value => `streams.initial.rebalance.delay.ms=${value}`),
    'foo=1',
  ),
  alterCase(group, ['consumer.session.timeout.ms', DELETE, null]),
  alterCase(group, ['foo', DELETE, null]),
  alterCase(group, ['consumer.session.timeout.ms', APPEND, '1']),
  alterCase(group, ['consumer.session.timeout.ms', SET, '45000'], ['consumer.heartbeat.interval.ms', SET, '15000']),
  alterCase([GROUP, ''], ['consumer.session.timeout.ms', SET, '50000']),
]

const metricsCases: ParityCase[] = [
  ...setCases(
    metrics,
    ...['1000', '99', '3600001', 'abc', '0'].map(value => `interval.ms=${value}`),
    ...['a,b', '', '*'].map(value => `metrics=${value}`),
    ...[
      'client_id=a',
      'client_id=[',
      'foo=b',
      'client_id',
      'client_software_name=a.*,client_source_port=3',
      'a=b=c',
    ].map(value => `match=${value}`),
    'foo=1',
  ),
  alterCase(metrics, ['metrics', APPEND, 'x']),
  alterCase(metrics, ['metrics', SUBTRACT, 'x']),
  alterCase(metrics, ['interval.ms', DELETE, null]),
  alterCase([METRICS, ''], ['interval.ms', SET, '1000']),
]

const loggerCases: ParityCase[] = [
  ...setCases(logger, ...['WARN', 'warn', 'foo', 'TRACE', 'FATAL'].map(level => `root=${level}`), 'foo=INFO'),
  alterCase(logger, ['root', DELETE, null]),
  alterCase(logger, ['foo', DELETE, null]),
  alterCase(logger, ['root', APPEND, 'x']),
  alterCase(logger, ['root', SET, null]),
  alterCase([LOGGER, '2'], ['root', SET, 'WARN']),
  alterCase([LOGGER, 'x'], ['root', SET, 'WARN']),
  alterCase([LOGGER, ''], ['root', SET, 'WARN']),
]

const brokerCases: ParityCase[] = [
  ...[broker, brokers].flatMap(place =>
    setCases(
      place,
      ...['1', '0', '-1', '-2'].map(value => `log.retention.ms=${value}`),
      ...['1', '0'].map(value => `log.roll.ms=${value}`),
      ...['10', '-1'].map(value => `max.connections=${value}`),
      ...['1', '0'].map(value => `max.connections.per.ip=${value}`),
      ...['127.0.0.1:5', '127.0.0.1:5,::1:6', 'foo', '127.0.0.1:abc', ''].map(
        value => `max.connections.per.ip.overrides=${value}`,
      ),
      ...['1', '3', '6', '7'].map(value => `num.network.threads=${value}`),
      ...['3', '4', '16', '17'].map(value => `num.io.threads=${value}`),
      ...['2', '3'].map(value => `log.cleaner.threads=${value}`),
      ...['20', '21'].map(value => `background.threads=${value}`),
      ...['1', '-1'].map(value => `message.max.bytes=${value}`),
      ...['1048576', '1'].map(value => `log.segment.bytes=${value}`),
      ...['1', '0'].map(value => `max.connection.creation.rate=${value}`),
      ...['999999999999', '1000'].map(value => `log.local.retention.ms=${value}`),
      'unclean.leader.election.enable=x',
      'auto.create.topics.enable=true',
      'advertised.listeners=PLAINTEXT://:1',
      'compression.type=lz5',
      'foo=1',
    ),
  ),
  alterCase(broker, ['log.cleanup.policy', APPEND, 'compact']),
  alterCase(broker, ['log.cleanup.policy', SUBTRACT, 'delete']),
  alterCase(broker, ['max.connections.per.ip', SET, '0'], ['max.connections.per.ip.overrides', SET, '127.0.0.1:5']),
]

/** As a broker of Kafka hears of it after the answer. */
const altered = (place: Place, ...ops: Operation[]): ParityCase => ({
  name: `configs of ${place.join(' ')} are altered: ${JSON.stringify(ops)}`,
  async ask(peer) {
    const request = requestOf(place, ops, false)
    const answer = await ask(peer, { api: IncrementalAlterConfigsApi, request, version: 1 })
    if (typeof answer === 'string' || answer.responses.some(({ errorCode }) => errorCode !== ErrorCode.NONE))
      return JSON.stringify(answer)
    for (const [key, , value] of ops) await eventually(() => isSet(peer, place, { key, value }))
    return 'altered'
  },
})

/** A step between two cases: a broker of Kafka hears of what was altered after the answer. */
export const isHeardOf = (place: Place, configs: Readonly<Record<string, string | null>>): ParityCase => ({
  name: `configs of ${place.join(' ')} are ${JSON.stringify(configs)}`,
  async ask(peer) {
    for (const [key, value] of Object.entries(configs)) await eventually(() => isSet(peer, place, { key, value }))
    return 'heard of'
  },
})

/** A step between two cases: a broker of Kafka lists later than it describes. */
const isListed: ParityCase = {
  name: 'group g and client metrics m are listed',
  ask: peer =>
    eventually(async () => {
      const request = { resourceTypes: [METRICS, GROUP] }
      const answer = await ask(peer, { api: ListConfigResourcesApi, request, version: 1 })
      const names = typeof answer === 'string' ? [] : answer.configResources.map(({ resourceName }) => resourceName)
      if (!names.includes('g') || !names.includes('m')) throw new Error(`${peer.name} lists ${names}`)
      return 'listed'
    }),
}

async function isSet(peer: Peer, [resourceType, resourceName]: Place, wanted: { key: string; value: string | null }) {
  const resources = [{ resourceType, resourceName, configurationKeys: [wanted.key] }]
  const answer = await ask(peer, { api: DescribeConfigsApi, request: { resources }, version: 4 })
  const [config] = typeof answer === 'string' ? [] : (answer.results[0]?.configs ?? [])
  // Sources above 4 are defaults, but for those of groups and client metrics.
  const found = config && [1, 2, 3, 6, 7, 8].includes(config.configSource) ? config.value : null
  if (found !== wanted.value) throw new Error(`${peer.name}: ${wanted.key} is ${found}`)
}

/** The two nodes of the suite have other values for these, or are told them by other files. */
const OF_ONE_NODE =
  /^(log\.dirs?|listeners|advertised\.listeners|controller\.(quorum\.voters|listener\.names)|inter\.broker\.listener\.name|listener\.security\.protocol\.map|queued\.max\.request\.bytes|(offsets\.topic|transaction\.state\.log|share\.coordinator\.state\.topic)\..+|group\.initial\.rebalance\.delay\.ms|auto\.create\.topics\.enable)$/

function describeCase([resourceType, resourceName]: Place, keys: readonly string[] | null, when = ''): ParityCase {
  return parityCase(`of ${resourceType} ${resourceName}: ${keys}${when}`, DescribeConfigsApi, {
    request: {
      resources: [{ resourceType, resourceName, configurationKeys: keys && [...keys] }],
      includeSynonyms: true,
    },
    show: ({ results }) =>
      results.map(({ errorCode, configs }) => ({
        errorCode,
        configs: configs
          .filter(({ name }) => resourceType !== BROKER || !OF_ONE_NODE.test(name))
          .map(({ name, value, configSource, readOnly, isSensitive, configType, synonyms }) => {
            const told = synonyms.map(synonym => `${synonym.name}:${synonym.value}:${synonym.source}`)
            return [name, value, configSource, readOnly, isSensitive, configType, ...told].join('/')
          })
          .sort(),
      })),
  })
}

const retention = ['log.retention.ms', 'log.retention.minutes', 'log.retention.hours']
const rolling = [
  'log.roll.ms',
  'log.roll.hours',
  'log.roll.jitter.ms',
  'log.roll.jitter.hours',
  'log.flush.interval.ms',
]
const consumer = ['consumer.session.timeout.ms', 'consumer.assignment.interval.ms', 'share.auto.offset.reset', 'foo']

const describedCases: ParityCase[] = [
  describeCase(broker, [...retention, ...rolling]),
  describeCase(broker, null),
  describeCase(group, null),
  describeCase(metrics, ['match', 'foo', 'match']),
  describeCase([LOGGER, '1'], ['foo']),
  describeCase([LOGGER, '2'], null),
  describeCase([LOGGER, ''], null),
  altered(brokers, ['log.retention.ms', SET, '900000'], ['group.consumer.assignment.interval.ms', SET, '2000']),
  altered(broker, ['log.retention.ms', SET, '800000']),
  altered(group, ['consumer.session.timeout.ms', SET, '50000']),
  altered(metrics, ['interval.ms', SET, '1000'], ['metrics', SET, 'a,b']),
  describeCase(broker, [...retention, 'group.consumer.assignment.interval.ms'], ', altered'),
  describeCase(brokers, null, ', altered'),
  describeCase(group, consumer, ', altered'),
  describeCase(metrics, null, ', altered'),
  describeCase([TOPIC, 'p'], ['retention.ms', 'segment.ms', 'flush.ms'], ', altered'),
  isListed,
  parityCase('of groups and client metrics', ListConfigResourcesApi, {
    request: { resourceTypes: [METRICS, GROUP] },
    show: ({ errorCode, configResources }) => ({
      errorCode,
      resources: sortedBy(configResources, ({ resourceName }) => resourceName),
    }),
  }),
  parityCase('version 0 with one', ListConfigResourcesApi, { version: 0, request: {} }),
  altered(brokers, ['log.retention.ms', DELETE, null], ['group.consumer.assignment.interval.ms', DELETE, null]),
  altered(broker, ['log.retention.ms', DELETE, null]),
  altered(group, ['consumer.session.timeout.ms', DELETE, null]),
  altered(metrics, ['interval.ms', DELETE, null], ['metrics', DELETE, null]),
  describeCase(broker, retention, ', as before'),
]

const replaceCase = ([resourceType, resourceName]: Place, name: string, value: string): ParityCase =>
  parityCase(`of ${resourceType} ${resourceName}: ${name}`, AlterConfigsApi, {
    request: {
      resources: [{ resourceType, resourceName, configs: [{ name, value }] }],
      validateOnly: true,
    },
  })

export const resourceConfigCases: readonly ParityCase[] = [
  ...groupCases,
  ...metricsCases,
  ...loggerCases,
  ...brokerCases,
  ...describedCases,
  replaceCase(logger, 'root', 'WARN'),
  replaceCase(metrics, 'interval.ms', '1000'),
  replaceCase(group, 'consumer.session.timeout.ms', '50000'),
  replaceCase(broker, 'log.retention.ms', '1000'),
  replaceCase(brokers, 'log.retention.ms', '1000'),
]
