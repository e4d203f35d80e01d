// A Lockstep node and a real Kafka with the same secured listeners, and the Java driver; what the security suite works in.
import { javaProperties } from '../clients/client-security.ts'
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { ADMIN, Credentials, GUEST } from './credentials.ts'
import { addScramUser } from './scram-users.ts'
import { type ListenerName, listenerPorts, securedProperties, WAYS, type Way } from './secured-listeners.ts'
import { TokenIssuer } from './token-issuer.ts'

/** Addresses of the listeners, of PLAINTEXT too. */
export type Addresses = Readonly<Record<ListenerName | 'PLAINTEXT', string>>

export interface SecuredWorld {
  readonly java: JavaDriver
  readonly node: LockstepNode
  readonly credentials: Credentials
  readonly issuer: TokenIssuer
  readonly lockstep: Addresses
  readonly kafka: Addresses
  /** Address of the node's listener for tokens of the issuer. */
  readonly tokens: string
  readonly close: () => Promise<void>
}

/** The topic that all write to. */
export const TOPIC = 'secured'

export async function startSecuredWorld(): Promise<SecuredWorld> {
  const opened = new Opened()
  try {
    return { ...(await start(opened)), close: () => opened.close() }
  } catch (error) {
    await opened.close()
    throw error
  }
}

async function start(opened: Opened): Promise<Omit<SecuredWorld, 'close'>> {
  const credentials = await opened.add(Credentials.make())
  const issuer = await opened.add(TokenIssuer.start())
  const [ours, theirs, more] = [await listenerPorts(), await listenerPorts(), await listenerPorts()]
  const properties = securedProperties(credentials)
  const listeners = { ...ours, TOKENS: more.SECURE }
  const own = { ...properties, ...ownProperties(properties, issuer) }
  const [java, node, cluster] = await opened.all<[JavaDriver, LockstepNode, KafkaCluster]>([
    JavaDriver.start({ version: '4.3.1' }),
    LockstepNode.start({ properties: own, listeners }),
    KafkaCluster.start({ version: '4.3.1', properties, listeners: theirs }),
  ])
  await addScramUser(java, cluster.bootstrap, ADMIN)
  for (const { bootstrap } of [node, cluster]) {
    await addScramUser(java, bootstrap, GUEST)
    await java.call('create-topics', { bootstrap, topics: [{ name: TOPIC, partitions: 1 }] })
  }
  return {
    java,
    node,
    credentials,
    issuer,
    lockstep: addresses(ours, node.bootstrap),
    kafka: addresses(theirs, cluster.bootstrap),
    tokens: `127.0.0.1:${more.SECURE}`,
  }
}

/** What only a Lockstep node is given: its first users, quick looks at files, a listener for tokens. */
function ownProperties(properties: Readonly<Record<string, string>>, issuer: TokenIssuer): Record<string, string> {
  const users = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].map(
    mechanism => `${mechanism}=[name=${ADMIN.user},password=${ADMIN.password}]`,
  )
  return {
    'lockstep.bootstrap.scram.users': users.join(';'),
    'lockstep.tls.reload.interval.ms': '200',
    'listener.security.protocol.map': `${properties['listener.security.protocol.map']},TOKENS:SASL_PLAINTEXT`,
    'listener.name.tokens.sasl.enabled.mechanisms': 'OAUTHBEARER',
    'listener.name.tokens.oauthbearer.sasl.oauthbearer.jwks.endpoint.url': issuer.keysUrl,
    'listener.name.tokens.oauthbearer.sasl.oauthbearer.expected.audience': 'kafka',
    'listener.name.tokens.oauthbearer.sasl.oauthbearer.expected.issuer': 'suite',
  }
}

function addresses(ports: Record<ListenerName, number>, plaintext: string): Addresses {
  const secured = Object.entries(ports).map(([name, port]) => [name, `127.0.0.1:${port}`])
  return { PLAINTEXT: plaintext, ...Object.fromEntries(secured) } as Addresses
}

/** The way of that name. */
export function wayOf(name: string): Way {
  const found = WAYS.find(way => way.name.startsWith(name))
  if (!found) throw new Error(`no way is named ${name}`)
  return found
}

/** What `consume` answers with content; the eighth of a row is the value. */
export type Contents = Record<string, { records: (string | null)[][] }>

/** Values of the node's topic, read by the administrator. */
export async function writtenValues({ java, lockstep, credentials }: SecuredWorld): Promise<(string | null)[]> {
  const properties = javaProperties(wayOf('PLAIN').security(credentials))
  const args = { bootstrap: lockstep.LOGIN, topic: TOPIC, content: true, properties }
  const contents = await java.call<Contents>('consume', args)
  return contents['0']?.records.map(row => row[7] ?? null) ?? []
}
