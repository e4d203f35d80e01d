/**
 * Reversal: what both sides of a link do while a mirror and its source change roles. Each side publishes how far it is and reads the
 * other; the mirror alone decides, by becoming PENDING_STOPPED, and the source follows. Run by the link's tasks.
 */

import { messageOf } from '../../core/errors.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { LinkConfigs } from '../configs/link-configs.ts'
import { mapBounded } from '../coordination/bounded.ts'
import { mirrorQueue } from '../coordination/mirror-queue.ts'
import { type PeerProblem, peerOf } from '../peers/peer-link.ts'
import type { SourceCluster } from '../ports.ts'
import {
  confirmsReversal,
  isFollowed,
  isFollowedSoon,
  isWalking,
  noteFollowed,
  walkMirror,
} from '../reversal/mirror-side.ts'
import { peerProblem, type ReversalParts, tell, topicOf } from '../reversal/reversal-parts.ts'
import { followPeer, walkSource } from '../reversal/source-side.ts'
import type { EngineParts } from '../runtime/engine-parts.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import type { SourceStatus } from '../status/source-status.ts'
import type { StatusContents } from '../status/status-contents.ts'
import type { MirrorLook } from './mirror-look.ts'
import { type SyncTask, type TaskError, taskErrorOf } from './sync-task.ts'

const periodMs = { pending: 250, idle: 2000 }

/** Topics that are walked at the same time. */
const parallel = 16

/** How soon the other side is looked at again. */
export const reversalPeriodMs = (mirrors: readonly MirrorRecord[], nowMs: number): number =>
  periodMs[mirrors.some(record => isUnderWay(record) || isFollowedSoon(record, nowMs)) ? 'pending' : 'idle']

const isUnderWay = (record: MirrorRecord): boolean => record.state === 'PENDING_MIRROR' || isWalking(record)

/** What it needs of the link that it belongs to. */
export interface ReversedLink {
  readonly linkId: Uuid
  readonly source: SourceCluster
  readonly status: SourceStatus
  readonly configs: LinkConfigs
  task(name: string): SyncTask | undefined
}

/** One round over the topics of a link. Resolves to what did not work. */
export async function reverseMirrors(engine: EngineParts, of: ReversedLink): Promise<readonly TaskError[]> {
  const { desired, destination } = engine
  const { linkId, source, status, configs } = of
  const link = desired.link(linkId)
  if (!link) return []
  const parts: ReversalParts = {
    ...engine,
    link,
    source,
    promote: () => of.task('Promotion')?.start(),
    runtime: () => of,
  }
  const peer = peerOf(await status.newest(), link, destination.clusterId)
  if (peer.kind === 'problem') return await tellStuck(parts, peer)
  const { contents } = peer
  const problem = peerProblem(contents, linkId)
  const errors: TaskError[] = desired
    .mirrorsOf(linkId)
    .filter(record => problem !== undefined && isUnderWay(record))
    .map(({ mirrorTopic: topic }) => ({
      code: 'INTERNAL_ERROR',
      message: `${topic}: at the other cluster: ${problem}`,
    }))
  const attempt = async (topic: string, work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      errors.push(taskErrorOf(error, topic))
    }
  }
  // Paused, it begins nothing, and ends what was begun.
  if (!configs.must('cluster.link.paused'))
    await mapBounded(contents.mirrorsOfLink(linkId), parallel, mirror =>
      attempt(mirror.mirrorTopic, () => followPeer(parts, contents, mirror)),
    )
  await mapBounded(desired.mirrorsOf(linkId), parallel, record =>
    attempt(record.mirrorTopic, async () => {
      if (record.state === 'PENDING_MIRROR') await walkInQueue(parts, contents, record)
      else if (isWalking(record)) await walkMirror(parts, contents, record)
      else if (isFollowed(record)) await noteFollowed(parts, contents, record)
    }),
  )
  return errors
}

/** While the other side cannot be read, whatever is under way waits; where nothing is, PeerCheck tells it. */
async function tellStuck(parts: ReversalParts, { code, message }: PeerProblem): Promise<readonly TaskError[]> {
  const stuck = parts.desired.mirrorsOf(parts.link.linkId).filter(isUnderWay)
  const reason = `waiting for the other cluster, which cannot be asked: ${message}`
  await mapBounded(stuck.filter(tellsStep), parallel, record => tell(parts, topicOf(record), reason))
  return stuck.map(({ mirrorTopic }) => ({ code, message: `${mirrorTopic}: ${message}` }))
}

/** Its next step tells what it is at anew. */
const tellsStep = ({ state, reversal }: MirrorRecord): boolean =>
  state === 'PENDING_SYNCHRONIZE' ||
  (state === 'PENDING_MIRROR' && reversal?.sealedOffsets.length === 0 && reversal.givenUp === undefined)

/** Whoever gives the topic back, or restores it, is not in the middle of it meanwhile. */
async function walkInQueue(parts: ReversalParts, contents: StatusContents, { linkId, mirrorTopic }: MirrorRecord) {
  await parts.operations.run(mirrorQueue({ linkId, mirrorTopic }), async () => {
    const record = parts.desired.mirror(linkId, mirrorTopic)
    if (record?.state !== 'PENDING_MIRROR') return
    try {
      await walkSource(parts, contents, record)
    } catch (error) {
      if (parts.destination.fence.hasOtherLeaders) await tellTrouble(parts, record, messageOf(error))
      throw error
    }
  })
}

async function tellTrouble(parts: ReversalParts, { linkId, mirrorTopic, topicId }: MirrorRecord, reason: string) {
  const record = parts.desired.mirror(linkId, mirrorTopic)
  if (record?.topicId === topicId && record.state === 'PENDING_MIRROR')
    await tell(parts, { linkId, mirrorTopic, topicId }, reason)
}

/** Of a promote that takes over: is the source still closed where the logs end? */
export async function confirmsReversals(status: SourceStatus, looks: readonly MirrorLook[]): Promise<boolean> {
  if (looks.every(({ record }) => record.reversal === undefined)) return true
  const view = await status.newest()
  return confirmsReversal(view.kind === 'read' ? view.contents : undefined, looks)
}
