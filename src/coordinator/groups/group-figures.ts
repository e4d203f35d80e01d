/** How many groups and members a node coordinates, by type and state, and what they did; the group coordinator tells it to the metrics. */
import type { Loaded } from '../runtime/state-partitions.ts'
import type { GroupShard } from './group-shard.ts'

/** Counters since the start, and gauges. */
export interface GroupFigures {
  /** Combinations of which there are none are left out. */
  readonly groups: readonly { readonly type: string; readonly state: string; readonly count: number }[]
  /** By type of the group. */
  readonly members: ReadonlyMap<string, number>
  readonly offsetCommits: number
}

export function figuresOf(shards: Iterable<Loaded<GroupShard>>): Omit<GroupFigures, 'offsetCommits'> {
  const groups = [...shards].flatMap(({ state }) => [
    ...[...state.groups.values()].map(group => ({ type: 'classic', group })),
    ...state.consumers.all().map(group => ({ type: 'consumer', group })),
    ...state.shares.all().map(group => ({ type: 'share', group })),
  ])
  const counts = new Map<string, { type: string; state: string; count: number }>()
  const members = new Map(['classic', 'consumer', 'share'].map(type => [type, 0]))
  for (const { type, group } of groups) {
    const { state } = group
    const count = (counts.get(`${type} ${state}`)?.count ?? 0) + 1
    counts.set(`${type} ${state}`, { type, state, count })
    members.set(type, (members.get(type) ?? 0) + group.members.size)
  }
  return { groups: [...counts.values()], members }
}
