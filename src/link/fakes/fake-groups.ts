/** Groups of a cluster in memory: what they have, and whether they have members; FakeCluster keeps them. */
import type { DestinationGroup, DestinationShareGroups, GroupCommit, GroupOffset } from '../ports.ts'
import type { CrashingProcess } from './crashing-process.ts'

/** By group: offsets by topic/partition, and whether members hold the group. */
export type FakeGroups = Map<string, { offsets: Map<string, GroupOffset>; hasMembers: boolean }>

export function readOffsets(groups: FakeGroups, groupId: string): DestinationGroup {
  const group = groups.get(groupId)
  return { kind: 'offsets', offsets: [...(group?.offsets.values() ?? [])], hasMembers: group?.hasMembers ?? false }
}

export function writeOffsets(groups: FakeGroups, groupId: string, offsets: readonly GroupOffset[]): GroupCommit {
  const group = groups.get(groupId) ?? { offsets: new Map(), hasMembers: false }
  if (group.hasMembers) return { kind: 'in-use' }
  groups.set(groupId, group)
  for (const offset of offsets) group.offsets.set(`${offset.topic}/${offset.partition}`, offset)
  return { kind: 'committed' }
}

export const fakeShareGroups = (groups: FakeGroups, process: CrashingProcess): DestinationShareGroups => ({
  offsets: async groupId => readOffsets(groups, groupId),
  setOffsets: (groupId, offsets) =>
    process.effect('set share group offsets', () => writeOffsets(groups, groupId, offsets)),
})
