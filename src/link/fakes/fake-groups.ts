/** Groups of clusters in memory: what they have, and whether they have members; FakeCluster and FakeSource keep them. */
import type { DestinationShareGroups, SourceGroups } from '../group-ports.ts'
import type { DestinationGroup, GroupCommit, GroupOffset, SourceGroupOffsets } from '../ports.ts'
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
  groupIds: async () => [...groups.keys()],
  offsets: async groupId => readOffsets(groups, groupId),
  setOffsets: (groupId, offsets) =>
    process.effect('set share group offsets', () => writeOffsets(groups, groupId, offsets)),
})

/** Offsets by group and topic/partition, with the epochs that were committed with them if there are any. */
export type PlacedOffsets = Map<string, Map<string, number | { readonly offset: number; readonly leaderEpoch: number }>>

/** The groups of a source; `ask` throws where it cannot be reached. */
export const sourceGroups = (
  source: { readonly groups: PlacedOffsets; readonly shareGroups: PlacedOffsets | undefined },
  ask: () => void,
): SourceGroups => ({
  listGroups: async () => {
    ask()
    const consumers = [...source.groups.keys()].map(groupId => ({ groupId, protocolType: 'consumer', type: 'classic' }))
    const shares = [...(source.shareGroups?.keys() ?? [])].map(groupId => {
      return { groupId, protocolType: 'share', type: 'share' }
    })
    return [...consumers, ...shares]
  },
  groupOffsets: async groupIds => {
    ask()
    return offsetsOf(source.groups, groupIds, groupId => `of ${groupId}`)
  },
  shareGroupOffsets: async groupIds => {
    ask()
    return source.shareGroups && offsetsOf(source.shareGroups, groupIds, () => '')
  },
})

function offsetsOf(
  groups: PlacedOffsets,
  groupIds: readonly string[],
  metadataOf: (groupId: string) => string,
): SourceGroupOffsets {
  const offsets = groupIds.map(groupId => {
    const committed = [...(groups.get(groupId) ?? [])].map(([place, offset]) => {
      const [topic = '', partition = ''] = place.split('/')
      const value = typeof offset === 'number' ? { offset } : offset
      return { topic, partition: Number(partition), ...value, metadata: metadataOf(groupId) }
    })
    return [groupId, committed] as const
  })
  return { offsets: new Map(offsets), failures: new Map() }
}
