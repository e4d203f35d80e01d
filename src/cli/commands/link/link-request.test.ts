/** Tests of what `link create` sends: which end is the other one, credentials, and what is printed of them. */
import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { type LinkOptions, linkRequest, printable } from './link-request.ts'

const configsOf = (options: LinkOptions) => Object.fromEntries(linkRequest(options).configs)

test('key and secret mean SASL_SSL with PLAIN, quoted for JAAS', () => {
  deepStrictEqual(configsOf({ sourceBootstrapServer: 'a:1', sourceApiKey: 'K', sourceApiSecret: 'a"\\b' }), {
    'link.mode': 'DESTINATION',
    'bootstrap.servers': 'a:1',
    'security.protocol': 'SASL_SSL',
    'sasl.mechanism': 'PLAIN',
    'sasl.jaas.config':
      'org.apache.kafka.common.security.plain.PlainLoginModule required username="K" password="a\\"\\\\b";',
  })
  throws(() => linkRequest({ sourceApiKey: 'K' }), /must be given together/)
  const kept = configsOf({ sourceApiKey: 'K', sourceApiSecret: 'S', config: ['security.protocol=SASL_PLAINTEXT'] })
  strictEqual(kept['security.protocol'], 'SASL_PLAINTEXT')
})

test('the other end is named by the mode, and local credentials are for this end', () => {
  const bidirectional = configsOf({
    remoteBootstrapServer: 'r:1',
    remoteApiKey: 'R',
    remoteApiSecret: 'R',
    localApiKey: 'L',
    localApiSecret: 'L',
    config: ['link.mode=BIDIRECTIONAL'],
  })
  strictEqual(bidirectional['bootstrap.servers'], 'r:1')
  strictEqual(bidirectional['sasl.jaas.config']?.includes('"R"'), true)
  strictEqual(bidirectional['local.sasl.jaas.config']?.includes('"L"'), true)
  const source = configsOf({
    destinationBootstrapServer: 'd:1',
    sourceApiKey: 'S',
    sourceApiSecret: 'S',
    config: ['link.mode=SOURCE'],
  })
  deepStrictEqual([source['bootstrap.servers'], source['local.security.protocol']], ['d:1', 'SASL_SSL'])
  throws(() => linkRequest({ destinationBootstrapServer: 'd:1' }), /use --source-bootstrap-server/)
  throws(() => linkRequest({ remoteApiKey: 'R', remoteApiSecret: 'R' }), /use --source-api-key/)
})

test('cluster ids go where REST wants them, and only those that were given', () => {
  const { body } = linkRequest({ sourceCluster: 'abc' })
  deepStrictEqual(body, { source_cluster_id: 'abc', configs: [{ name: 'link.mode', value: 'DESTINATION' }] })
})

test('only what is known to be no secret is printed, sorted', () => {
  const all = { 'sasl.jaas.config': 's', 'ssl.keystore.password': 's', 'ssl.keystore.key': 's', 'x.y': 's' }
  const shown = {
    'link.mode': 'DESTINATION',
    'acl.sync.ms': '1',
    'ssl.keystore.type': 'PEM',
    'local.sasl.mechanism': 'P',
  }
  deepStrictEqual(
    printable(new Map(Object.entries({ ...all, ...shown }))).map(([name]) => name),
    ['acl.sync.ms', 'link.mode', 'local.sasl.mechanism', 'ssl.keystore.type'],
  )
})
