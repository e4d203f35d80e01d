// Where a rehearsal happens: a real Kafka with TLS, logins and an authorizer, a Lockstep node with the same, their users, and the command line as an operator uses it.

import { deepStrictEqual } from 'node:assert/strict'
import type { ToolResult } from '../child-process.ts'
import type { ClientSecurity } from '../clients/client-record.ts'
import { jaasConfig } from '../clients/client-security.ts'
import { eventually } from '../eventually.ts'
import { freePorts } from '../free-port.ts'
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import type { KafkaVersion } from '../kafka/jars.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { writeProperties } from '../properties-file.ts'
import { lockstep } from '../scenarios/command-line.ts'
import { eagerCleaner } from '../scenarios/compacted-topic.ts'
import { TopicSide } from '../scenarios/topic-side.ts'
import { Credentials } from '../security/credentials.ts'
import { type GroupClients, JavaGroups } from './group-clients.ts'
import { KafkaJsGroups } from './kafkajs-groups.ts'
import { LibrdkafkaGroups } from './librdkafka-groups.ts'

/** Resource type, name, pattern type, principal, host, operation, permission. */
export type Acl = readonly [string, string, string, string, string, string, string]

const USERS = ['admin', 'app', 'link', 'stranger'] as const

export type User = (typeof USERS)[number]

/** Name of the link. */
export const LINK = 'from-old'

const passwordOf = (user: User): string => `${user}-s3cret`

/** One side: where clients with a login connect, and where the rehearsal itself does, without. */
export interface Place {
  readonly secure: string
  readonly bootstrap: string
}

/** A command of the operator, for the report. */
export interface RanCommand {
  readonly command: string
  readonly exitCode: number | null
  readonly ms: number
}

export interface RehearsalWorld {
  readonly driver: JavaDriver
  readonly cluster: KafkaCluster
  readonly node: LockstepNode
  readonly source: Place & TopicSide
  readonly mirror: Place & TopicSide
  readonly clients: readonly GroupClients[]
  readonly java: JavaGroups
  readonly security: (user: User) => ClientSecurity
  /** Properties of the link, in a file. */
  readonly linkFile: string
  /** Runs `lockstep ARGS` as the administrator. */
  readonly run: (...args: string[]) => Promise<ToolResult>
  readonly ran: readonly RanCommand[]
  readonly close: () => Promise<void>
}

class SecuredSide extends TopicSide {
  readonly secure: string

  constructor(driver: JavaDriver, place: { bootstrap: string; dataDirectory: string; secure: string }) {
    super(driver, place)
    this.secure = place.secure
  }
}

/** Starts everything; what was started is ended again if something cannot start. */
export async function startRehearsalWorld(version: KafkaVersion, heapMb: number): Promise<RehearsalWorld> {
  const opened = new Opened()
  try {
    return { ...(await start(opened, version, heapMb)), close: () => opened.close() }
  } catch (error) {
    await opened.close()
    throw error
  }
}

async function start(opened: Opened, version: KafkaVersion, heapMb: number): Promise<Omit<RehearsalWorld, 'close'>> {
  const credentials = await opened.add(Credentials.make())
  const [theirs = 0, ours = 0] = await freePorts(2)
  const properties = securedProperties(credentials)
  const [driver, cluster, node, python] = await opened.all<[JavaDriver, KafkaCluster, LockstepNode, LibrdkafkaGroups]>([
    JavaDriver.start({ version: '4.3.1', heapMb }),
    KafkaCluster.start({ version, properties: { ...properties, ...eagerCleaner }, listeners: { SECURE: theirs } }),
    LockstepNode.start({ properties, listeners: { SECURE: ours } }),
    LibrdkafkaGroups.open(),
  ])
  const kafkaJs = new KafkaJsGroups()
  await opened.add(Promise.resolve(kafkaJs))
  for (const { bootstrap } of [cluster, node]) {
    const upsert = USERS.map(user => [user, 'SCRAM-SHA-512', 4096, passwordOf(user)])
    await driver.call('admin-security', { op: 'alter-scram', bootstrap, upsert })
    // Brokers follow their controller a moment later.
    await eventually(async () => {
      const known = await driver.call<object>('admin-security', { op: 'scram', bootstrap })
      deepStrictEqual(Object.keys(known), USERS.toSorted())
    })
  }
  const security = (user: User): ClientSecurity => ({
    protocol: 'SASL_SSL',
    caFile: credentials.file('ca.pem'),
    mechanism: 'SCRAM-SHA-512',
    user,
    password: passwordOf(user),
  })
  const java = new JavaGroups(driver)
  const ran: RanCommand[] = []
  const { dataDirectory } = cluster.node(1)
  return {
    driver,
    cluster,
    node,
    source: new SecuredSide(driver, { bootstrap: cluster.bootstrap, dataDirectory, secure: `127.0.0.1:${theirs}` }),
    mirror: new SecuredSide(driver, {
      ...node,
      secure: `127.0.0.1:${ours}`,
      bootstrap: node.bootstrap,
      dataDirectory: node.dataDirectory,
    }),
    clients: [java, python, kafkaJs],
    java,
    security,
    linkFile: await writeLinkFile(credentials, security('link')),
    run: operator(node, ran),
    ran,
  }
}

/** Both sides: a listener for the rehearsal itself on loopback, and one for everybody else. */
export function securedProperties(credentials: Credentials): Record<string, string> {
  const listener = 'listener.name.secure'
  return {
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL',
    [`${listener}.ssl.keystore.type`]: 'PEM',
    [`${listener}.ssl.keystore.location`]: credentials.file('host.pem'),
    [`${listener}.sasl.enabled.mechanisms`]: 'SCRAM-SHA-512',
    [`${listener}.scram-sha-512.sasl.jaas.config`]: 'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:ANONYMOUS;User:admin',
    'message.max.bytes': '12000000',
  }
}

const groupFilters = [{ name: '*', patternType: 'LITERAL', filterType: 'INCLUDE' }]
const topicFilters = [{ name: '*', patternType: 'LITERAL', filterType: 'INCLUDE' }]
const aclFilters = [
  {
    resourceFilter: { resourceType: 'any', patternType: 'any' },
    accessFilter: { operation: 'any', permissionType: 'any' },
  },
]

async function writeLinkFile(credentials: Credentials, security: ClientSecurity): Promise<string> {
  const secret = await credentials.write('link.secret', `password=${security.password}\n`)
  const properties: Record<string, string> = {
    'security.protocol': security.protocol,
    'sasl.mechanism': security.mechanism ?? '',
    'sasl.jaas.config': jaasConfig({ ...security, password: `\${file:${secret}:password}` }),
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': security.caFile,
    'consumer.offset.sync.enable': 'true',
    'consumer.offset.sync.ms': '2000',
    'consumer.offset.group.filters': JSON.stringify({ groupFilters }),
    'acl.sync.enable': 'true',
    'acl.filters': JSON.stringify({ aclFilters }),
    'topic.config.sync.ms': '2000',
    'auto.create.mirror.topics.enable': 'true',
    'auto.create.mirror.topics.filters': JSON.stringify({ topicFilters }),
  }
  const file = credentials.file('link.properties')
  await writeProperties(file, properties)
  return file
}

function operator(node: LockstepNode, ran: RanCommand[]) {
  return async (...args: string[]): Promise<ToolResult> => {
    const began = performance.now()
    const login = { LOCKSTEP_USER: 'admin', LOCKSTEP_PASSWORD: passwordOf('admin') }
    const result = await lockstep(node, args, login)
    ran.push({
      command: `lockstep ${args.map(arg => (/^[\w./:=-]+$/.test(arg) ? arg : `'${arg}'`)).join(' ')}`,
      exitCode: result.status,
      ms: Math.round(performance.now() - began),
    })
    return result
  }
}
