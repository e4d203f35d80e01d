/** The life of a joined Lockstep node as a process of its own, in complete Apache Kafka 4.3.1: started, restarted, stopped, hung, and seen by nobody else's clients and tools. */
import { deepStrictEqual } from 'node:assert/strict'
import { after, test } from 'node:test'
import { KafkaCluster } from '../kafka/cluster.ts'
import { startJoinedNode } from '../kafka/joined-node.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'

const skip = skipWithout('java')
const opened = new Opened()
after(() => opened.close())

/** Nothing here waits for a session to end, and a busy machine must not end one. */
const longSession = { 'broker.session.timeout.ms': '30000' }

interface Stage {
  readonly cluster: KafkaCluster
  readonly node: LockstepNode
}

let shared: Promise<Stage> | undefined

/** One cluster and one node for all tests of this suite. */
function stage(): Promise<Stage> {
  shared ??= prepare()
  return shared
}

async function prepare(): Promise<Stage> {
  const cluster = await opened.add(KafkaCluster.start({ version: '4.3.1', brokers: 2, properties: longSession }))
  return { cluster, node: await opened.add(startJoinedNode(cluster)) }
}

test('a node that has joined tells what it is', { skip }, async () => {
  const { node } = await stage()
  const { body } = await node.rest.request('GET', `/kafka/v3/clusters/${node.clusterId}/nodes`)
  const { data } = body as { data: Record<string, unknown>[] }
  deepStrictEqual(
    data.map(({ node_id, mode, cordoned, health }) => ({ node_id, mode, cordoned, health })),
    [{ node_id: 1001, mode: 'JOINED', cordoned: true, health: 'HEALTHY' }],
  )
})
