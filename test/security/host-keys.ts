// Keys of listeners that change while the node runs, and stores of keytool; tests of the security suite.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect } from 'node:tls'
import { makeAuthority } from '../../src/network/tls/fakes/test-certificates.ts'
import { javaProperties } from '../clients/client-security.ts'
import { eventually } from '../eventually.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { listenerPorts } from './secured-listeners.ts'
import { type Contents, type SecuredWorld, TOPIC, wayOf } from './secured-world.ts'

/** Does the listener show a certificate of this authority? */
function shows(address: string, authority: string): Promise<boolean> {
  const [host, port] = address.split(':')
  return new Promise(resolve => {
    const socket = connect({ host, port: Number(port), ca: readFileSync(authority) })
    socket.once('error', () => resolve(false))
    socket.once('secureConnect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}

/** The file gets another key; then a dynamic config names another file. */
export async function hostKeyChanges({ java, lockstep, credentials }: SecuredWorld): Promise<void> {
  const isShown = (authority: string) => shows(lockstep.SECURE, credentials.file(authority))
  strictEqual(await isShown('ca.pem'), true)
  await credentials.replaceHost()
  await eventually(async () => strictEqual(await isShown('new-ca.pem'), true))
  strictEqual(await isShown('ca.pem'), false)
  const security = { ...wayOf('SCRAM-SHA-512').security(credentials), caFile: credentials.file('new-ca.pem') }
  const write = { bootstrap: lockstep.SECURE, topic: TOPIC, records: [{ value: 'renewed' }] }
  await java.call('produce', { ...write, properties: javaProperties(security) })

  const { authority, host } = makeAuthority()
  await credentials.write('third-ca.pem', authority.certificate)
  const file = await credentials.write('third.pem', host.key + host.certificate)
  const setting = `listener.name.secure.ssl.keystore.location=${file}`
  const broker = ['--bootstrap-server', lockstep.PLAINTEXT, '--entity-type', 'brokers', '--entity-name', '1']
  const args = [...broker, '--alter', '--add-config', setting]
  const answer = await java.call<{ status: number; err: string }>('run-tool', {
    tool: 'kafka.admin.ConfigCommand',
    args,
  })
  strictEqual(answer.status, 0, answer.err)
  await eventually(async () => strictEqual(await isShown('third-ca.pem'), true))
}

/** A node of its own, whose listener and client have PKCS12 of keytool. */
export async function storesServe({ java, credentials }: SecuredWorld): Promise<void> {
  const { keyStore, trustStore, password } = await credentials.makeStores()
  const stores = {
    'ssl.keystore.location': keyStore,
    'ssl.keystore.password': password,
    'ssl.truststore.location': trustStore,
    'ssl.truststore.password': password,
  }
  const ofListener = Object.entries(stores).map(([name, value]) => [`listener.name.stores.${name}`, value])
  const { SECURE: port } = await listenerPorts()
  const node = await LockstepNode.start({
    listeners: { STORES: port },
    properties: {
      'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,STORES:SSL',
      ...Object.fromEntries(ofListener),
      'listener.name.stores.ssl.client.auth': 'required',
    },
  })
  try {
    const properties = { 'security.protocol': 'SSL', ...stores }
    const bootstrap = `127.0.0.1:${port}`
    await java.call('create-topics', { bootstrap: node.bootstrap, topics: [{ name: 't', partitions: 1 }] })
    await java.call('produce', { bootstrap, topic: 't', records: [{ key: 'a', value: 'b' }], properties })
    const consumed = await java.call<Contents>('consume', { bootstrap, topic: 't', content: true, properties })
    deepStrictEqual(
      consumed['0']?.records.map(row => row[7]),
      ['b'],
    )
  } finally {
    await node.close()
  }
}
