/**
 * Promotes under way: drives mirrors that are PENDING_STOPPED to where nothing is missing, and decides then that they stop
 * (semantics §3). Run by the link's tasks; the reconciler walks the rest, from the durable decision to STOPPED.
 */
import { mapBounded } from '../coordination/bounded.ts'
import type { MirrorTopic } from '../mirror/mirror-topic.ts'
import type { HeldPeers } from '../nodes/peer-nodes.ts'
import type { SourceCluster } from '../ports.ts'
import type { EngineParts } from '../runtime/engine-parts.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { lookAtMirror, type MirrorLook } from './mirror-look.ts'
import { promotionUnits } from './promotion-units.ts'
import { type TaskError, taskErrorOf } from './sync-task.ts'

export interface PromotionParts extends EngineParts {
  readonly link: {
    readonly linkId: MirrorRecord['linkId']
    readonly source: SourceCluster
    mirror(mirrorTopic: string): MirrorTopic | undefined
    holdFetching(mirrorTopic: string): Promise<() => void>
  }
  /** Brings partitions, configs and whatever else is synced to the source's state, once more. */
  readonly finalSyncs: (record: MirrorRecord) => Promise<readonly TaskError[]>
  /** Of those that take over from a source which has closed itself for it: is it still closed? */
  readonly confirms: (looks: readonly MirrorLook[]) => Promise<boolean>
  readonly signal: AbortSignal
}

/** Units, and topics of a unit, that are looked at at the same time. */
const parallel = 8

/** One round over all promotes of a link. What they wait for, and what goes wrong, is told at each mirror. */
export async function promoteReady(parts: PromotionParts): Promise<void> {
  const units = promotionUnits(parts.desired.mirrorsOf(parts.link.linkId))
  await mapBounded(units, parallel, async ({ records, blockedBy }) => {
    try {
      await promoteUnit(parts, records, blockedBy)
    } catch (error) {
      for (const record of records) tell(parts, record, { waiting: [], errors: [taskErrorOf(error)] })
    }
  })
}

async function promoteUnit(
  parts: PromotionParts,
  records: readonly MirrorRecord[],
  blockedBy: string | undefined,
): Promise<void> {
  if (!(await isReady(parts, records, blockedBy))) return
  const synced = await mapBounded(records, parallel, async record => {
    const errors = await parts.finalSyncs(record)
    if (errors.length > 0) tell(parts, record, { waiting: [], errors })
    return errors.length === 0
  })
  if (synced.includes(false)) return
  // Whatever the source got meanwhile is seen by the second look; from there on nothing may come any more.
  const releases: (() => void)[] = []
  const held: HeldPeers[] = []
  try {
    await mapBounded(records, parallel, async record => {
      releases.push(await parts.link.holdFetching(record.mirrorTopic))
      const peers = await parts.peers.holdFetching(record)
      releases.push(peers.release)
      held.push(peers)
    })
    const current = records.flatMap(({ linkId, mirrorTopic }) => parts.desired.mirror(linkId, mirrorTopic) ?? [])
    const looks = await mapBounded(current, parallel, async record => {
      const look = await lookAtMirror(parts, record, asked(parts))
      // The decision may not promise what a power failure could take.
      await mapBounded(look.logs, parallel, log => log.flush())
      return look
    })
    const lasts = () => held.every(peers => peers.lasts())
    if (tellAll(parts, looks, blockedBy) && (await parts.confirms(looks)) && lasts())
      await decide(parts, looks, records)
  } finally {
    for (const release of releases) release()
  }
}

const asked = ({ link, signal }: PromotionParts) => ({ source: link.source, signal })

async function isReady(
  parts: PromotionParts,
  records: readonly MirrorRecord[],
  blockedBy: string | undefined,
): Promise<boolean> {
  const looks = await mapBounded(records, parallel, record => lookAtMirror(parts, record, asked(parts)))
  return tellAll(parts, looks, blockedBy)
}

/** Is there nothing to wait for? */
function tellAll(parts: PromotionParts, looks: readonly MirrorLook[], blockedBy: string | undefined): boolean {
  for (const { record, waiting } of looks)
    tell(parts, record, { waiting: waiting.map(reason => reason ?? blockedBy), errors: [] })
  return blockedBy === undefined && looks.every(({ waiting }) => waiting.every(reason => reason === undefined))
}

/** One durable write for the whole unit: from here on all of it is driven to STOPPED, never back. */
async function decide(
  parts: PromotionParts,
  looks: readonly MirrorLook[],
  unit: readonly MirrorRecord[],
): Promise<void> {
  const { changes, clock } = parts
  const known = new Set(unit.flatMap(({ mirrorTopic, together }) => [mirrorTopic, ...together]))
  const byTopic = new Map(looks.map(look => [look.record.topicId, look]))
  await changes.updateTogether(
    looks.map(({ record }) => record),
    record => {
      const look = byTopic.get(record.topicId)
      if (!look || record.state !== 'PENDING_STOPPED' || record.stopping) return undefined
      if (record.startOffsets.length !== look.logs.length) return undefined
      // Meanwhile it was asked for together with others: that is another unit.
      if (record.together.some(topic => !known.has(topic))) return undefined
      // Where it ends is recorded when the leaders of all partitions know that it stops.
      return {
        ...record,
        stopping: { verb: 'promote', sinceMs: clock.nowMs(), keepsRetention: false, handOver: undefined },
        stopPoints: [],
        reason: 'promoting',
      }
    },
  )
}

function tell(
  { link, clock }: PromotionParts,
  record: MirrorRecord,
  found: { readonly waiting: readonly (string | undefined)[]; readonly errors: readonly TaskError[] },
): void {
  const topic = link.mirror(record.mirrorTopic)
  if (!topic || topic.topicId !== record.topicId) return
  const before = topic.promotion?.errors ?? []
  const errors = found.errors.map(error => ({
    ...error,
    sinceMs: before.find(({ code }) => code === error.code)?.sinceMs ?? clock.nowMs(),
  }))
  topic.promotion = { waiting: found.waiting, errors }
}
