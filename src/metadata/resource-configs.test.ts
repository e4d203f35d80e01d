/** Configs of groups and client metrics, and the fit of altered server properties; values and codes were read from a real Kafka 4.3.1 node. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { brokerConfig, brokerConfigs } from './broker-configs.ts'
import { brokerOverridesProblem } from './broker-override-checks.ts'
import { clientMetricsProblem } from './client-metrics-configs.ts'
import { describeGroupConfigs } from './config-resolution.ts'
import { groupConfigs, groupOverridesProblem } from './group-configs.ts'

const server = (name: string): string => brokerConfig(name)?.property.default ?? ''

test('every server property behind a group config exists, with the same default', () => {
  for (const { server: behind, least, most, property } of groupConfigs.values()) {
    for (const name of [behind, least, most]) ok(name === undefined || brokerConfigs.has(name), name)
    if (behind !== undefined) strictEqual(brokerConfig(behind)?.property.default, property.default)
  }
})

test('group configs are bounded by properties of the server', () => {
  const problem = (name: string, value: string) => groupOverridesProblem(new Map([[name, value]]), server)
  strictEqual(problem('consumer.session.timeout.ms', '60000'), undefined)
  ok(problem('consumer.session.timeout.ms', '60001')?.includes('group.consumer.max.session.timeout.ms'))
  ok(problem('share.partition.max.record.locks', '4001')?.includes('group.share.max.partition.max.record.locks'))
  ok(problem('streams.num.standby.replicas', '3')?.includes('group.streams.max.standby.replicas'))
  const wide = (name: string) => (name.includes('max') ? '900000' : name.includes('min') ? '1' : server(name))
  const silent = new Map([
    ['consumer.session.timeout.ms', '5000'],
    ['consumer.heartbeat.interval.ms', '5000'],
  ])
  strictEqual(
    groupOverridesProblem(silent, wide),
    'consumer.session.timeout.ms must be greater than consumer.heartbeat.interval.ms',
  )
})

test('a group without a value of its own follows the broker', () => {
  const layers = {
    broker: new Map(),
    defaultBroker: new Map([['group.consumer.session.timeout.ms', '50000']]),
    file: new Map(),
  }
  const [told] = describeGroupConfigs(new Map(), layers, ['consumer.session.timeout.ms', 'nonsense'])
  deepStrictEqual([told?.value, told?.source], ['50000', 3])
  const own = new Map([['consumer.session.timeout.ms', '46000']])
  deepStrictEqual(
    describeGroupConfigs(own, layers, ['consumer.session.timeout.ms'])[0]?.synonyms.map(({ value, source }) => [
      value,
      source,
    ]),
    [
      ['46000', 8],
      ['50000', 3],
      ['45000', 5],
    ],
  )
})

test('client metrics subscriptions name attributes of clients', () => {
  const error = (name: string, value: string) => clientMetricsProblem(new Map([[name, value]]))?.error
  strictEqual(error('match', 'client_id=a.*, client_source_port=3'), undefined)
  deepStrictEqual([error('match', 'colour=red'), error('match', 'client_id=[')], ['INVALID_CONFIG', 'INVALID_CONFIG'])
  deepStrictEqual([error('interval.ms', '99'), error('foo', '1')], ['INVALID_REQUEST', 'INVALID_REQUEST'])
})

test('thread counts move by a factor of two at most, and addresses have limits that let somebody in', () => {
  const problem = (name: string, value: string | null) =>
    brokerOverridesProblem({ changed: new Map([[name, value]]), server })
  deepStrictEqual(
    ['4', '16'].map(value => problem('num.io.threads', value)),
    [undefined, undefined],
  )
  for (const value of ['3', '17']) ok(problem('num.io.threads', value))
  ok(problem('max.connections.per.ip', '0'))
  strictEqual(problem('max.connections.per.ip.overrides', '127.0.0.1:5, ::1:6'), undefined)
  ok(problem('max.connections.per.ip.overrides', 'localhost'))
  ok(problem('listeners', 'PLAINTEXT://:1'))
  strictEqual(problem('listeners', null), undefined)
})
