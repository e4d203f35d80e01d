/** What is checked before a link is created, and how each failure is told: by creation, its dry run and preflights alike. */
import { deepEqual, doesNotMatch, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { OperationalError } from '../core/errors.ts'
import { EngineWorld, linkRequest } from './fakes/engine-world.ts'
import type { SourceFailure } from './ports.ts'

async function started() {
  const world = new EngineWorld()
  await world.start()
  world.source.addTopic('orders', 1)
  const preflight = async (configs: Record<string, string> = {}, name = 'west') => {
    const results = await world.engine.preflightLink(linkRequest(name, configs))
    const found = (check: string) => results.find(row => row.name === check)
    return { results, found, state: (check: string) => found(check)?.state }
  }
  const create = (configs: Record<string, string> = {}) =>
    world.engine.createLink(linkRequest('west', configs), { validateOnly: false, validateLink: true })
  return { world, preflight, create }
}

const code = (expected: string) => (error: unknown) => (error as OperationalError).code === expected

test('a preflight lists every check by name, changes nothing and keeps no connection', async () => {
  const { world, preflight } = await started()
  const effects = world.process.effects.length
  const { results } = await preflight()
  deepEqual(
    results.map(({ name, state }) => `${name} ${state}`),
    [
      'PROPERTIES PASSED',
      'DNS PASSED',
      'TCP PASSED',
      'TLS SKIPPED',
      'LOGIN SKIPPED',
      'API_VERSIONS PASSED',
      'CLUSTER_ID PASSED',
      'ADVERTISED_LISTENERS PASSED',
      'DESCRIBE_TOPICS PASSED',
      'READ_TOPICS PASSED',
      'DESCRIBE_CONFIGS PASSED',
      'STATUS_TOPIC SKIPPED',
      'PEER_LINK SKIPPED',
      'GROUPS SKIPPED',
      'ACLS SKIPPED',
    ],
  )
  equal(world.process.effects.length, effects)
  equal(world.source.openConnections, 0)
  deepEqual(world.engine.listLinks(), [])
  await world.engine.stop()
})

test('each kind of failure is the failure of its check; what comes before passed, what comes after was not asked', async () => {
  const { world, preflight, create } = await started()
  const told: readonly (readonly [SourceFailure, string, string])[] = [
    ['dns', 'DNS', 'UNRESOLVABLE_BOOTSTRAP_ERROR'],
    ['tcp', 'TCP', 'BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR'],
    ['timeout', 'TCP', 'TIMEOUT_ERROR'],
    ['tls', 'TLS', 'TLS_ERROR'],
    ['login', 'LOGIN', 'AUTHENTICATION_ERROR'],
    ['secret', 'LOGIN', 'AUTHENTICATION_ERROR'],
    ['unsupported-version', 'API_VERSIONS', 'UNKNOWN'],
  ]
  for (const [failure, check, linkError] of told) {
    world.source.failure = { failure, message: `it is ${failure}` }
    const { results, found } = await preflight()
    equal(found(check)?.state, 'FAILED', failure)
    equal(found(check)?.message, `It is ${failure}.`)
    ok(found(check)?.hint)
    equal(results.filter(({ state }) => state === 'FAILED').length, 1)
    equal(found('DESCRIBE_TOPICS')?.state, 'SKIPPED')
    match(found('CLUSTER_ID')?.message ?? '', /earlier check failed/)
    if (check !== 'DNS') equal(found('DNS')?.state, 'PASSED')
    await rejects(create(), (error: OperationalError) => error.message.includes(`(${linkError}): it is ${failure}`))
  }
  deepEqual(world.engine.listLinks(), [])
  await world.engine.stop()
})

test('bad properties are the first check, and nobody is asked', async () => {
  const { world, preflight, create } = await started()
  const { found, results } = await preflight({ 'acl.sync.mss': '1' })
  equal(found('PROPERTIES')?.state, 'FAILED')
  match(found('PROPERTIES')?.message ?? '', /did you mean 'acl.sync.ms'/)
  equal(results.filter(({ state }) => state === 'SKIPPED').length, results.length - 1)
  equal(world.source.opened.length, 0)
  await create({ 'cluster.link.prefix': 'p.' })
  match((await preflight()).found('PROPERTIES')?.message ?? '', /already exists/)
  const taken = await preflight({ 'cluster.link.prefix': 'p.' }, 'east')
  match(taken.found('PROPERTIES')?.message ?? '', /prefix 'p\.' already exists/)
  const unused = await preflight({ 'local.security.protocol': 'SSL' }, 'east')
  equal(unused.state('PROPERTIES'), 'WARNING')
  await world.engine.stop()
})

test('the wrong cluster, and this cluster itself, are refused', async () => {
  const { world, preflight, create } = await started()
  const request = { ...linkRequest('west'), sourceClusterId: 'another' }
  const wrong = await world.engine.preflightLink(request)
  equal(wrong.find(({ name }) => name === 'CLUSTER_ID')?.state, 'FAILED')
  await rejects(
    world.engine.createLink(request, { validateOnly: true, validateLink: true }),
    code('LINK_REMOTE_ID_MISMATCH'),
  )
  world.source.clusterId = world.cluster.clusterId
  match((await preflight()).found('CLUSTER_ID')?.message ?? '', /is this cluster itself/)
  await rejects(create(), code('LINK_REMOTE_IS_SELF'))
  await world.engine.stop()
})

test('a source of which no broker can be reached, or that lacks what every link needs, is refused', async () => {
  const { world, preflight, create } = await started()
  world.source.unreachable = { failure: 'advertised-listener', message: 'broker 1 is at internal:9092' }
  const hidden = await preflight()
  equal(hidden.state('ADVERTISED_LISTENERS'), 'FAILED')
  equal(hidden.state('CLUSTER_ID'), 'PASSED')
  await rejects(create(), /INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR\): broker 1 is at internal:9092/)
  world.source.unreachable = undefined
  world.source.missingApis = ['OffsetForLeaderEpoch', 'DescribeAcls']
  const old = await preflight()
  equal(old.found('API_VERSIONS')?.message, 'The remote cluster lacks APIs that the link needs: OffsetForLeaderEpoch.')
  await rejects(create(), code('LINK_VALIDATION_FAILED'))
  await world.engine.stop()
})

test('rights that are missing are warnings with what to grant, and creation passes them on', async () => {
  const { world, preflight } = await started()
  world.source.unreadable.add('orders')
  world.source.unreadable.add('__lockstep_status')
  world.source.missingApis = ['DescribeAcls', 'ListGroups']
  const configs = {
    'acl.sync.enable': 'true',
    'acl.filters': JSON.stringify({ aclFilters: [{ resourceFilter: { resourceType: 'topic' } }] }),
    'consumer.offset.sync.enable': 'true',
  }
  const { found, state, results } = await preflight(configs)
  equal(state('DESCRIBE_TOPICS'), 'WARNING')
  match(found('DESCRIBE_TOPICS')?.hint ?? '', /Grant DESCRIBE and READ/)
  match(found('STATUS_TOPIC')?.message ?? '', /may not describe topic __lockstep_status/)
  match(found('GROUPS')?.message ?? '', /lacks ListGroups/)
  match(found('ACLS')?.message ?? '', /lacks DescribeAcls/)
  equal(results.filter(row => row.state === 'FAILED').length, 0)
  const { warnings } = await world.engine.createLink(linkRequest('west', configs), {
    validateOnly: true,
    validateLink: true,
  })
  equal(warnings.length, 4)
  await world.engine.stop()
})

test('the syncs that a link asks for are tried', async () => {
  const { world, preflight } = await started()
  world.source.groups.set('app', new Map())
  const acls = { 'acl.sync.enable': 'true', 'acl.filters': '' }
  const { state, found } = await preflight({ ...acls, 'consumer.offset.sync.enable': 'true' })
  equal(state('GROUPS'), 'PASSED')
  equal(found('ACLS')?.message, 'The link sees 0 ACL(s).')
  world.source.acls = { kind: 'security-disabled' }
  equal((await preflight(acls)).state('ACLS'), 'WARNING')
  await world.engine.stop()
})

test('no secret is in any message of a preflight', async () => {
  const { world, preflight } = await started()
  world.source.failure = { failure: 'login', message: 'the source says: invalid credentials' }
  const jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="geheim'
  for (const text of [jaas, `${jaas}";`]) {
    const { results } = await preflight({
      'security.protocol': 'SASL_PLAINTEXT',
      'sasl.mechanism': 'PLAIN',
      'sasl.jaas.config': text,
    })
    doesNotMatch(JSON.stringify(results), /geheim/)
  }
  await world.engine.stop()
})
