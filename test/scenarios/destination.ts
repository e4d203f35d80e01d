// Where mirrors of a suite live, as the environment says: a standalone node, or one that has joined a real Kafka cluster of some version and shape.
import { deepStrictEqual } from 'node:assert/strict'
import type { ClientSecurity } from '../clients/client-record.ts'
import { eventually } from '../eventually.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { destinationVersion, type KafkaVersion } from '../kafka/jars.ts'
import { startJoinedNode } from '../kafka/joined-node.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { type SecuredDestination, secureDestination } from '../security/secured-destination.ts'

const shapes = { '1+2': 2, '1+3': 3, combined: { combined: 3 } } as const

/** Controllers that a busy machine keeps waiting must not vote each other out for it. */
const patientQuorum = {
  'controller.quorum.election.timeout.ms': '10000',
  'controller.quorum.fetch.timeout.ms': '20000',
  'controller.quorum.request.timeout.ms': '20000',
}

/** Nodes of a cluster that is joined: a controller and brokers, or three nodes that are both. */
export type DestinationShape = keyof typeof shapes

/** Of all its listeners. */
export type DestinationSecurity = 'PLAINTEXT' | 'SASL_SSL'

/** The cluster that a node joins. */
export interface DestinationPlan {
  readonly version: KafkaVersion
  /** Default `1+2`, the smallest that has something to replicate to. */
  readonly shape?: DestinationShape
  /** Default `PLAINTEXT`. With `SASL_SSL` it has TLS, SCRAM and the StandardAuthorizer, and the node no more rights than it needs. */
  readonly security?: DestinationSecurity
}

export interface Destination {
  readonly node: LockstepNode
  /** The Kafka cluster that the node joined; undefined if it is a cluster of its own. */
  readonly joined: KafkaCluster | undefined
  /** With which clients may do everything; undefined = they need not log in. */
  readonly login: ClientSecurity | undefined
  readonly close: () => Promise<void>
}

const isShape = (text: string): text is DestinationShape => text in shapes

/** What LOCKSTEP_DESTINATION_VERSION, _SHAPE and _SECURITY say; undefined without the first: a standalone node. */
export function chosenDestination(): DestinationPlan | undefined {
  const version = destinationVersion()
  const shape = process.env['LOCKSTEP_DESTINATION_SHAPE'] ?? '1+2'
  if (!isShape(shape)) throw new Error(`LOCKSTEP_DESTINATION_SHAPE is one of ${Object.keys(shapes).join(', ')}`)
  const security = process.env['LOCKSTEP_DESTINATION_SECURITY'] ?? 'PLAINTEXT'
  if (security !== 'PLAINTEXT' && security !== 'SASL_SSL')
    throw new Error('LOCKSTEP_DESTINATION_SECURITY is PLAINTEXT or SASL_SSL')
  return version === undefined ? undefined : { version, shape, security }
}

/** The librdkafka 2.0 of kcat sends a nonce twice when it logs in with SCRAM; Kafka refuses that since CVE-2024-56128. */
export const kcatMayLogIn = (): boolean => chosenDestination()?.security !== 'SASL_SSL'

/**
 * Topics of the joined cluster have a replica on every Kafka broker, so that each can be compared. `properties`: of the node, and of
 * the brokers beside it.
 */
export async function startDestination(
  plan: DestinationPlan | undefined,
  properties: Readonly<Record<string, string>> = {},
): Promise<Destination> {
  if (plan === undefined) {
    const node = await LockstepNode.start({ properties })
    return { node, joined: undefined, login: undefined, close: () => node.close() }
  }
  const opened = new Opened()
  try {
    const secured = plan.security === 'SASL_SSL' ? await opened.add(secureDestination()) : undefined
    const joined = await opened.add(startCluster(plan, secured, properties))
    const broker = joined.node(1)
    await secured?.grantNode(broker.address).catch(error => {
      throw new Error(`the node was not given its rights; broker 1 says:\n${broker.output}`, { cause: error })
    })
    const node = await opened.add(startJoinedNode(joined, { properties: { ...secured?.node, ...properties } }))
    // Ready to serve, it first makes the topic of the link state, or waits for it.
    await eventually(() => node.rest.call('GET', '/links'))
    return { node, joined, login: secured?.login, close: () => opened.close() }
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** For one scenario after the other: each begins without links and topics, and what runs outlives it. */
export async function borrowed(starting: Promise<Destination>): Promise<Destination> {
  const destination = await starting
  await removeAll(destination.node)
  return { ...destination, close: async () => {} }
}

async function removeAll({ rest }: LockstepNode): Promise<void> {
  const { data: links } = (await rest.call('GET', '/links')) as { data: { link_name: string }[] }
  for (const { link_name: link } of links) await rest.call('DELETE', `/links/${link}?force=true`)
  const topicsLeft = async () => {
    const { data } = (await rest.call('GET', '/topics')) as { data: { topic_name: string }[] }
    return data.map(({ topic_name: topic }) => topic).filter(topic => !topic.startsWith('__'))
  }
  for (const topic of await topicsLeft()) await rest.call('DELETE', `/topics/${topic}`)
  await eventually(async () => deepStrictEqual(await topicsLeft(), []))
}

function startCluster(
  { version, shape = '1+2' }: DestinationPlan,
  secured: SecuredDestination | undefined,
  properties: Readonly<Record<string, string>>,
): Promise<KafkaCluster> {
  return KafkaCluster.start({
    version,
    brokers: shapes[shape],
    properties: {
      ...patientQuorum,
      ...secured?.brokers.properties,
      'default.replication.factor': shape === '1+2' ? '2' : '3',
      ...properties,
    },
    format: secured?.brokers.format ?? [],
  })
}
