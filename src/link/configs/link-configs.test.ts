/** Link properties: every documented key has a row, bad ones are refused with what is allowed, nothing is ignored. */
import { deepEqual, equal, match, throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { OperationalError } from '../../core/errors.ts'
import { type SecretBox, sealedText } from '../secret-box.ts'
import { parseStartOffsetSpec } from './config-values.ts'
import { connectionSettings } from './connection-settings.ts'
import { linkConfigKeys, linkConfigRows } from './link-config-rows.ts'
import { LinkConfigs, parseLinkConfigs } from './link-configs.ts'
import { copiedTopicConfigs, isNeverMirrored, logStartFollowsSource, topicNameProblem } from './topic-rules.ts'

const parse = (configs: Record<string, string>) =>
  parseLinkConfigs(new Map(Object.entries({ 'bootstrap.servers': 'a:1', ...configs })))
const refused = (configs: Record<string, string>, code: string, message: RegExp) =>
  throws(
    () => parse(configs),
    (error: OperationalError) => error.code === code && message.test(error.message),
    JSON.stringify(configs),
  )

test('defaults are those of the documentation', () => {
  const { configs } = parse({})
  equal(configs.value('availability.check.ms'), 60_000)
  equal(configs.value('replica.fetch.response.max.bytes'), 10_485_760)
  equal(configs.value('link.mode'), 'DESTINATION')
  equal(configs.value('mirror.max.bytes.per.second'), undefined)
  deepEqual(configs.value('bootstrap.servers'), ['a:1'])
})

test('every default can be written back, and is supported', () => {
  for (const key of linkConfigKeys) {
    const row = linkConfigRows[key]
    if (row.default === undefined) continue
    const text = (row.format as (value: unknown) => string)(row.default)
    if (key.startsWith('local.') && row.sensitive) continue
    equal(parse({ [key]: text }).configs.overrides.get(key), text, key)
  }
})

test('an unknown key is refused with the nearest one', () => {
  refused({ 'bootstrap.server': 'x' }, 'LINK_CONFIG_UNKNOWN', /did you mean 'bootstrap.servers'\?/)
  refused({ 'consumer.offset.sync.enabled': 'x' }, 'LINK_CONFIG_UNKNOWN', /'consumer.offset.sync.enable'/)
  refused({ nonsense: 'x' }, 'LINK_CONFIG_UNKNOWN', /not a property of cluster links\.$/)
})

test('bad values are refused with what is allowed', () => {
  refused({ 'availability.check.ms': 'soon' }, 'LINK_CONFIG_INVALID', /whole number/)
  refused({ 'acl.sync.ms': '999' }, 'LINK_CONFIG_INVALID', /from 1000/)
  refused({ 'bootstrap.servers': 'nohost' }, 'LINK_CONFIG_INVALID', /host:port/)
  refused({ 'bootstrap.servers': 'a:99999' }, 'LINK_CONFIG_INVALID', /port/)
  refused({ 'cluster.link.prefix': 'a b' }, 'LINK_CONFIG_INVALID', /letters/)
  refused({ 'cluster.link.prefix': 'x'.repeat(101) }, 'LINK_CONFIG_INVALID', /100/)
  refused({ 'mirror.start.offset.spec': 'yesterday' }, 'LINK_CONFIG_INVALID', /ISO-8601/)
  refused({ 'topic.config.sync.include': 'min.insync.replicas' }, 'LINK_CONFIG_INVALID', /belongs to each cluster/)
  refused({ 'acl.filters': '{' }, 'LINK_CONFIG_INVALID', /JSON/)
  const filters = (filter: object) => ({ 'consumer.offset.group.filters': JSON.stringify({ groupFilters: [filter] }) })
  const filter = { name: '*', patternType: 'LITERAL', filterType: 'INCLUDE' }
  refused({ 'consumer.offset.group.filters': '{}' }, 'LINK_CONFIG_INVALID', /a list "groupFilters" of at least one/)
  refused(filters({ ...filter, filterType: 'ONLY' }), 'LINK_CONFIG_INVALID', /INCLUDE or EXCLUDE/)
  refused(filters({ ...filter, prefix: 'x' }), 'LINK_CONFIG_INVALID', /unknown field "prefix"/)
  refused(filters({ ...filter, topicTypes: ['REMOTE_MIRROR'] }), 'LINK_CONFIG_INVALID', /needs a bidirectional link/)
  const acls = (access: object) => ({ 'acl.filters': JSON.stringify({ aclFilters: [{ accessFilter: access }] }) })
  refused(acls({ operation: 'reed' }), 'LINK_CONFIG_INVALID', /has operation "reed", which must be ANY or ALL or READ/)
  refused(acls({ permission: 'allow' }), 'LINK_CONFIG_INVALID', /unknown field "permission"/)
  refused({ 'acl.sync.enable': 'true', 'cluster.link.prefix': 'x.' }, 'LINK_CONFIG_INVALID', /together with/)
  refused({ 'consumer.group.prefix.enable': 'true' }, 'LINK_CONFIG_INVALID', /needs cluster.link.prefix/)
  refused(
    { 'link.mode': 'BIDIRECTIONAL', 'cluster.link.prefix': 'x.', 'consumer.group.prefix.enable': 'true' },
    'LINK_CONFIG_INVALID',
    /cannot be true on a bidirectional link/,
  )
  throws(() => parseLinkConfigs(new Map()), { message: "Link property 'bootstrap.servers' is required." })
})

test('what cannot be honoured yet is refused at once, with the reason', () => {
  for (const [key, value] of Object.entries({
    'sasl.mechanism': 'GSSAPI',
    'ssl.truststore.type': 'BCFKS',
    'link.mode': 'SOURCE',
    'connection.mode': 'INBOUND',
  }))
    refused({ [key]: value }, 'LINK_CONFIG_UNSUPPORTED', /cannot be .*(support|yet|retention)/)
})

const jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="geheim";'
const secrets: SecretBox = {
  seal: (property, text) => sealedText('key', Buffer.from(`${property} ${text}`).toString('base64url')),
  keyId: 'k',
  knows: () => true,
  open: (_property, sealed) => sealed,
}
const parseSealing = (configs: Record<string, string>) =>
  parseLinkConfigs(new Map(Object.entries({ 'bootstrap.servers': 'a:1', ...configs })), secrets).configs.overrides

test('secrets are sealed once, and never repeated in a message', () => {
  const sasl = { 'security.protocol': 'SASL_SSL', 'sasl.mechanism': 'plain', 'sasl.jaas.config': jaas }
  const sealed = parseSealing(sasl).get('sasl.jaas.config') ?? ''
  match(sealed, /^sealed:1:key:[A-Za-z0-9_-]+$/)
  equal(parseSealing({ ...sasl, 'sasl.jaas.config': sealed }).get('sasl.jaas.config'), sealed)
  const reference = parseSealing({ ...sasl, 'sasl.jaas.config': ['$', '{file:/run/link.properties:jaas}'].join('') })
  match(reference.get('sasl.jaas.config') ?? '', /^sealed:/)
  for (const text of ['geheim', jaas.slice(0, -1), jaas.replace('"geheim"', 'geheim"'), ''])
    throws(
      () => parseSealing({ ...sasl, 'sasl.jaas.config': text }),
      (error: Error) => /sasl.jaas.config/.test(error.message) && !error.message.includes('geheim'),
    )
  throws(
    () => parse(sasl),
    (error: Error) => /secrets cannot be stored here/.test(error.message) && !error.message.includes('geheim'),
  )
})

test('a login needs its mechanism and what the mechanism needs', () => {
  const sasl = { 'security.protocol': 'SASL_PLAINTEXT' }
  refused(sasl, 'LINK_CONFIG_INVALID', /'sasl.mechanism' is required/)
  refused({ ...sasl, 'sasl.mechanism': 'SCRAM-SHA-512' }, 'LINK_CONFIG_INVALID', /'sasl.jaas.config' is required/)
  refused({ ...sasl, 'sasl.mechanism': 'OAUTHBEARER' }, 'LINK_CONFIG_INVALID', /token.endpoint.url' is required/)
  parse({ ...sasl, 'sasl.mechanism': 'OAUTHBEARER', 'sasl.oauthbearer.token.endpoint.url': 'https://x/y' })
})

test('the connection gets security properties as they are stored', () => {
  const texts = { 'security.protocol': 'SSL', 'ssl.truststore.location': '/ca.pem' }
  deepEqual(connectionSettings(parse(texts).configs, { name: 'west', remoteClusterId: undefined }).security, {
    'ssl.endpoint.identification.algorithm': 'https',
    ...texts,
  })
})

test('synonyms are accepted, local settings are named as unused', () => {
  equal(parse({ 'link.prefix': 'p.' }).configs.value('cluster.link.prefix'), 'p.')
  refused({ 'link.prefix': 'p.', 'cluster.link.prefix': 'q.' }, 'LINK_CONFIG_INVALID', /twice/)
  match(parse({ 'local.security.protocol': 'SASL_SSL' }).warnings[0] ?? '', /without effect: local.security.protocol/)
  const many = { 'local.sasl.mechanism': 'GSSAPI', 'local.sasl.login.class': 'x', 'local.listener': 'L' }
  deepEqual(parse({ ...many, 'replica.socket.receive.buffer.bytes': '65536' }).warnings, [
    'Accepted without effect: local.sasl.mechanism, local.sasl.login.class, local.listener.name, replica.socket.receive.buffer.bytes.',
  ])
})

test('describe lists every property, defaults marked, secrets hidden', () => {
  const views = parse({ 'acl.sync.ms': '6000' }).configs.views()
  equal(views.length, linkConfigKeys.length)
  const view = (name: string) => views.find(found => found.name === name)
  deepEqual(view('acl.sync.ms'), {
    name: 'acl.sync.ms',
    value: '6000',
    isDefault: false,
    isReadOnly: false,
    isSensitive: false,
    type: 'int',
    defaultValue: '5000',
    allowed: '1000 or more',
    documentation: 'Period of the ACL sync.',
  })
  equal(view('link.mode')?.isReadOnly, true)
  equal(view('sasl.jaas.config')?.value, null)
  equal(view('sasl.jaas.config')?.isSensitive, true)
  equal(view('topic.config.sync.include')?.isDefault, true)
})

test('connection settings come from the properties', () => {
  const { configs } = parse({ 'num.cluster.link.fetchers': '3', 'metadata.max.age.ms': '10000' })
  const settings = connectionSettings(configs, { name: 'west', remoteClusterId: 'abc' })
  equal(settings.clusterId, 'abc')
  equal(settings.clientId, 'lockstep-link-west')
  equal(settings.metadataMaxAgeMs, 10_000)
  equal(settings.fetch.connectionsPerBroker, 3)
  equal(settings.fetch.waitMaxMs, 500)
})

test('start offsets are earliest, latest or a time', () => {
  equal(parseStartOffsetSpec('EARLIEST'), 'earliest')
  equal(parseStartOffsetSpec(' latest '), 'latest')
  deepEqual(parseStartOffsetSpec('2024-01-02T03:04:05Z'), { timestampMs: 1704164645000n })
  throws(() => parseStartOffsetSpec('2024'))
})

test('which topics and configs a link owns', () => {
  const defaults = new LinkConfigs(new Map())
  equal(copiedTopicConfigs(defaults).has('retention.ms'), true)
  equal(logStartFollowsSource(defaults), true)
  const independent = new LinkConfigs(new Map([['topic.config.sync.include', 'delete.retention.ms']]))
  equal(copiedTopicConfigs(independent).has('retention.ms'), false)
  equal(copiedTopicConfigs(independent).has('cleanup.policy'), true)
  equal(logStartFollowsSource(independent), false)
  for (const name of [
    '__consumer_offsets',
    '__lockstep_state',
    '_confluent-x',
    '__confluent.y',
    'confluent-audit-log-events',
  ])
    equal(isNeverMirrored(name), true, name)
  for (const name of ['orders', '__mine', '_schemas']) equal(isNeverMirrored(name), false, name)
  for (const name of ['', '.', '..', 'a b', 'x'.repeat(250)]) equal(typeof topicNameProblem(name), 'string', name)
  equal(topicNameProblem('a.b_c-D9'), undefined)
})

test('properties of the connection reach the source as they are set', () => {
  const configs = {
    'socket.connection.setup.timeout.max.ms': '7000',
    'default.api.timeout.ms': '8000',
    'connections.max.idle.ms': '-1',
    'client.dns.lookup': 'resolve_canonical_bootstrap_servers_only',
    'request.timeout.ms': '9000',
  }
  const link = { name: 'west', remoteClusterId: undefined }
  const settings = connectionSettings(parse(configs).configs, link)
  equal(settings.connectTimeoutMaxMs, 7000)
  equal(settings.apiTimeoutMs, 8000)
  equal(settings.idleMsMax, -1)
  equal(settings.bootstrapLookup, 'resolve_canonical_bootstrap_servers_only')
  equal(settings.fetch.timeoutMs, 9000)
  const own = parse({ ...configs, 'replica.socket.timeout.ms': '11000' }).configs
  equal(connectionSettings(own, link).fetch.timeoutMs, 11_000)
  // No setting of the connection: it holds without a new one.
  const bounded = parse({ ...configs, 'mirror.max.bytes.per.second': '5' }).configs
  deepEqual(connectionSettings(bounded, link), settings)
})
