// Where mirrors of a suite live, as the environment says: a standalone node, or one that has joined a real Kafka cluster of some version and shape.
import { eventually } from '../eventually.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { destinationVersion, type KafkaVersion } from '../kafka/jars.ts'
import { startJoinedNode } from '../kafka/joined-node.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'

const shapes = { '1+2': 2, '1+3': 3, combined: { combined: 3 } } as const

/** Controllers that a busy machine keeps waiting must not vote each other out for it. */
const patientQuorum = {
  'controller.quorum.election.timeout.ms': '10000',
  'controller.quorum.fetch.timeout.ms': '20000',
  'controller.quorum.request.timeout.ms': '20000',
}

/** Nodes of a cluster that is joined: a controller and brokers, or three nodes that are both. */
export type DestinationShape = keyof typeof shapes

/** The cluster that a node joins. */
export interface DestinationPlan {
  readonly version: KafkaVersion
  /** Default `1+2`, the smallest that has something to replicate to. */
  readonly shape?: DestinationShape
}

export interface Destination {
  readonly node: LockstepNode
  /** The Kafka cluster that the node joined; undefined if it is a cluster of its own. */
  readonly joined: KafkaCluster | undefined
  readonly close: () => Promise<void>
}

const isShape = (text: string): text is DestinationShape => text in shapes

/** What LOCKSTEP_DESTINATION_VERSION and LOCKSTEP_DESTINATION_SHAPE say; undefined without the first: a standalone node. */
export function chosenDestination(): DestinationPlan | undefined {
  const version = destinationVersion()
  const shape = process.env['LOCKSTEP_DESTINATION_SHAPE'] ?? '1+2'
  if (!isShape(shape)) throw new Error(`LOCKSTEP_DESTINATION_SHAPE is one of ${Object.keys(shapes).join(', ')}`)
  return version === undefined ? undefined : { version, shape }
}

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
    return { node, joined: undefined, close: () => node.close() }
  }
  const { version, shape = '1+2' } = plan
  const opened = new Opened()
  try {
    const replicas = shape === '1+2' ? '2' : '3'
    const joined = await opened.add(
      KafkaCluster.start({
        version,
        brokers: shapes[shape],
        properties: { ...patientQuorum, 'default.replication.factor': replicas, ...properties },
      }),
    )
    const node = await opened.add(startJoinedNode(joined, { properties }))
    // Ready to serve, it first makes the topic of the link state, or waits for it.
    await eventually(() => node.rest.call('GET', '/links'))
    return { node, joined, close: () => opened.close() }
  } catch (error) {
    await opened.close()
    throw error
  }
}
