/** Two linked clusters with mirrors that are reversed, and words about them; for tests of reverses. */
import type { AlterMirrorRow, MirrorVerb } from '../engine-api.ts'
import { batchAt, mirrorRequest } from './engine-world.ts'
import { type PeerCluster, PeerWorld } from './peer-clusters.ts'

type Options = Partial<Parameters<PeerCluster['engine']['alterMirrors']>[2]>

export const ask = (side: PeerCluster, verb: MirrorVerb, options: Options = {}) =>
  side.engine.alterMirrors('twin', verb, { selection: { names: ['orders'] }, validateOnly: false, ...options })

/** Both sides go on while the answer is waited for. */
export async function answered(
  world: PeerWorld,
  answer: Promise<AlterMirrorRow[]>,
): Promise<AlterMirrorRow | undefined> {
  let isThere = false
  const settled = answer.finally(() => {
    isThere = true
  })
  settled.catch(() => {})
  for (let round = 0; round < 60 && !isThere; round++) await world.pass(250, 250)
  const [row] = await settled
  return row
}

/** West mirrors these topics of east, three records each. */
export async function mirroredPeers(topics: readonly string[] = ['orders']): Promise<PeerWorld> {
  const world = new PeerWorld()
  await world.start()
  for (const topic of topics) {
    world.east.cluster.addTopic(topic, 1)
    world.east.write(topic, batchAt(0, 3))
    await world.west.engine.createMirror('twin', mirrorRequest(topic))
  }
  await world.pass(1000)
  return world
}

/** Of west and east. */
export const states = ({ west, east }: PeerWorld, topic = 'orders') => [west.status(topic), east.status(topic)]
export const writable = ({ west, east }: PeerWorld, topic = 'orders') => [
  west.isWritable(topic),
  east.isWritable(topic),
]

/** A transaction that nobody ends. */
export const openTransaction = (world: PeerWorld) =>
  world.east.write('orders', batchAt(3, 1, { producerId: 7n, transactional: true }))
