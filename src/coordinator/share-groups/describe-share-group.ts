/** ShareGroupDescribe: a share group as administrators see it; the group coordinator calls it. */
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { assignmentOf, type DescribedAssignment } from '../consumer-groups/describe-group.ts'
import type { ShareGroup } from './share-group.ts'

export interface DescribedShareMember {
  readonly memberId: string
  readonly rackId: string | null
  readonly memberEpoch: number
  readonly clientId: string
  readonly clientHost: string
  readonly subscribedTopicNames: string[]
  readonly assignment: DescribedAssignment
}

export interface DescribedShareGroup {
  readonly groupId: string
  readonly groupState: string
  readonly groupEpoch: number
  readonly assignmentEpoch: number
  readonly assignorName: string
  readonly members: readonly DescribedShareMember[]
}

export const describeShareGroup = (group: ShareGroup, image: MetadataImage): DescribedShareGroup => ({
  groupId: group.id,
  groupState: group.state,
  groupEpoch: group.epoch,
  assignmentEpoch: group.targetEpoch,
  assignorName: 'simple',
  members: [...group.members.values()].map(member => ({
    memberId: member.id,
    rackId: member.rackId,
    memberEpoch: member.epoch,
    clientId: member.clientId,
    clientHost: member.clientHost,
    subscribedTopicNames: [...member.topics],
    assignment: assignmentOf(member.assigned, image),
  })),
})
