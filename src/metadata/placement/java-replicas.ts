/** Spreads replicas over Kafka's own brokers as their controller does: over racks first, then over the brokers of a rack. */
import type { Random } from '../../core/random.ts'
import type { BrokerImage } from '../metadata-image.ts'

/** What the spreading looks at. */
export type PlaceableBroker = Pick<BrokerImage, 'id' | 'rack'>

export interface JavaReplicasWanted {
  /** Partitions. */
  readonly count: number
  /** At most the number of brokers, at least 1. */
  readonly replicationFactor: number
  /** Where a partition's replicas are already, by partition: not chosen again, and their racks count as taken. */
  readonly present?: readonly (readonly PlaceableBroker[])[]
  readonly random: Random
}

/**
 * Broker ids per partition. Racks take turns, the next partition begins in the next rack, and a rack is used twice by a partition
 * only when it has been in all of them. Within a rack the broker is taken that has got the least so far, for first places (whoever
 * is first leads after a promote) the one with the fewest of those.
 */
export function placeJavaReplicas(brokers: readonly PlaceableBroker[], wanted: JavaReplicasWanted): number[][] {
  const { count, replicationFactor, present = [], random } = wanted
  const racks = [...Map.groupBy(shuffled(brokers, random), ({ rack }) => rack).values()]
  const load = new Map(brokers.map(({ id }) => [id, { firsts: 0, replicas: 0 }]))
  const loadOf = (id: number) => load.get(id) ?? { firsts: 0, replicas: 0 }
  const turn = Math.floor(random() * racks.length)
  return Array.from({ length: count }, (_, partition) => {
    const taken = new Set((present[partition] ?? []).map(({ id }) => id))
    const uses = new Map<string | null, number>()
    for (const { rack } of present[partition] ?? []) uses.set(rack, (uses.get(rack) ?? 0) + 1)
    const chosen: number[] = []
    while (chosen.length < replicationFactor) {
      const first = chosen.length === 0
      const candidates = rotated(racks, turn + partition).flatMap(rack => {
        const free = rack.filter(({ id }) => !taken.has(id))
        return least(free, ({ id }) => (first ? [loadOf(id).firsts, loadOf(id).replicas] : [loadOf(id).replicas])) ?? []
      })
      const next = least(candidates, ({ rack }) => [uses.get(rack) ?? 0])
      if (next === undefined) break
      chosen.push(next.id)
      taken.add(next.id)
      uses.set(next.rack, (uses.get(next.rack) ?? 0) + 1)
      const counted = loadOf(next.id)
      load.set(next.id, { firsts: counted.firsts + (first ? 1 : 0), replicas: counted.replicas + 1 })
    }
    return chosen
  })
}

const rotated = <T>(items: readonly T[], by: number): T[] => {
  const start = items.length === 0 ? 0 : by % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}

/** The item with the smallest numbers, compared from the left; of equals the first. */
export function least<T>(items: readonly T[], rank: (item: T) => readonly number[]): T | undefined {
  let best: { readonly item: T; readonly rank: readonly number[] } | undefined
  for (const item of items) {
    const own = rank(item)
    if (best === undefined || isBelow(own, best.rank)) best = { item, rank: own }
  }
  return best?.item
}

function isBelow(a: readonly number[], b: readonly number[]): boolean {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? 0
    if (value !== other) return value < other
  }
  return false
}

export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const mixed = [...items]
  for (let index = mixed.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1))
    const [a, b] = [mixed[index], mixed[other]]
    if (a === undefined || b === undefined) continue
    mixed[index] = b
    mixed[other] = a
  }
  return mixed
}
