/** Group offsets of a topic that becomes a mirror: none may lie beyond what is cut off, and from then on the link may overwrite them. Called by continue-restore and by reverses. */
import { messageOf } from '../../core/errors.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { LinkConfigs } from '../configs/link-configs.ts'
import { isSelectedFor, parseNameFilters } from '../configs/name-filters.ts'
import { mapBounded } from '../coordination/bounded.ts'
import { type Patience, patiently } from '../coordination/patience.ts'
import { consumerGroupKind, type GroupKind, shareGroupKind } from '../groups/group-kinds.ts'
import type { GroupOffset } from '../ports.ts'
import type { EngineParts } from '../runtime/engine-parts.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { groupOffsetsStateRecord } from '../state-records/record-codec.ts'

export interface SettledParts
  extends Pick<EngineParts, 'destination' | 'desired' | 'incidents' | 'linkChanges' | 'logger' | 'clock'> {
  runtime(linkId: Uuid): { readonly configs: LinkConfigs } | undefined
}

/** Groups that are looked at at the same time. */
const parallel = 8

/** Groups that are named where it is told what could not be set. */
const namedMax = 10

/** For so long, all groups together, a coordinator that loads or cannot be reached is asked again. */
const patienceMs = 10_000

/**
 * Resolves to what there is to tell of those that cannot be set, as the end of a reason, and counts them: a group that has members
 * here keeps its offsets, as its consumers find out themselves that records are gone. May be repeated.
 */
export async function settleGroups(context: SettledParts, record: MirrorRecord): Promise<string> {
  const { destination, incidents, logger, clock } = context
  const { mirrorTopic: topic } = record
  const patience = { clock, untilMs: clock.monotonicMs() + patienceMs }
  const unsettled: string[] = []
  for (const kind of [consumerGroupKind, shareGroupKind])
    await mapBounded(await kind.allHere(destination), parallel, async group => {
      const error = await hindranceOf(context, record, { group, kind, patience })
      if (error === undefined) return
      logger.warn('offsets of a group may lie beyond the end of a restored topic', { group, topic, error })
      incidents.count('group_beyond_end')
      unsettled.push(`${group} (${error})`)
    })
  return toldOf(unsettled.sort())
}

function toldOf(unsettled: readonly string[]): string {
  if (unsettled.length === 0) return ''
  const more = unsettled.length > namedMax ? ` and ${unsettled.length - namedMax} more` : ''
  return `; offsets of ${unsettled.length} group(s) may lie beyond the end: ${unsettled.slice(0, namedMax).join(', ')}${more}`
}

interface GroupHere {
  readonly group: string
  readonly kind: GroupKind
  readonly patience: Patience
}

/** Its members, if it stayed beyond the end, would go over what comes there: what may pass is waited for. */
async function hindranceOf(context: SettledParts, record: MirrorRecord, of: GroupHere): Promise<string | undefined> {
  try {
    return await patiently(of.patience, () => settleGroup(context, record, of))
  } catch (error) {
    return messageOf(error)
  }
}

/** Resolves to what stands in the way for good. Rejects with what may pass. */
async function settleGroup(
  context: SettledParts,
  record: MirrorRecord,
  { group, kind }: GroupHere,
): Promise<string | undefined> {
  const { destination } = context
  const found = await kind.here(destination, group)
  if (found.kind !== 'offsets') throw new Error(found.message)
  const here = found.offsets.filter(({ topic }) => topic === record.mirrorTopic)
  if (here.length === 0) return undefined
  const settled = here.map(offset => {
    const end = endOf(record, offset)
    return offset.offset > end ? { ...offset, offset: end, metadata: '' } : offset
  })
  const isAdopted = await adopt(context, record, { group, here, settled })
  const beyond = settled.filter(({ offset }, index) => offset !== here[index]?.offset)
  // Of a group that the link syncs all are written, as the link writes them: the other cluster takes none of them for the group's own.
  const writes = isAdopted ? settled : beyond
  if (writes.length === 0) return undefined
  const outcome = await kind.write(destination, group, writes)
  if (outcome.kind === 'committed' || beyond.length === 0) return undefined
  if (outcome.kind === 'failed') throw new Error(outcome.message)
  return `the commit was refused: ${outcome.kind}`
}

const endOf = ({ restore }: MirrorRecord, { partition }: GroupOffset): number =>
  restore?.cuts[partition]?.offset ?? Number.MAX_SAFE_INTEGER

/** The cluster that went on is right about its groups: whoever restores wants that. Durable before anything is committed; resolves to whether the link syncs the group. */
async function adopt(
  { runtime, desired, linkChanges }: SettledParts,
  { linkId, mirrorTopic }: MirrorRecord,
  of: { readonly group: string; readonly here: readonly GroupOffset[]; readonly settled: readonly GroupOffset[] },
): Promise<boolean> {
  const { configs } = runtime(linkId) ?? {}
  if (!configs?.must('consumer.offset.sync.enable')) return false
  const { group, here, settled } = of
  const filters = parseNameFilters(configs.must('consumer.offset.group.filters'), 'groupFilters')
  if (!isSelectedFor(filters, group, 'LOCAL_MIRROR')) return false
  const others = desired.groupOffsets(linkId, group).filter(({ topic }) => topic !== mirrorTopic)
  const ours = settled.map(({ topic, partition, offset }, index) => {
    return { topic, partition, offset, previousOffset: here[index]?.offset ?? -1 }
  })
  await linkChanges.append(linkId, [groupOffsetsStateRecord({ linkId, group, written: [...others, ...ours] })])
  return true
}
