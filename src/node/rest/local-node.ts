/** What a node says of itself in `GET /nodes`; both kinds of node tell it. */
import type { LinkEngine } from '../../link/engine-api.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import type { NodeView } from '../../rest/cluster-ports.ts'

export interface LedBy {
  readonly nodeId: number
  readonly image: MetadataImage
  readonly engine: {
    writeStatus(topicId: string, topic: string): { readonly kind: string }
  }
}

/** A node whose links others cannot read of yet is not ready: the other half of a bidirectional link would be refused. */
export const statusReasons = (engine: Pick<LinkEngine, 'statusIsDue'>): string[] =>
  engine.statusIsDue() ? ['other clusters cannot read of the links here yet (__lockstep_status is being written)'] : []

/** Partitions that a node leads, and how many of them are mirrors. */
export function partitionsLedBy({
  nodeId,
  image,
  engine,
}: LedBy): Pick<NodeView, 'partitionsLed' | 'mirrorPartitionsLed'> {
  let partitionsLed = 0
  let mirrorPartitionsLed = 0
  for (const { id, name, partitions } of image.topics.values()) {
    const led = partitions.filter(({ leader }) => leader === nodeId).length
    if (led === 0) continue
    partitionsLed += led
    if (engine.writeStatus(id, name).kind === 'mirror') mirrorPartitionsLed += led
  }
  return { partitionsLed, mirrorPartitionsLed }
}

/** The only node of its cluster. */
export function standaloneNode(
  of: LedBy & {
    readonly engine: Pick<LinkEngine, 'ready'>
    readonly version: string
    /** Where REST answers. */
    readonly restUrl: string
    /** Why it cannot answer for links yet; empty = it can. */
    readonly notReady: readonly string[]
  },
): NodeView {
  const { nodeId, version, restUrl, notReady } = of
  return {
    nodeId,
    mode: 'STANDALONE',
    version,
    restUrl,
    ...partitionsLedBy(of),
    cordoned: false,
    health: notReady.length === 0 ? 'HEALTHY' : 'STARTING',
    healthMessage: notReady.length === 0 ? null : notReady.join('; '),
    linkCoordinator: of.engine.ready,
  }
}
