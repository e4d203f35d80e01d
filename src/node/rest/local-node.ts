/** This node in `GET /nodes`; the only one, as long as it is standalone. */
import type { LinkEngine } from '../../link/engine-api.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import type { NodeView } from '../../rest/cluster-ports.ts'
import type { Health } from '../../rest/ports.ts'

export interface LocalNodeOptions {
  readonly nodeId: number
  readonly version: string
  readonly controller: Pick<Controller, 'image'>
  readonly engine: Pick<LinkEngine, 'ready'> & {
    writeStatus(topicId: string, topic: string): { readonly kind: string }
  }
  readonly health: Health
  /** Where REST answers; known once it listens. */
  readonly restUrl: () => string
}

export function localNode(of: LocalNodeOptions): NodeView {
  const { image } = of.controller
  let partitionsLed = 0
  let mirrorPartitionsLed = 0
  for (const { id, name, partitions } of image.topics.values()) {
    const led = partitions.filter(({ leader }) => leader === of.nodeId).length
    partitionsLed += led
    if (of.engine.writeStatus(id, name).kind === 'mirror') mirrorPartitionsLed += led
  }
  const reasons = of.health.notReadyReasons()
  return {
    nodeId: of.nodeId,
    mode: 'STANDALONE',
    version: of.version,
    restUrl: of.restUrl(),
    partitionsLed,
    mirrorPartitionsLed,
    cordoned: false,
    health: reasons.length === 0 ? 'HEALTHY' : 'STARTING',
    healthMessage: reasons.length === 0 ? null : reasons.join('; '),
    linkCoordinator: of.engine.ready,
  }
}
