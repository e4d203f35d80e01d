/** Listeners follow their key files and the dynamic configs of the broker, and stay as they are when those cannot be used. */
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { TestNode } from '../../broker/fakes/test-node.ts'
import { ManualClock } from '../../core/clock.ts'
import { ConfigResourceType } from '../../metadata/metadata-image.ts'
import { RecordingLogger } from '../../network/fakes/recording-logger.ts'
import type { ListenerSecurity } from '../../network/listener-security.ts'
import { makeAuthority } from '../../network/tls/fakes/test-certificates.ts'
import type { ListenerEndpoint } from '../listeners.ts'
import { ListenersSecurity } from './listeners-security.ts'

const RELOAD_MS = 1000
const endpoint = (protocol: ListenerEndpoint['protocol']): ListenerEndpoint => ({
  name: 'CLIENTS',
  host: '127.0.0.1',
  port: 0,
  protocol,
})

async function world(t: TestContext, file: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-listeners-'))
  t.after(() => rm(folder, { recursive: true }))
  const node = await TestNode.start()
  t.after(() => node.close())
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  const shared = { nodeId: 1, controller: node.controller, reloadMs: RELOAD_MS, clock, logger }
  const security = new ListenersSecurity({ ...shared, file: new Map(Object.entries(file)) })
  t.after(() => security.close())
  await node.controller.subscribe(security)
  const changes: ListenerSecurity[] = []
  /** Goes on until the files were looked at again. */
  const looks = async () => {
    await clock.advance(RELOAD_MS)
    while (clock.pending === 0) await new Promise(resolve => setImmediate(resolve))
  }
  const alter = async (key: string, value: string) => {
    const resource = { type: ConfigResourceType.BROKER, name: '1' }
    const changed = [{ key, operation: 'set', value } as const]
    const [answer] = await node.controller.incrementalAlterConfigs([{ resource, changes: changed }], {
      validateOnly: false,
    })
    equal(answer?.errorCode, 0, answer?.errorMessage ?? '')
  }
  const until = async (count: number) => {
    while (changes.length < count) await new Promise(resolve => setImmediate(resolve))
  }
  return { folder, security, clock, logger, changes, looks, alter, until }
}

const watch = (security: ListenersSecurity, changes: ListenerSecurity[], protocol: ListenerEndpoint['protocol']) =>
  security.watch(endpoint(protocol), { changeSecurity: changed => changes.push(changed) })

test('a key file that changes is loaded anew, one that is broken is told and left alone', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-listeners-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'host.pem')
  const write = async () => {
    const { host } = makeAuthority()
    await writeFile(path, host.key + host.certificate)
    return host.certificate
  }
  const first = await write()
  const { security, logger, changes, looks } = await world(t, { 'ssl.keystore.location': path })
  equal((await security.load(endpoint('SSL'))).tls?.options.cert, first)
  watch(security, changes, 'SSL')
  await looks()
  equal(changes.length, 0)
  const second = await write()
  await looks()
  deepEqual(
    changes.map(({ tls }) => tls?.options.cert),
    [second],
  )
  await writeFile(path, 'not a key')
  await looks()
  await looks()
  equal(changes.length, 1)
  const errors = logger.lines.filter(line => line.includes('stays as it was'))
  equal(errors.length, 1)
  const third = await write()
  await looks()
  equal(changes.at(-1)?.tls?.options.cert, third)
})

test('dynamic configs of the broker take effect at once, for their listener', async t => {
  const { security, changes, alter, until } = await world(t, { 'sasl.enabled.mechanisms': 'SCRAM-SHA-256' })
  const before = await security.load(endpoint('SASL_PLAINTEXT'))
  deepEqual([...(before.login?.mechanisms.keys() ?? [])], ['SCRAM-SHA-256'])
  watch(security, changes, 'SASL_PLAINTEXT')
  await alter('listener.name.clients.sasl.enabled.mechanisms', 'SCRAM-SHA-512')
  await until(1)
  deepEqual([...(changes[0]?.login?.mechanisms.keys() ?? [])], ['SCRAM-SHA-512'])
  await alter('log.cleaner.threads', '2')
  equal(changes.length, 1)
})

test('a listener that cannot be secured does not start', async t => {
  const { security } = await world(t, { 'ssl.keystore.location': '/does/not/exist.pem' })
  await rejects(security.load(endpoint('SSL')), /listener CLIENTS: ssl.keystore.location: ENOENT/)
  await rejects(security.load(endpoint('SASL_PLAINTEXT')), /listener CLIENTS: sasl.enabled.mechanisms/)
})

test('a certificate of clients is asked for where the listener says so, with a login only by its own name', async t => {
  const { host } = makeAuthority()
  const key = { 'ssl.keystore.key': host.key, 'ssl.keystore.certificate.chain': host.certificate }
  const asked = async (protocol: ListenerEndpoint['protocol'], properties: Record<string, string>) => {
    const login = { 'sasl.enabled.mechanisms': 'SCRAM-SHA-256' }
    const { security } = await world(t, { ...key, ...login, ...properties })
    const { tls } = await security.load(endpoint(protocol))
    return [tls?.options.requestCert, tls?.options.rejectUnauthorized, tls?.identifies]
  }
  const all = { 'ssl.client.auth': 'required' }
  const own = { 'listener.name.clients.ssl.client.auth': 'requested' }
  deepEqual(await asked('SSL', {}), [false, false, true])
  deepEqual(await asked('SSL', all), [true, true, true])
  deepEqual(await asked('SSL', { ...all, ...own }), [true, false, true])
  deepEqual(await asked('SASL_SSL', all), [false, false, false])
  deepEqual(await asked('SASL_SSL', own), [true, false, false])
})

test('properties for a listener and a mechanism go before those for all', async t => {
  const { security } = await world(t, {
    'sasl.enabled.mechanisms': 'SCRAM-SHA-256,PLAIN',
    'connections.max.reauth.ms': '1',
    'listener.name.clients.connections.max.reauth.ms': '2',
    'listener.name.clients.plain.connections.max.reauth.ms': '3',
    'listener.name.other.plain.connections.max.reauth.ms': '4',
    'listener.name.clients.plain.sasl.jaas.config':
      'org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="one";',
    'connection.failed.authentication.delay.ms': '7',
  })
  const { login } = await security.load(endpoint('SASL_PLAINTEXT'))
  equal(login?.mechanisms.get('SCRAM-SHA-256')?.sessionMsMax, 2)
  equal(login?.mechanisms.get('PLAIN')?.sessionMsMax, 3)
  equal(login?.failureDelayMs, 7)
  const exchange = login?.mechanisms.get('PLAIN')?.begin()
  match((await exchange?.respond(Buffer.from('\0alice\0one')))?.identity?.name ?? '', /^alice$/)
})
