// An Apache Kafka cluster with TLS, logins, ACLs and short sessions on all its listeners, and a Lockstep node that joins it with rights of its own; the suite of joined security stands on it.
import { deepStrictEqual } from 'node:assert/strict'
import type { ClientSecurity } from '../clients/client-record.ts'
import { jaasConfig, javaProperties } from '../clients/client-security.ts'
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { type Acl, areInForce } from './acls-in-force.ts'
import { Credentials } from './credentials.ts'

/** The password of each is its name with `-s3cret`. `broker` and `admin` are super users. */
const USERS = ['broker', 'admin', 'lockstep', 'alice', 'bob', 'carol', 'dave', 'erin'] as const
export type User = (typeof USERS)[number]
export const passwordOf = (user: string): string => `${user}-s3cret`

/** Connections must log in anew after this long: often in the time of the suite. KafkaJS renews in the last 10 s, at most once a second. */
export const SESSION_MS = 15_000
export const NODE_ID = 1001
export const AUTHORIZER = 'org.apache.kafka.metadata.authorizer.StandardAuthorizer'

export const allow = (user: string, resource: readonly [string, string, string?], ...operations: string[]): Acl[] =>
  operations.map(operation => {
    const [type, name, pattern = 'LITERAL'] = resource
    return [type, name, pattern, `User:${user}`, '*', operation, 'ALLOW']
  })

export const CLUSTER = ['CLUSTER', 'kafka-cluster'] as const

export interface SecuredCluster {
  readonly credentials: Credentials
  readonly java: JavaDriver
  readonly cluster: KafkaCluster
  /** A standalone node without security. */
  readonly source: LockstepNode
  /** SCRAM over TLS, of one of the users or of another. */
  readonly loginOf: (user: string) => ClientSecurity
  /** Of a node that logs in as `user` and listens as brokers do. */
  readonly nodeProperties: (user: User, password?: string) => Record<string, string>
  /** The super user's Java Admin at a Kafka broker. */
  readonly admin: <T>(command: string, args: object) => Promise<T>
  /** Resolves when they are in force at every broker and node. */
  readonly grant: (acls: readonly Acl[]) => Promise<void>
  readonly revoke: (acls: readonly Acl[]) => Promise<void>
  /** Closed with the cluster. */
  readonly join: (user: User) => Promise<LockstepNode>
  readonly close: () => Promise<void>
}

export async function startSecuredCluster(): Promise<SecuredCluster> {
  const opened = new Opened()
  try {
    return await start(opened)
  } catch (error) {
    await opened.close()
    throw error
  }
}

async function start(opened: Opened): Promise<SecuredCluster> {
  const credentials = await opened.add(Credentials.make())
  const [java, source, cluster] = await opened.all<[JavaDriver, LockstepNode, KafkaCluster]>([
    JavaDriver.start({ version: '4.3.1' }),
    LockstepNode.start(),
    KafkaCluster.start({
      version: '4.3.1',
      brokers: 2,
      brokerListeners: ['CLIENTS'],
      properties: { ...securedProperties(credentials, { user: 'broker' }), ...ofCluster },
      format: SCRAM_USERS,
    }),
  ])
  const loginOf = (user: string) => scramLogin(credentials, user)
  const { address: bootstrap } = cluster.node(1)
  const admin: SecuredCluster['admin'] = (command, args) =>
    java.call(command, { bootstrap, admin: javaProperties(loginOf('admin')), ...args })
  const nodeProperties: SecuredCluster['nodeProperties'] = (user, password) => ({
    ...securedNodeProperties(credentials, { user, password }),
    'process.roles': 'broker',
    'node.id': String(NODE_ID),
    'controller.quorum.bootstrap.servers': cluster.controllerAddresses,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'broker.heartbeat.interval.ms': '1000',
  })
  const nodes: LockstepNode[] = []
  return {
    ...{ credentials, java, source, cluster, loginOf, nodeProperties, admin },
    async grant(acls) {
      const outcomes = await admin<object>('admin-security', { op: 'create-acls', acls })
      deepStrictEqual(new Set(Object.values(outcomes)), new Set(['ok']))
      const addresses = [...cluster.brokers.map(broker => broker.address), ...nodes.map(node => node.bootstrap)]
      await areInForce(acls, addresses, loginOf('admin'))
    },
    async revoke(acls) {
      await admin('admin-security', { op: 'delete-acls', filters: acls })
    },
    async join(user) {
      const properties = nodeProperties(user)
      const node = await opened.add(LockstepNode.start({ clusterId: cluster.clusterId, properties }))
      nodes.push(node)
      return node
    },
    close: () => opened.close(),
  }
}

const SUPER_USERS = 'User:broker;User:admin'

/** Arguments of `kafka-storage format` for all users. */
export const SCRAM_USERS: readonly string[] = USERS.flatMap(user => [
  '--add-scram',
  `SCRAM-SHA-256=[name=${user},password=${passwordOf(user)}]`,
])

export const scramLogin = (credentials: Credentials, user: string): ClientSecurity => ({
  protocol: 'SASL_SSL',
  caFile: credentials.file('ca.pem'),
  mechanism: 'SCRAM-SHA-256',
  user,
  password: passwordOf(user),
})

const ofCluster = {
  'default.replication.factor': '2',
  // Ends only where a test kills the node.
  'broker.session.timeout.ms': '18000',
}

interface Principal {
  readonly user: User
  readonly password?: string | undefined
}

/** Of a Lockstep node, whose REST has no login here. */
export const securedNodeProperties = (credentials: Credentials, principal: Principal): Record<string, string> => ({
  ...securedProperties(credentials, principal),
  'super.users': `${SUPER_USERS};User:ANONYMOUS`,
})

/**
 * Of brokers, controllers and Lockstep nodes. Brokers use PLAINTEXT (which is not plain) among themselves, CLIENTS is not for Lockstep
 * nodes; both have SCRAM. That of the controllers has PLAIN, since SCRAM users are in the log that needs a leader.
 */
export function securedProperties(
  credentials: Credentials,
  { user, password = passwordOf(user) }: Principal,
): Record<string, string> {
  const known = USERS.map(name => ` user_${name}="${passwordOf(name)}"`).join('')
  const login = (mechanism: 'PLAIN' | 'SCRAM-SHA-256', more = '') =>
    jaasConfig({ protocol: 'SASL_SSL', caFile: '', mechanism, user, password }).replace(/;$/, `${more};`)
  return {
    'listener.security.protocol.map': 'PLAINTEXT:SASL_SSL,CLIENTS:SASL_SSL,CONTROLLER:SASL_SSL',
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': credentials.file('host.pem'),
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': credentials.file('ca.pem'),
    'sasl.mechanism.inter.broker.protocol': 'SCRAM-SHA-256',
    'sasl.mechanism.controller.protocol': 'PLAIN',
    'sasl.enabled.mechanisms': 'SCRAM-SHA-256',
    'listener.name.plaintext.scram-sha-256.sasl.jaas.config': login('SCRAM-SHA-256'),
    'listener.name.clients.scram-sha-256.sasl.jaas.config': login('SCRAM-SHA-256'),
    'listener.name.controller.sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.controller.plain.sasl.jaas.config': login('PLAIN', known),
    'connections.max.reauth.ms': String(SESSION_MS),
    'authorizer.class.name': AUTHORIZER,
    'super.users': SUPER_USERS,
  }
}
