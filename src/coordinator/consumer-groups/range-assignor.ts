/** The assignor `range`: of each topic every subscriber gets a range of partitions, by the order of members, so that topics with as many partitions are split alike. */
import type { Uuid } from '../../core/uuid.ts'
import type { AssignedMember } from './assigned-member.ts'
import { addPartition, type Partitions } from './partition-sets.ts'

export function assignRanges(
  members: readonly AssignedMember[],
  partitionCount: (topicId: Uuid) => number,
): Map<string, Partitions> {
  const sorted = [...members].sort(byInstanceThenId)
  const subscribers = new Map<Uuid, AssignedMember[]>()
  for (const member of sorted)
    for (const topicId of member.topics) {
      const present = subscribers.get(topicId)
      if (present) present.push(member)
      else subscribers.set(topicId, [member])
    }
  const assigned = new Map(sorted.map(({ id }) => [id, new Map<Uuid, Set<number>>()]))
  for (const [topicId, topicMembers] of subscribers) {
    const count = partitionCount(topicId)
    const least = Math.floor(count / topicMembers.length)
    const extra = count % topicMembers.length
    let partition = 0
    topicMembers.forEach(({ id }, index) => {
      const to = assigned.get(id)
      const end = partition + least + (index < extra ? 1 : 0)
      for (; to && partition < end; partition++) addPartition(to, topicId, partition)
    })
  }
  return assigned
}

/** Static members first, by their instance ids: those outlive a restart. */
function byInstanceThenId(a: AssignedMember, b: AssignedMember): number {
  if (a.instanceId !== null && b.instanceId !== null) return compare(a.instanceId, b.instanceId)
  if (a.instanceId !== null) return -1
  if (b.instanceId !== null) return 1
  return compare(a.id, b.id)
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
