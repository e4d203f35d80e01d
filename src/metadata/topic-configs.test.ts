/** Tests of the config tables and of effective values; the expected answers were read from a real Kafka 4.3.1 node. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brokerConfig, brokerConfigs, judgeProperty } from './broker-configs.ts'
import {
  type ConfigLayers,
  ConfigSource,
  describeBrokerConfigs,
  describeDefaultBrokerConfigs,
  describeTopicConfigs,
} from './config-resolution.ts'
import { brokerOverrideProblem, topicOverridesProblem } from './config-validation.ts'
import { topicConfigs } from './topic-configs.ts'
import { topicSettings } from './topic-settings.ts'

const layers = (texts: {
  topic?: Record<string, string>
  broker?: Record<string, string>
  defaultBroker?: Record<string, string>
  file?: Record<string, string>
}): ConfigLayers => ({
  topic: new Map(Object.entries(texts.topic ?? {})),
  broker: new Map(Object.entries(texts.broker ?? {})),
  defaultBroker: new Map(Object.entries(texts.defaultBroker ?? {})),
  file: new Map(Object.entries(texts.file ?? {})),
})

test('a topic has the 33 documented configs of Kafka 4.3.1, each server synonym is a known server property', () => {
  assert.equal(describeTopicConfigs(layers({}), null).length, 33)
  for (const config of topicConfigs.values())
    for (const synonym of config.synonyms) assert.ok(brokerConfig(synonym.name), synonym.name)
})

test('defaults of topic configs equal the defaults of their server properties', () => {
  for (const config of topicConfigs.values()) {
    const server = config.synonyms.find(synonym => brokerConfig(synonym.name)?.property.default !== undefined)
    if (!server) continue
    const text = brokerConfig(server.name)?.property.default ?? ''
    const value = config.property.type === 'long' ? String(Number(text) * server.scale) : text
    assert.equal(Number(value) || value, Number(config.property.default) || config.property.default, config.name)
  }
})

test('all 360 server properties of Kafka and 3 dynamic ones are known, and every default passes its own row', () => {
  assert.equal(brokerConfigs.size, 365)
  for (const { name, property, row } of brokerConfigs.values())
    if (property.default !== undefined && row.default === undefined) assert.fail(`${name} refuses its default`)
})

test('an override wins over the broker, the cluster, the file and the default, and all are told as synonyms', () => {
  const all = layers({
    topic: { 'retention.ms': '1' },
    broker: { 'log.retention.ms': '6000' },
    defaultBroker: { 'log.retention.ms': '5000' },
    file: { 'log.retention.hours': '2', 'log.retention.minutes': '3' },
  })
  const [described] = describeTopicConfigs(all, ['retention.ms'])
  assert.deepEqual(
    described?.synonyms.map(({ name, value, source }) => [name, value, source]),
    [
      ['retention.ms', '1', ConfigSource.DYNAMIC_TOPIC],
      ['log.retention.ms', '6000', ConfigSource.DYNAMIC_BROKER],
      ['log.retention.ms', '5000', ConfigSource.DYNAMIC_DEFAULT_BROKER],
      ['log.retention.minutes', '3', ConfigSource.STATIC_BROKER],
      ['log.retention.hours', '2', ConfigSource.STATIC_BROKER],
      ['log.retention.hours', '168', ConfigSource.DEFAULT],
    ],
  )
  assert.equal(described?.value, '1')
  assert.equal(described?.source, ConfigSource.DYNAMIC_TOPIC)
})

test('server values in minutes and hours become milliseconds, and -1 stays without bound', () => {
  assert.equal(topicSettings(layers({ file: { 'log.retention.minutes': '3' } })).retentionMs, 180_000)
  assert.equal(topicSettings(layers({ file: { 'log.roll.hours': '2' } })).segmentMs, 7_200_000)
  assert.equal(topicSettings(layers({ file: { 'log.retention.hours': '-1' } })).retentionMs, -1)
})

test('the settings of a topic without overrides are the defaults of Kafka', () => {
  const settings = topicSettings(layers({}))
  assert.equal(settings.retentionMs, 604_800_000)
  assert.equal(settings.segmentBytes, 1_073_741_824)
  assert.equal(settings.maxMessageBytes, 1_048_588)
  assert.equal(settings.flushMs, Number.MAX_SAFE_INTEGER)
  assert.equal(settings.producerIdExpirationMs, 86_400_000)
  assert.deepEqual([settings.deletes, settings.compacts], [true, false])
  assert.deepEqual([settings.compressionType, settings.timestampType], ['producer', 'CreateTime'])
})

test('internal.segment.bytes, as tests set it, allows segments below the documented minimum', () => {
  assert.equal(topicSettings(layers({ topic: { 'internal.segment.bytes': '1000' } })).segmentBytes, 1000)
})

test('topic configs are refused where Kafka refuses them', () => {
  const refused = (configs: Record<string, string>) => topicOverridesProblem(new Map(Object.entries(configs)))
  assert.match(refused({ 'retention.mz': '1' }) ?? '', /^Unknown topic config name: retention.mz .*retention.ms/)
  assert.match(refused({ 'retention.ms': 'x' }) ?? '', /^Invalid value x for configuration retention.ms: /)
  const wrong: Record<string, string> = {
    'retention.ms': '-5',
    'cleanup.policy': 'foo',
    'compression.type': 'gz',
    'min.cleanable.dirty.ratio': '2',
    preallocate: 'yes',
    'segment.bytes': '10',
    'compression.gzip.level': '0',
    'follower.replication.throttled.replicas': 'x',
    'remote.storage.enable': 'true',
    'delete.retention.ms': '99999999999999999999',
    'message.timestamp.type': 'createtime',
    'max.message.bytes': '1.5',
  }
  for (const [name, value] of Object.entries(wrong)) assert.ok(refused({ [name]: value }), name)
  assert.ok(refused({ 'min.compaction.lag.ms': '10', 'max.compaction.lag.ms': '5' }))
  const fine: Record<string, string> = {
    'cleanup.policy': 'compact,compact',
    'retention.ms': ' 100 ',
    'leader.replication.throttled.replicas': '0:1,1:1',
    'local.retention.ms': '5000000000',
    'compression.gzip.level': '-1',
    'flush.ms': '9223372036854775807',
  }
  for (const [name, value] of Object.entries(fine)) assert.equal(refused({ [name]: value }), undefined, name)
})

test('server properties can be altered at run time only where Kafka allows it', () => {
  assert.equal(brokerOverrideProblem('log.retention.ms', '5', 'cluster'), undefined)
  assert.equal(brokerOverrideProblem('some.plugin.key', 'x', 'cluster'), undefined)
  assert.match(brokerOverrideProblem('num.partitions', '3', 'broker') ?? '', /Cannot update these configs dynamically/)
  assert.match(brokerOverrideProblem('listeners', 'x', 'cluster') ?? '', /broker id must be specified/)
  assert.match(brokerOverrideProblem('log.retention.ms', 'abc', 'broker') ?? '', /^Invalid value abc/)
})

test('names in a properties file are applied, accepted, or unknown with the nearest name', () => {
  assert.deepEqual(judgeProperty('log.retention.hours'), { kind: 'applied' })
  assert.deepEqual(judgeProperty('num.io.threads'), { kind: 'accepted' })
  assert.deepEqual(judgeProperty('listener.name.internal.ssl.secure.random.implementation'), { kind: 'accepted' })
  assert.deepEqual(judgeProperty('listener.name.sasl.plain.sasl.jaas.config'), { kind: 'applied' })
  assert.deepEqual(judgeProperty('log.retention.hour'), { kind: 'unknown', nearest: 'log.retention.hours' })
  assert.deepEqual(judgeProperty('rest.listener', ['rest.listeners']), { kind: 'unknown', nearest: 'rest.listeners' })
})

test('secrets and unknown properties of a broker are told without their value', () => {
  const described = describeBrokerConfigs(
    layers({ file: { 'ssl.keystore.password': 'hush', 'log.dirs': '/data' }, broker: { 'my.plugin': 'hush' } }),
    null,
  )
  const find = (name: string) => described.find(config => config.name === name)
  assert.equal(JSON.stringify(described).includes('hush'), false)
  assert.deepEqual([find('ssl.keystore.password')?.sensitive, find('my.plugin')?.sensitive], [true, true])
  assert.deepEqual([find('log.dirs')?.value, find('log.dirs')?.readOnly], ['/data', true])
  assert.equal(find('log.dirs')?.source, ConfigSource.STATIC_BROKER)
  assert.equal(find('internal.metadata.delete.delay.millis'), undefined)
  const defaults = describeDefaultBrokerConfigs(layers({ defaultBroker: { 'log.retention.ms': '5' } }), null)
  assert.deepEqual(defaults[0]?.synonyms, [
    { name: 'log.retention.ms', value: '5', source: ConfigSource.DYNAMIC_DEFAULT_BROKER },
  ])
})
