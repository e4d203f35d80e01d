/** How many groups and members a node coordinates, and what they did; the group coordinator tells it to the metrics. */
import type { Loaded } from '../runtime/state-partitions.ts'
import type { GroupShard } from './group-shard.ts'

/** Counters since the start, and gauges. */
export interface GroupFigures {
  readonly groups: number
  readonly members: number
  readonly offsetCommits: number
}

export function figuresOf(shards: Iterable<Loaded<GroupShard>>): Omit<GroupFigures, 'offsetCommits'> {
  const groups = [...shards].flatMap(({ state }) => [...state.groups.values(), ...state.consumers.all()])
  return { groups: groups.length, members: groups.reduce((sum, group) => sum + group.members.size, 0) }
}
