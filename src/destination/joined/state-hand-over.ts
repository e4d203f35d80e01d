/** Makes another Lockstep node the leader of `__lockstep_state`, where this one leads it and cannot be the link coordinator. Called by the state topic. */
import type { ClusterCommands } from '../../metadata/cluster-commands.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { lockstepNode } from '../../metadata/lockstep-nodes.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import type { OwnTopic } from './own-topic.ts'

/** Resolves to whether another node was asked for; false where none is in sync, or this node does not lead it. Rejects with the controller's refusal. */
export async function handOverState(of: {
  readonly brokerId: number
  readonly state: Pick<OwnTopic, 'name' | 'partition'>
  readonly controller: Pick<Controller, 'image'> & {
    readonly cluster: Pick<ClusterCommands, 'alterPartitionReassignments' | 'electLeaders'>
  }
}): Promise<boolean> {
  const { brokerId, state, controller } = of
  const { partition } = state
  if (partition?.leader !== brokerId) return false
  const { replicas, isr, addingReplicas, removingReplicas } = partition
  const next = replicas.find(
    id => id !== brokerId && isr.includes(id) && lockstepNode(controller.image, id)?.isActive === true,
  )
  // A move that is under way ends first.
  if (next === undefined || addingReplicas.length > 0 || removingReplicas.length > 0) return false
  const order = [next, ...replicas.filter(id => id !== next && id !== brokerId), brokerId]
  const named = { topic: state.name, partition: 0 }
  const [moved] = await controller.cluster.alterPartitionReassignments([{ ...named, replicas: order }])
  if (moved && moved.errorCode !== ErrorCode.NONE) throw new Error(moved.errorMessage ?? errorName(moved.errorCode))
  const [elected] = await controller.cluster.electLeaders('preferred', [named])
  const code = elected?.errorCode ?? ErrorCode.NONE
  if (code !== ErrorCode.NONE && code !== ErrorCode.ELECTION_NOT_NEEDED)
    throw new Error(elected?.errorMessage ?? errorName(code))
  return true
}
