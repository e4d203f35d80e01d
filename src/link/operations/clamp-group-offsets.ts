/**
 * When a mirror stops, no offset that its link wrote for a group lies beyond the log's end: the log may have lost data since, in a
 * crash of the machine or a truncation (semantics §3 failover). Called by stop-mirror.
 */
import { messageOf } from '../../core/errors.ts'
import type { LinkConfigs } from '../configs/link-configs.ts'
import { isSelectedFor, parseNameFilters } from '../configs/name-filters.ts'
import { groupPrefixOf } from '../configs/topic-rules.ts'
import { mapBounded } from '../coordination/bounded.ts'
import { patiently } from '../coordination/patience.ts'
import { consumerGroupKind, type GroupKind, shareGroupKind } from '../groups/group-kinds.ts'
import { clampedOffset, placeText, recordOf } from '../groups/plan-group.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { groupOffsetsStateRecord } from '../state-records/record-codec.ts'
import type { OperationContext } from './operation-context.ts'

/** Groups that are looked at at the same time. */
const parallel = 8

/** A group that has to be clamped and cannot be holds up a stop so long at most, all groups together. */
const patienceMs = 5000

type StoppedMirror = Pick<MirrorRecord, 'linkId' | 'mirrorTopic'>

/** Groups that the link does not sync now are left alone. What goes wrong with a group for longer than a moment is logged: a stop does not wait for it. */
export async function clampGroupOffsets(
  context: OperationContext,
  mirror: StoppedMirror,
  /** Index = partition; -1 = not known. */
  ends: readonly number[],
): Promise<void> {
  const { linkId, mirrorTopic: topic } = mirror
  const runtime = context.runtime(linkId)
  if (!runtime?.configs.must('consumer.offset.sync.enable')) return
  const groups = context.desired.groupsWrittenBy(linkId).filter(syncedGroups(runtime.configs))
  const { clock } = context
  const patience = { clock, untilMs: clock.monotonicMs() + patienceMs }
  await mapBounded(groups, parallel, async group => {
    const clamp = () => runtime.groupStates.turns.run(group, () => clampEither(context, mirror, { group, ends }))
    try {
      const partitions = await patiently(patience, clamp)
      if (partitions === 0) return
      context.logger.warn('offsets of a group beyond the end of a stopped mirror were set to it', {
        group,
        topic,
        partitions,
      })
    } catch (error) {
      const reason = messageOf(error)
      context.logger.warn('offsets of a group may lie beyond the end of a stopped mirror', { group, topic, reason })
    }
  })
}

/** Says of a group of this cluster whether the link syncs it. */
function syncedGroups(configs: LinkConfigs): (group: string) => boolean {
  const prefix = groupPrefixOf(configs)
  const filters = parseNameFilters(configs.must('consumer.offset.group.filters'), 'groupFilters')
  return group => group.startsWith(prefix) && isSelectedFor(filters, group.slice(prefix.length), 'LOCAL_MIRROR')
}

interface Clamp {
  readonly group: string
  readonly ends: readonly number[]
}

/** A group is of one kind; of another one it has no offsets. */
async function clampEither(context: OperationContext, mirror: StoppedMirror, clamp: Clamp): Promise<number> {
  let count = 0
  for (const kind of [consumerGroupKind, shareGroupKind])
    if (kind.missingHere(context.destination) === undefined)
      count += await clampGroup(context, mirror, { ...clamp, kind })
  return count
}

/** Resolves to the number of offsets that were set. Durable in the link's record before they are committed, as in every sync. */
async function clampGroup(
  { desired, destination, linkChanges }: OperationContext,
  { linkId, mirrorTopic }: StoppedMirror,
  { group, ends, kind }: Clamp & { readonly kind: GroupKind },
): Promise<number> {
  const written = desired.groupOffsets(linkId, group)
  const ours = new Map(written.map(offset => [placeText(offset), offset]))
  const endOf = ({ partition, offset }: { partition: number; offset: number }) => {
    const end = ends[partition] ?? -1
    return end < 0 ? offset : end
  }
  const mayBeBeyond = written.some(
    own => own.topic === mirrorTopic && Math.max(own.offset, own.previousOffset) > endOf(own),
  )
  if (!mayBeBeyond) return 0
  const found = await kind.here(destination, group)
  if (found.kind !== 'offsets') throw new Error(found.message)
  const writes = found.offsets
    .filter(here => {
      const own = ours.get(placeText(here))
      const isOurs = here.offset === own?.offset || here.offset === own?.previousOffset
      return here.topic === mirrorTopic && isOurs && here.offset > endOf(here)
    })
    .map(here => clampedOffset(here, { logStartOffset: 0, highWatermark: endOf(here) }))
  if (writes.length === 0) return 0
  const next = recordOf(
    { writes, conflicts: [], peers: [], equal: [] },
    {
      ...{ wanted: writes, here: found.offsets, written },
      isCommitted: () => false,
      isStale: () => false,
    },
  )
  await linkChanges.append(linkId, [groupOffsetsStateRecord({ linkId, group, written: next })])
  const outcome = await kind.write(destination, group, writes)
  if (outcome.kind !== 'committed') throw new Error(`the commit was refused: ${outcome.kind}`)
  return writes.length
}
