/** Removes a Lockstep node that has gone for good from the cluster (UnregisterBroker, key 64); REST asks for it on a node that stays. */
import type { Controller } from '../../metadata/controller-port.ts'
import { isActiveBroker } from '../../metadata/lockstep-nodes.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { joinedError } from './joined-errors.ts'

/** Rejects with NODE_ALIVE, NODE_HOLDS_PARTITIONS, CONTROLLER_REFUSED, or as the controller's commands do. */
export async function unregisterNode(controller: Pick<Controller, 'image' | 'cluster'>, node: number): Promise<void> {
  const { image } = controller
  const broker = image.brokers.get(node)
  if (broker && isActiveBroker(broker)) throw joinedError('NODE_ALIVE', { node })
  const held = partitionsOn(image, node)
  const [example] = held
  if (example !== undefined) throw joinedError('NODE_HOLDS_PARTITIONS', { node, count: held.length, example })
  const { errorCode } = await controller.cluster.unregisterBroker(node)
  if (errorCode === ErrorCode.NONE) return
  const error = errorName(errorCode)
  throw joinedError('CONTROLLER_REFUSED', { address: 'the active controller', api: 'UnregisterBroker', error })
}

const partitionsOn = (image: MetadataImage, node: number): string[] =>
  [...image.topics.values()].flatMap(({ name, partitions }) =>
    partitions.flatMap(({ replicas }, index) => (replicas.includes(node) ? [`${name}-${index}`] : [])),
  )
