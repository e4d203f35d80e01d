/** When the link engine of a joined node begins: once this node leads the state topic, since the links are coordinated by its leader. Called by the start. */

import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { stateTopicName } from '../../destination/state-topic.ts'
import type { WriteStatus } from '../../link/ports.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { type MetadataImage, topicByName } from '../../metadata/metadata-image.ts'

/** Until then the engine is not ready, and says so. */
export async function startEngineWhenLed(of: {
  readonly engine: { start(): Promise<void> }
  readonly controller: Pick<Controller, 'subscribe'>
  readonly nodeId: number
  readonly logger: Logger
}): Promise<void> {
  const { engine, controller, nodeId, logger } = of
  let begun = false
  await controller.subscribe({
    name: 'start of the links',
    onImage: image => {
      if (begun || leaderOfState(image) !== nodeId) return
      begun = true
      // Not awaited: it issues commands of the controller.
      engine.start().catch(error => logger.error('the link engine did not start', { reason: messageOf(error) }))
    },
  })
}

/** A cluster without state topic has no mirrors: everything may be written. */
export const joinedWriteStatus =
  (of: {
    readonly engine: { writeStatus(topicId: string, topic: string): WriteStatus }
    readonly controller: Pick<Controller, 'image'>
  }) =>
  (topicId: string, topic: string): WriteStatus =>
    of.controller.image.topicIds.has(stateTopicName) ? of.engine.writeStatus(topicId, topic) : { kind: 'writable' }

const leaderOfState = (image: MetadataImage): number => topicByName(image, stateTopicName)?.partitions[0]?.leader ?? -1
