/** TopicConfigsSync: the configs that a link owns stay equal to the source's, local changes are undone (semantics §6). Run by the link runtime. */
import type { MirrorTopicConfigs } from '../configs/mirror-topic-configs.ts'
import { mapBounded } from '../coordination/bounded.ts'
import type { Destination, SourceCluster, SourceTopicConfig } from '../ports.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { askTopics } from './ask-topics.ts'
import { type TaskError, taskErrorOf } from './sync-task.ts'

/** Topics altered at the same time. */
const parallel = 8

export interface TopicConfigsSyncParts {
  readonly source: SourceCluster
  readonly destination: Pick<Destination, 'topicById'>
  readonly topicConfigs: Pick<MirrorTopicConfigs, 'of' | 'alter' | 'changesTowards' | 'followed' | 'unfollow'>
  /** Keys that the link owns on its mirrors. */
  readonly owned: ReadonlySet<string>
  readonly signal: AbortSignal
  /** Is it a mirror still? The source may answer late, and the configs of a topic that stopped are its own. */
  readonly isMirrored: (mirror: MirrorRecord) => boolean
  /** Configs of a source topic that its cluster shows otherwise; those that are absent are as it shows them. */
  readonly trueConfigs: (mirror: MirrorRecord) => TopicConfigs | undefined
  /** Told what was changed on a mirror. */
  readonly changed: (record: MirrorRecord, changes: ReadonlyMap<string, string | null>) => void
}

type TopicConfigs = ReadonlyMap<string, SourceTopicConfig>

/** One round over these mirrors. One bad topic does not stop the rest. */
export async function syncTopicConfigs(
  parts: TopicConfigsSyncParts,
  mirrors: readonly MirrorRecord[],
): Promise<readonly TaskError[]> {
  const { source, destination, signal, isMirrored, trueConfigs } = parts
  const names = [...new Set(mirrors.map(mirror => mirror.sourceTopic))]
  const { found, errors } = await askTopics(names, some => source.describeTopicConfigs(some, signal), signal)
  const bySource = new Map(found)
  await mapBounded(mirrors, parallel, async record => {
    const described = bySource.get(record.sourceTopic)
    // Gone here meanwhile, or there: that is for others to tell.
    if (!described || !destination.topicById(record.topicId) || !isMirrored(record)) return
    const { wanted, unknown } = wantedOf(parts, record, new Map([...described, ...(trueConfigs(record) ?? [])]))
    for (const key of unknown)
      errors.push({ code: 'INVALID_REQUEST_ERROR', message: `${record.mirrorTopic}: ${key} is not known here` })
    try {
      await follow(parts, record, wanted)
    } catch (error) {
      errors.push(taskErrorOf(error, record.mirrorTopic))
    }
  })
  return errors
}

/** Effective values by keys that both clusters have; `unknown`: keys that the source's topic overrides and this cluster does not have. */
function wantedOf(
  { topicConfigs, owned }: TopicConfigsSyncParts,
  { topicId }: MirrorRecord,
  described: TopicConfigs,
): { wanted: Map<string, string>; unknown: string[] } {
  const wanted = new Map<string, string>()
  const unknown: string[] = []
  for (const key of owned) {
    const there = described.get(key)
    if (!there || there.value === null) continue
    if (topicConfigs.of(topicId, key)) wanted.set(key, there.value)
    else if (there.overridden) unknown.push(key)
  }
  return { wanted, unknown }
}

async function follow(
  { topicConfigs, changed }: TopicConfigsSyncParts,
  record: MirrorRecord,
  wanted: ReadonlyMap<string, string>,
): Promise<void> {
  const { topicId } = record
  const changes = topicConfigs.changesTowards(topicId, wanted)
  if (changes.size > 0) {
    topicConfigs.unfollow(topicId)
    await topicConfigs.alter(topicId, changes)
    changed(record, changes)
  }
  topicConfigs.followed(topicId, wanted)
}
