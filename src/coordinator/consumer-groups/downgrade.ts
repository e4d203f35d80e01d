/** A consumer group whose last member of the consumer protocol goes, as the classic group that the others make; ConsumerMembership calls it. */
import type { Uuid } from '../../core/uuid.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { ClassicGroup } from '../groups/classic-group.ts'
import { GroupMember } from '../groups/group-member.ts'
import { groupRecord } from '../groups/group-records.ts'
import { CONSUMER_PROTOCOL } from '../groups/subscribed-topics.ts'
import type { StateRecord } from '../runtime/load-records.ts'
import type { ConsumerGroup } from './consumer-group.ts'
import { type ConsumerMember, NEW_PROGRESS } from './consumer-member.ts'
import { writeAssignment } from './embedded-protocol.ts'
import { addPartition, eachPartition, type Partitions } from './partition-sets.ts'

/**
 * The group, stable, and its record. All members but `without` speak the classic protocol. Their assignments are what they have, not
 * their targets as in Kafka: what somebody has not given up must not look free, should the group change once more.
 */
export function downgraded(
  group: ConsumerGroup,
  { without, image, nowMs }: { without?: string; image: MetadataImage; nowMs: number },
): { readonly group: ClassicGroup; readonly record: StateRecord } {
  const classic = new ClassicGroup(group.id, { state: 'Stable', stateChangedMs: nowMs })
  classic.generation = group.epoch
  for (const member of group.members.values()) if (member.id !== without) classic.add(classicMember(member))
  classic.protocolName = classic.selectProtocol()
  classic.noteSubscriptions()
  for (const member of classic.members.values())
    member.assignment = writeAssignment(heldBy(group, member.id), image, member.metadata(classic.protocolName))
  const assignments = new Map([...classic.members.values()].map(({ id, assignment }) => [id, assignment]))
  return { group: classic, record: groupRecord(classic, assignments) }
}

function heldBy(group: ConsumerGroup, memberId: string): Partitions {
  const held = new Map<Uuid, Set<number>>()
  const { assigned, revoking } = group.members.get(memberId) ?? NEW_PROGRESS
  for (const partitions of [assigned, revoking])
    for (const [topicId, partition] of eachPartition(partitions)) addPartition(held, topicId, partition)
  return held
}

const classicMember = (member: ConsumerMember): GroupMember =>
  new GroupMember(member.id, {
    groupInstanceId: member.instanceId,
    clientId: member.clientId,
    clientHost: member.clientHost,
    rebalanceTimeoutMs: member.rebalanceTimeoutMs,
    sessionTimeoutMs: member.classic?.sessionTimeoutMs ?? member.rebalanceTimeoutMs,
    protocolType: CONSUMER_PROTOCOL,
    protocols: member.classic?.protocols ?? [],
  })
