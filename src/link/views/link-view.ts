/** Cluster links as REST shows them; called by the engine. */
import type { LinkState, LinkView } from '../engine-api.ts'
import { shareGroupKind } from '../groups/group-kinds.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import { linkErrorOf } from '../states/link-health.ts'
import { categoryCounts, linkFigures } from './mirror-view.ts'

/** Sync tasks; those that this version does not run are NOT_CONFIGURED. */
export const taskNames = [
  'AclSync',
  'AutoCreateMirror',
  'ConsumerOffsetSync',
  'ShareGroupOffsetSync',
  'TopicConfigsSync',
  'PartitionSync',
  'ChainCheck',
  'PeerCheck',
  'Reversal',
]

export function linkView(context: OperationContext, link: LinkRecord): LinkView {
  const mirrors = context.desired.mirrorsOf(link.linkId)
  return {
    name: link.name,
    linkId: link.linkId,
    mode: link.mode,
    sourceClusterId: link.mode === 'DESTINATION' ? (link.remoteClusterId ?? null) : null,
    destinationClusterId: null,
    remoteClusterId: link.mode === 'BIDIRECTIONAL' ? (link.remoteClusterId ?? null) : null,
    topicNames: mirrors.map(mirror => mirror.mirrorTopic).sort(),
    ...healthOf(context, link),
    heldBackMs: context.runtime(link.linkId)?.heldBackMs ?? 0,
    ...linkFigures(context, mirrors),
    groupOffsets: context.runtime(link.linkId)?.groupStates.counts ?? { synced: 0, skipped: new Map() },
    ownedAcls: context.desired.ownedAcls(link.linkId).length,
    categoryCounts: categoryCounts(mirrors),
    tasks: taskNames.map(name => taskView(context, link, name)),
  }
}

const notConfigured = { state: 'NOT_CONFIGURED', errors: [], lastSuccessMs: null }

/** What switches a task on. */
const switches: Readonly<Record<string, string>> = {
  AclSync: 'acl.sync.enable',
  AutoCreateMirror: 'auto.create.mirror.topics.enable',
  ConsumerOffsetSync: 'consumer.offset.sync.enable',
  ShareGroupOffsetSync: 'consumer.offset.sync.enable',
}

function whyNotConfigured(name: string): string {
  if (name === 'PeerCheck' || name === 'Reversal') return 'The link is not bidirectional.'
  const property = switches[name]
  return property === undefined ? 'The link was not started on this node yet.' : `${property} is false.`
}

function taskView(context: OperationContext, link: LinkRecord, name: string): LinkView['tasks'][number] {
  const runtime = context.runtime(link.linkId)
  const task = runtime?.task(name)
  if (!runtime || !task?.isConfigured) return { ...notConfigured, name, reason: whyNotConfigured(name) }
  const missing = name === 'ShareGroupOffsetSync' ? runtime.groupStates.missing.get(shareGroupKind) : undefined
  if (missing !== undefined) return { ...notConfigured, name, reason: missing }
  const { errors } = task
  const lastSuccessMs = task.lastSuccessMs ?? null
  if (runtime.configs.must('cluster.link.paused')) return { name, state: 'LINK_PAUSED', errors: [], lastSuccessMs }
  if (runtime.health.state !== 'ACTIVE') return { name, state: `LINK_${runtime.health.state}`, errors, lastSuccessMs }
  return { name, state: errors.length > 0 ? 'IN_ERROR' : 'ACTIVE', errors, lastSuccessMs }
}

function healthOf(
  context: OperationContext,
  link: LinkRecord,
): Pick<LinkView, 'state' | 'error' | 'errorMessage' | 'errorSinceMs'> {
  const problem = context.desired.problemOf(link.linkId)
  if (problem !== undefined) return { state: 'FAILED', error: 'UNKNOWN', errorMessage: problem, errorSinceMs: null }
  const runtime = context.runtime(link.linkId)
  if (!runtime) return { state: 'UNKNOWN', error: 'NO_ERROR', errorMessage: null, errorSinceMs: null }
  const { health } = runtime
  const state: LinkState = runtime.configs.must('cluster.link.paused') ? 'PAUSED' : health.state
  return {
    state,
    error: health.failure === undefined ? 'NO_ERROR' : linkErrorOf(health.failure),
    errorMessage: health.message ?? null,
    errorSinceMs: health.sinceMs ?? null,
  }
}
