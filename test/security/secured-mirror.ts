// A mirror on a node with the least rights in a secured cluster, and its logs on every Kafka broker; the suite of joined security stands on it.
import { ok } from 'node:assert/strict'
import { eventually } from '../eventually.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { assertEqualBatches, waitUntilInStep } from '../scenarios/equality.ts'
import { dumpLog } from '../scenarios/logs.ts'
import { MirrorLink } from '../scenarios/mirror-link.ts'
import { TopicSide } from '../scenarios/topic-side.ts'
import { allow, CLUSTER, type SecuredCluster } from './secured-cluster.ts'

/** Of one partition. */
export const TOPIC = 'mirrors.orders'
export const RECORDS = 30

/** What the documentation says that the node needs, but the two rights without which nothing works. */
export const LEAST_RIGHTS = [
  ...allow('lockstep', CLUSTER, 'DESCRIBE', 'IDEMPOTENT_WRITE'),
  ...['mirrors.', '__lockstep'].flatMap(prefix =>
    allow(
      'lockstep',
      ['TOPIC', prefix, 'PREFIXED'],
      ...['CREATE', 'ALTER_CONFIGS', 'ALTER', 'DESCRIBE', 'DESCRIBE_CONFIGS', 'READ', 'DELETE'],
    ),
  ),
  ...allow('lockstep', ['TOPIC', '__lockstep', 'PREFIXED'], 'WRITE'),
  ...allow('lockstep', ['GROUP', 'synced', 'PREFIXED'], 'READ'),
  ...allow('lockstep', ['GROUP', '__lockstep'], 'DESCRIBE'),
  ...allow('lockstep', ['TRANSACTIONAL_ID', '__lockstep'], 'DESCRIBE'),
]

export interface SecuredMirror {
  readonly node: LockstepNode
  readonly link: MirrorLink
  readonly there: TopicSide
  /** Through a Kafka broker, as its super user, with the logs of each broker. */
  readonly replicas: readonly TopicSide[]
}

/** A node with the least rights, and a mirror on it. */
export async function startSecuredMirror(secured: SecuredCluster): Promise<SecuredMirror> {
  const { cluster, java, source, loginOf, join } = secured
  const node = await join('lockstep')
  const there = new TopicSide(java, source)
  const login = loginOf('admin')
  const { address: bootstrap } = cluster.node(1)
  const replicas = cluster.brokers.map(({ dataDirectory }) => new TopicSide(java, { bootstrap, dataDirectory, login }))
  await there.createTopic(TOPIC, { partitions: 1 })
  await there.produce(TOPIC, { generate: { count: RECORDS } })
  const configs = {
    'consumer.offset.sync.enable': 'true',
    'consumer.offset.sync.ms': '1000',
    'consumer.offset.group.filters': JSON.stringify({
      // It has a right to the first of them.
      groupFilters: ['synced', 'private'].map(name => ({ name, patternType: 'PREFIXED', filterType: 'INCLUDE' })),
    }),
  }
  const link = await eventually(() => MirrorLink.create(node, 'from-source', { ...source, configs }))
  await link.mirror(TOPIC)
  return { node, link, there, replicas }
}

/** The logs of all brokers hold the batches of the source. */
export async function assertOnEveryBroker({ there, replicas }: SecuredMirror): Promise<void> {
  const [here] = replicas
  ok(here)
  await waitUntilInStep({ source: there, mirror: here }, TOPIC)
  const expected = await dumpLog(there, TOPIC)
  for (const replica of replicas)
    await eventually(async () => assertEqualBatches(await dumpLog(replica, TOPIC), expected, replica.dataDirectory))
}

/** Clients read in `__lockstep_status` what is mirrored. */
export const isPublished = ({ replicas: [broker] }: SecuredMirror): Promise<void> =>
  eventually(async () => {
    const published = await broker?.consume('__lockstep_status', { content: true })
    ok(JSON.stringify(published).includes(TOPIC))
  })
