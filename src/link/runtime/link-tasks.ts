/** The periodic tasks of one link over one connection to its source; made by the link runtime. */
import type { Uuid } from '../../core/uuid.ts'
import { AclRefusals } from '../acls/acl-refusals.ts'
import { parseAclFilters } from '../configs/acl-filters.ts'
import { partitionSyncPeriodMs } from '../configs/connection-settings.ts'
import type { LinkConfigs } from '../configs/link-configs.ts'
import { copiedTopicConfigs } from '../configs/topic-rules.ts'
import type { SyncWrites } from '../coordination/sync-writes.ts'
import { consumerGroupKind, type GroupKind, shareGroupKind } from '../groups/group-kinds.ts'
import type { GroupSyncStates } from '../groups/group-sync-states.ts'
import type { MirrorTopic } from '../mirror/mirror-topic.ts'
import { type SourceCluster, SourceError } from '../ports.ts'
import type { AutoCreation } from '../source-topics/auto-creation.ts'
import { linkFacts } from '../source-topics/topic-facts.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import type { LinkHealth } from '../states/link-health.ts'
import { topicOrigins } from '../status/chain-rules.ts'
import { isMirrorName, isOutage, trueConfigs } from '../status/source-chain.ts'
import type { SourceStatus } from '../status/source-status.ts'
import { isRefusal, syncAcls } from '../tasks/acl-sync.ts'
import { autoCreateMirrors, retryCreationMs } from '../tasks/auto-create-mirrors.ts'
import { chainCheckPeriodMs, checkChains } from '../tasks/chain-check.ts'
import { mergedRounds, type Round } from '../tasks/merged-rounds.ts'
import type { MirrorLook } from '../tasks/mirror-look.ts'
import { syncPartitions } from '../tasks/partition-sync.ts'
import { checkPeer, peerCheckPeriodMs } from '../tasks/peer-check.ts'
import { promoteReady } from '../tasks/promotion.ts'
import { isPromoted } from '../tasks/promotion-units.ts'
import { confirmsReversals, reversalPeriodMs, reverseMirrors } from '../tasks/reversal.ts'
import { retryAfterErrorsMs, SyncTask, type SyncTaskOptions, type TaskError } from '../tasks/sync-task.ts'
import { syncTopicConfigs, type TopicConfigsSyncParts } from '../tasks/topic-configs-sync.ts'
import { watchdogPeriodMs, watchPartitions } from '../tasks/watchdog.ts'
import type { EngineParts } from './engine-parts.ts'
import { groupOffsetsRound, remoteMirrorsRound } from './group-rounds.ts'

/** What the tasks see of the link that they belong to. */
export interface TaskedLink {
  readonly linkId: Uuid
  readonly source: SourceCluster
  readonly status: SourceStatus
  readonly configs: LinkConfigs
  readonly health: LinkHealth
  /** Mirrors that follow their source now. */
  readonly followed: readonly MirrorRecord[]
  readonly running: Iterable<MirrorTopic>
  /** How the group offset sync stands; kept over connections. */
  readonly groupStates: GroupSyncStates
  /** How the automatic creation stands; kept over connections. */
  readonly autoCreation: AutoCreation
  readonly writes: SyncWrites
  mirror(mirrorTopic: string): MirrorTopic | undefined
  task(name: string): SyncTask | undefined
  /** Nothing of this mirror is fetched from when it resolves until the function is called. */
  holdFetching(mirrorTopic: string): Promise<() => void>
}

/** It looks at what is mirrored here; all others are the link coordinator's. */
const isLocal = (task: string): boolean => task === 'Watchdog'

/** How often a promote looks whether it is there, and how often the task looks for one that nobody has told it of. */
const promotionPeriodMs = { pending: 500, idle: 30_000 }

export function linkTasks(parts: EngineParts, link: TaskedLink): readonly SyncTask[] {
  const { clock, logger } = parts
  const partitions = partitionRound(parts, link)
  const merged = (round: Round) => mergedRounds(round, record => stillMirrored(parts, record))
  const topicConfigs = merged(topicConfigsRound(parts, link))
  const groupOffsets = merged(groupOffsetsRound(parts, link, consumerGroupKind))
  const shareOffsets = merged(groupOffsetsRound(parts, link, shareGroupKind))
  const overFollowed = (round: Round) => (signal: AbortSignal) => {
    const mirrors = link.followed
    return mirrors.length === 0 ? Promise.resolve([]) : round(mirrors, signal)
  }
  const syncsGroups = () => link.configs.must('consumer.offset.sync.enable')
  const groups = (local: Round, kind: GroupKind) => ({
    periodMs: () => link.configs.must('consumer.offset.sync.ms'),
    work: async (signal: AbortSignal) => [
      ...(await overFollowed(local)(signal)),
      ...(await remoteMirrorsRound(parts, link, kind)(signal)),
    ],
    isConfigured: syncsGroups,
  })
  const isBidirectional = () => link.configs.must('link.mode') === 'BIDIRECTIONAL'
  const isPromoting = () => parts.desired.mirrorsOf(link.linkId).some(isPromoted)
  const task = (name: string, options: Omit<SyncTaskOptions, 'name' | 'clock' | 'logger'>) =>
    new SyncTask({
      ...{ name, ...options, clock, logger },
      work: async signal => (isLocal(name) || parts.coordinates() ? await options.work(signal) : []),
    })
  const finalGroups: Round = async (mirrors, signal) =>
    syncsGroups() ? [...(await groupOffsets(mirrors, signal)), ...(await shareOffsets(mirrors, signal))] : []
  return [
    task('PartitionSync', { periodMs: () => partitionSyncPeriodMs(link.configs), work: overFollowed(partitions) }),
    task('TopicConfigsSync', {
      periodMs: () => link.configs.must('topic.config.sync.ms'),
      work: overFollowed(topicConfigs),
    }),
    task('ConsumerOffsetSync', groups(groupOffsets, consumerGroupKind)),
    task('ShareGroupOffsetSync', groups(shareOffsets, shareGroupKind)),
    task('AclSync', {
      periodMs: () => link.configs.must('acl.sync.ms'),
      // What this cluster refuses has a pace of its own.
      retryMs: errors => (errors.every(isRefusal) ? Number.POSITIVE_INFINITY : retryAfterErrorsMs),
      work: aclRound(parts, link),
      isConfigured: () => link.configs.must('acl.sync.enable'),
    }),
    task('AutoCreateMirror', {
      periodMs: () =>
        Math.min(
          link.configs.must('auto.create.mirror.topics.interval.ms'),
          link.autoCreation.settlesInMs ?? Number.POSITIVE_INFINITY,
        ),
      retryMs: retryCreationMs,
      work: autoCreateRound(parts, link),
      isConfigured: () => link.configs.must('auto.create.mirror.topics.enable'),
    }),
    task('PeerCheck', {
      ...{ periodMs: () => peerCheckPeriodMs, work: peerRound(parts, link), isConfigured: isBidirectional },
    }),
    task('Reversal', {
      periodMs: () => reversalPeriodMs(parts.desired.mirrorsOf(link.linkId), clock.nowMs()),
      work: () => reverseMirrors(parts, link),
      isConfigured: isBidirectional,
    }),
    task('ChainCheck', { periodMs: () => chainCheckPeriodMs, work: chainRound(parts, link) }),
    task('Watchdog', { periodMs: () => watchdogPeriodMs, work: watchdogRound(link) }),
    task('Promotion', {
      periodMs: () => promotionPeriodMs[isPromoting() ? 'pending' : 'idle'],
      work: promotionRound(parts, link, [partitions, topicConfigs, finalGroups]),
    }),
  ]
}

/** The mirror as it is now; undefined = it stops, or is another topic. */
function stillMirrored({ desired }: EngineParts, { linkId, mirrorTopic, topicId }: MirrorRecord) {
  const record = desired.mirror(linkId, mirrorTopic)
  if (record?.topicId !== topicId || record.state === 'STOPPED' || record.stopping !== undefined) return undefined
  return record
}

/** Nothing happens to a topic that is being stopped, or was. */
function whileMirrored({ desired }: EngineParts, { linkId, writes }: TaskedLink) {
  const isMirrored = (topicId: Uuid) =>
    [...desired.mirrorsOfTopic(topicId)].some(
      record => record.linkId === linkId && record.state !== 'STOPPED' && record.stopping === undefined,
    )
  return (topicId: Uuid, write: () => Promise<void>) =>
    writes.run(async () => {
      if (isMirrored(topicId)) await write()
    })
}

function partitionRound(parts: EngineParts, link: TaskedLink): Round {
  const { changes, clock } = parts
  const guarded = whileMirrored(parts, link)
  const destination = {
    createPartitions: (topicId: Uuid, count: number) =>
      guarded(topicId, () => parts.destination.createPartitions(topicId, count)),
  }
  const of = { source: link.source, destination, changes, nowMs: () => clock.nowMs() }
  return (mirrors, signal) => syncPartitions({ ...of, signal }, mirrors)
}

function topicConfigsRound(parts: EngineParts, link: TaskedLink): Round {
  const { logger } = parts
  const guarded = whileMirrored(parts, link)
  const topicConfigs: TopicConfigsSyncParts['topicConfigs'] = {
    of: (topicId, key) => parts.topicConfigs.of(topicId, key),
    alter: (topicId, changes) => guarded(topicId, () => parts.topicConfigs.alter(topicId, changes)),
    changesTowards: (topicId, wanted) => parts.topicConfigs.changesTowards(topicId, wanted),
    followed: (topicId, wanted) => parts.topicConfigs.followed(topicId, wanted),
    unfollow: topicId => parts.topicConfigs.unfollow(topicId),
  }
  const isMirrored = (record: MirrorRecord) => stillMirrored(parts, record) !== undefined
  const changed = ({ mirrorTopic }: MirrorRecord, changes: ReadonlyMap<string, string | null>) =>
    logger.info('configs of a mirror follow its source', { topic: mirrorTopic, ...Object.fromEntries(changes) })
  return async (mirrors, signal) => {
    const owned = copiedTopicConfigs(link.configs)
    const view = await link.status.recent()
    // It may be a cluster that shows other values than the true ones, and says so as soon as it answers.
    if (isOutage(view) && view.contents === undefined) throw view.error
    const trueConfigsOf = ({ sourceTopic, sourceTopicId }: MirrorRecord) =>
      trueConfigs(view, { name: sourceTopic, topicId: sourceTopicId })
    const { source } = link
    const { destination } = parts
    const of = { source, destination, topicConfigs, owned, isMirrored, trueConfigs: trueConfigsOf }
    return await syncTopicConfigs({ ...of, signal, changed }, mirrors)
  }
}

/** Goes with no topic: only a paused link stops it. */
function aclRound(parts: EngineParts, link: TaskedLink): SyncTaskOptions['work'] {
  const refusals = new AclRefusals(parts)
  return async signal => {
    if (link.configs.must('cluster.link.paused')) return []
    const filters = parseAclFilters(link.configs.must('acl.filters'))
    const view = await link.status.recent()
    if (isOutage(view) && view.contents === undefined) throw view.error
    const isMirrorAtSource = (topic: string) => isMirrorName(view, topic)
    const { linkId, source } = link
    return await syncAcls({ ...parts, linkId, source, filters, refusals, isMirrorAtSource, signal })
  }
}

function chainRound(parts: EngineParts, link: TaskedLink): SyncTaskOptions['work'] {
  return async () => {
    const mirrors = parts.desired.mirrorsOf(link.linkId).filter(({ state }) => state !== 'STOPPED')
    return mirrors.length === 0 ? [] : checkChains(parts, await link.status.recent(), mirrors)
  }
}

function peerRound(parts: EngineParts, { linkId, status }: TaskedLink): SyncTaskOptions['work'] {
  return async () => {
    const link = parts.desired.link(linkId)
    return link ? await checkPeer(parts, await status.newest(), link) : []
  }
}

function autoCreateRound(parts: EngineParts, link: TaskedLink): SyncTaskOptions['work'] {
  return async signal => {
    const { desired, destination, clock } = parts
    const { linkId, source, status, configs, autoCreation: memory } = link
    const record = desired.link(linkId)
    if (record?.remoteClusterId === undefined) throw new SourceError('retriable', 'the source has not been reached yet')
    const { remoteClusterId: clusterId } = record
    return await autoCreateMirrors({
      desired,
      destination,
      source,
      clusterId,
      memory,
      signal,
      nowMs: () => clock.monotonicMs(),
      link: linkFacts(record, configs, link.health),
      readStatus: () => status.newest(),
      originsOf: view => topicOrigins(view, { link: record, clusterId: destination.clusterId }),
      create: discovered => parts.createDiscovered(linkId, discovered, signal),
    })
  }
}

function watchdogRound(link: TaskedLink): SyncTaskOptions['work'] {
  return async signal => {
    const watches = [...link.running].flatMap(mirror => mirror.watches)
    if (link.health.state === 'ACTIVE') await watchPartitions(link.source, watches, signal)
    else for (const watch of watches) watch.excuse()
    return []
  }
}

/** A config that this cluster does not have: listed at the sync, and no reason to hold up a promote, since it stays so. */
const notSupportedHere = 'INVALID_REQUEST_ERROR'

/** What is wrong with a promote is told at its mirror. */
function promotionRound(parts: EngineParts, link: TaskedLink, syncs: readonly Round[]): SyncTaskOptions['work'] {
  return async signal => {
    const finalSyncs = async (record: MirrorRecord) => {
      const errors: TaskError[] = []
      for (const sync of syncs) errors.push(...(await sync([record], signal)))
      return errors.filter(({ code }) => code !== notSupportedHere)
    }
    const confirms = (looks: readonly MirrorLook[]) => confirmsReversals(link.status, looks)
    await promoteReady({ ...parts, link, finalSyncs, confirms, signal })
    return []
  }
}
