// Java Admin on the cluster as a whole: elections, reassignments, features, quorum; run by the suite of the Java clients.
import type { Scenario } from './scenario.ts'

const clusterItself: Scenario = {
  name: 'the cluster describes itself',
  async run(side, seen) {
    await seen.step('cluster', () => side.cluster('describe'))
    await seen.step('with operations', () => side.cluster('describe', { operations: true }))
    await seen.step('quorum', () => side.cluster('quorum'))
    await seen.step('features', () => side.cluster('features'))
    await side.createTopics({ name: 'placed', partitions: 2 })
    await seen.step('directories of no broker', () =>
      side.cluster('log-dirs', {
        brokers: [7],
        admin: { 'default.api.timeout.ms': '3000', 'request.timeout.ms': '2500' },
      }),
    )
    await seen.step('directories of replicas', () => side.cluster('replica-log-dirs', { partitions: ['placed-0'] }))
    await seen.step('tokens', () => side.cluster('tokens'))
    await seen.step('quotas', () => side.cluster('quotas'))
    await seen.step('telemetry', () => side.cluster('instance-id'))
    await seen.step('unregister nobody', () => side.cluster('unregister', { broker: 7 }))
  },
}

const elections: Scenario = {
  name: 'leaders are elected and partitions reassigned, as far as one node can',
  async run(side, seen) {
    await side.createTopics({ name: 'elected', partitions: 2 })
    for (const type of ['PREFERRED', 'UNCLEAN']) {
      await seen.step(`${type} where it leads`, () => side.cluster('elect', { type, partitions: ['elected-0'] }))
      await seen.step(`${type} of no partition`, () => side.cluster('elect', { type, partitions: ['elected-7'] }))
      await seen.step(`${type} everywhere`, () => side.cluster('elect', { type }))
    }
    const reassign = (partitions: Record<string, number[] | null>) => side.cluster('reassign', { partitions })
    await seen.step('reassign to the same', () => reassign({ 'elected-0': [1] }))
    await seen.step('reassign to nobody', () => reassign({ 'elected-0': [7] }))
    await seen.step('reassign to nothing', () => reassign({ 'elected-0': [] }))
    await seen.step('reassign to the same twice', () => reassign({ 'elected-0': [1, 1] }))
    await seen.step('reassign no partition', () => reassign({ 'elected-7': [1] }))
    await seen.step('cancel what is not under way', () => reassign({ 'elected-1': null }))
    await seen.step('reassignments', () => side.cluster('reassignments'))
  },
}

const features: Scenario = {
  name: 'features are updated within what is supported',
  async run(side, seen) {
    const update = (updates: Record<string, [number, string]>, options: object = {}) =>
      side.cluster('update-features', { updates, ...options })
    await seen.step('unknown feature', () => update({ 'no.such.feature': [1, 'UPGRADE'] }))
    await seen.step('too high', () => update({ 'group.version': [99, 'UPGRADE'] }))
    await seen.step('the same', () => update({ 'transaction.version': [2, 'UPGRADE'] }))
    await seen.step('lower, called an upgrade', () => update({ 'transaction.version': [1, 'UPGRADE'] }))
    await seen.step('validate a downgrade', () =>
      update({ 'transaction.version': [1, 'SAFE_DOWNGRADE'] }, { validateOnly: true }),
    )
    await seen.step('metadata.version too low', () => update({ 'metadata.version': [1, 'UNSAFE_DOWNGRADE'] }))
    await seen.step('afterwards', () => side.cluster('features'))
  },
}

const resources: Scenario = {
  name: 'resources with configs are listed',
  async run(side, seen) {
    const alter = (type: string, name: string, op: readonly string[]) => side.topics('alter', { type, name, ops: [op] })
    await seen.step('set a group config', () =>
      alter('group', 'resource-group', ['SET', 'consumer.session.timeout.ms', '50000']),
    )
    await seen.step('set an unknown group config', () =>
      alter('group', 'resource-group', ['SET', 'no.such.config', '1']),
    )
    await seen.step('set client metrics', () =>
      alter('client_metrics', 'resource-metrics', ['SET', 'interval.ms', '5000']),
    )
    const listed = (type: string, name: string) =>
      seen.settles(
        type,
        () => side.cluster('resources', { types: [type] }),
        found => JSON.stringify(found).includes(name),
      )
    await listed('GROUP', 'resource-group')
    await listed('CLIENT_METRICS', 'resource-metrics')
    await seen.step('brokers', () => side.cluster('resources', { types: ['BROKER'] }))
    await seen.step('configs of the group', () => side.topics('configs', { type: 'group', name: 'resource-group' }))
    await seen.step('configs of client metrics', () =>
      side.topics('configs', { type: 'client_metrics', name: 'resource-metrics' }),
    )
  },
}

export const clusterScenarios: readonly Scenario[] = [clusterItself, elections, features, resources]
