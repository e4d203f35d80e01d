/** TopicConfigsSync: the configs that a link owns stay equal to the source's, local changes are undone (semantics §6). Run by the link runtime. */
import { mapBounded } from '../coordination/bounded.ts'
import type { Destination, SourceCluster, SourceTopicConfig } from '../ports.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { askTopics } from './ask-topics.ts'
import { type TaskError, taskErrorOf } from './sync-task.ts'

/** Topics altered at the same time. */
const parallel = 8

export interface TopicConfigsSyncParts {
  readonly source: SourceCluster
  readonly destination: Pick<Destination, 'topicById' | 'topicConfig' | 'alterTopicConfigs'>
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
  const { source, destination, signal, isMirrored, changed, trueConfigs } = parts
  const names = [...new Set(mirrors.map(mirror => mirror.sourceTopic))]
  const { found, errors } = await askTopics(names, some => source.describeTopicConfigs(some, signal), signal)
  const bySource = new Map(found)
  await mapBounded(mirrors, parallel, async record => {
    const described = bySource.get(record.sourceTopic)
    // Gone here meanwhile, or there: that is for others to tell.
    if (!described || !destination.topicById(record.topicId) || !isMirrored(record)) return
    const wanted = new Map([...described, ...(trueConfigs(record) ?? [])])
    const { changes, unknown } = differences(parts, record, wanted)
    for (const key of unknown)
      errors.push({ code: 'INVALID_REQUEST_ERROR', message: `${record.mirrorTopic}: ${key} is not known here` })
    if (changes.size === 0) return
    try {
      await destination.alterTopicConfigs(record.topicId, changes)
      changed(record, changes)
    } catch (error) {
      errors.push(taskErrorOf(error, record.mirrorTopic))
    }
  })
  return errors
}

/**
 * What makes the effective values equal: an override where they differ, none where the inherited value is the source's.
 * `unknown`: keys that the source's topic overrides and this cluster does not have.
 */
function differences(
  { destination, owned }: TopicConfigsSyncParts,
  { topicId }: MirrorRecord,
  wanted: TopicConfigs,
): { changes: Map<string, string | null>; unknown: string[] } {
  const changes = new Map<string, string | null>()
  const unknown: string[] = []
  for (const key of owned) {
    const there = wanted.get(key)
    if (!there || there.value === null) continue
    const here = destination.topicConfig(topicId, key)
    if (!here) {
      if (there.overridden) unknown.push(key)
    } else if (here.inherited === there.value) {
      if (here.overridden) changes.set(key, null)
    } else if (here.value !== there.value) changes.set(key, there.value)
  }
  return { changes, unknown }
}
