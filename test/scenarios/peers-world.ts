// Two standalone Lockstep nodes with a bidirectional link between them, and the Java driver; used by the suites of restores.
import { JavaDriver } from '../java/driver.ts'
import type { KafkaVersion } from '../kafka/jars.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { MirrorLink } from './mirror-link.ts'
import { TopicSide } from './topic-side.ts'

/** One of the two. */
export interface Peer {
  readonly node: LockstepNode
  readonly side: TopicSide
  /** Its half of the link. */
  readonly link: MirrorLink
}

export interface PeersWorld {
  readonly east: Peer
  readonly west: Peer
  readonly close: () => Promise<void>
}

/** The link of both is named `twin`; west creates its half first. */
export async function startPeersWorld(
  version: KafkaVersion,
  configs: Readonly<Record<string, string>> = {},
): Promise<PeersWorld> {
  const opened = new Opened()
  try {
    const [driver, east, west] = await opened.all<[JavaDriver, LockstepNode, LockstepNode]>([
      JavaDriver.start({ version }),
      LockstepNode.start(),
      LockstepNode.start(),
    ])
    const linked = { west: await halfOf(west, east, configs), east: await halfOf(east, west, configs) }
    const peer = (node: LockstepNode, link: MirrorLink): Peer => ({ node, link, side: new TopicSide(driver, node) })
    return { east: peer(east, linked.east), west: peer(west, linked.west), close: () => opened.close() }
  } catch (error) {
    await opened.close()
    throw error
  }
}

const halfOf = (
  node: LockstepNode,
  { bootstrap, clusterId }: LockstepNode,
  configs: Readonly<Record<string, string>>,
) => MirrorLink.createSide(node, 'twin', { bootstrap, clusterId, configs })
