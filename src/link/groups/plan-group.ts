/** Which offsets of one group are written here, and which are somebody else's: pure decisions of the group offset sync (semantics §5). */
import type { GroupOffset } from '../ports.ts'
import type { WrittenOffset } from '../state-records/group-offsets-record.ts'

/** What a group should have here for one partition of a mirror. */
export interface WantedOffset extends GroupOffset {
  /** As committed at the source; `offset` is within what the mirror has. */
  readonly sourceOffset: number
  /** It may be nothing but what the other half of the link wrote there itself, with what was here before. */
  readonly mayBePeers?: boolean
}

export interface GroupPlan {
  readonly writes: readonly WantedOffset[]
  /** Values here that this link did not write, and what they are. */
  readonly conflicts: readonly (WantedOffset & { readonly here: number })[]
  /** Not taken, since it may come from here. */
  readonly peers: readonly WantedOffset[]
  /** In step already, also where somebody else committed the same: that stays his. */
  readonly equal: readonly WantedOffset[]
}

export interface GroupKnowledge {
  readonly wanted: readonly WantedOffset[]
  readonly here: readonly GroupOffset[]
  /** By this link, durably. */
  readonly written: readonly WrittenOffset[]
  /** Is it known that what the record says was committed? Otherwise what it replaced may still be here. */
  isCommitted(written: WrittenOffset): boolean
  /** An equal offset that is ours is written again, or it would expire. */
  isStale(place: { readonly topic: string; readonly partition: number }): boolean
}

export const placeText = ({ topic, partition }: { readonly topic: string; readonly partition: number }): string =>
  `${topic}/${partition}`

/** Only what this link wrote last is overwritten, or nothing at all: clients that are no members commit too. */
export function planGroup({ wanted, here, written, isCommitted, isStale }: GroupKnowledge): GroupPlan {
  const present = new Map(here.map(offset => [placeText(offset), offset.offset]))
  const ours = new Map(written.map(offset => [placeText(offset), offset]))
  const plan = {
    writes: [] as WantedOffset[],
    conflicts: [] as GroupPlan['conflicts'][number][],
    peers: [] as WantedOffset[],
    equal: [] as WantedOffset[],
  }
  for (const offset of wanted) {
    const value = present.get(placeText(offset))
    const own = ours.get(placeText(offset))
    if (value === offset.offset) plan[own?.offset === value && isStale(offset) ? 'writes' : 'equal'].push(offset)
    else if (offset.mayBePeers) plan.peers.push(offset)
    else if (value === undefined) plan.writes.push(offset)
    else if (own && (value === own.offset || (value === own.previousOffset && !isCommitted(own))))
      plan.writes.push(offset)
    else plan.conflicts.push({ ...offset, here: value })
  }
  return plan
}

/** What the record says once `plan` is carried out; the same array if nothing changes. To be durable before the commit. */
export function recordOf(plan: GroupPlan, { here, written }: GroupKnowledge): readonly WrittenOffset[] {
  const present = new Map(here.map(offset => [placeText(offset), offset.offset]))
  const next = new Map(written.map(offset => [placeText(offset), offset]))
  let changed = false
  for (const offset of plan.writes) {
    const key = placeText(offset)
    if (next.get(key)?.offset === offset.offset) continue
    const { topic, partition } = offset
    next.set(key, { topic, partition, offset: offset.offset, previousOffset: present.get(key) ?? -1 })
    changed = true
  }
  return changed ? [...next.values()] : written
}

/** A committed offset, held within what the mirror has: never beyond its high watermark, never before its start. */
export function clampedOffset(
  committed: GroupOffset,
  log: { readonly logStartOffset: number; readonly highWatermark: number },
): WantedOffset {
  const offset = Math.max(log.logStartOffset, Math.min(committed.offset, log.highWatermark))
  const isClamped = offset !== committed.offset
  return { ...committed, offset, metadata: isClamped ? '' : committed.metadata, sourceOffset: committed.offset }
}
