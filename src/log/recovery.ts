/** Opens a log directory: finds its end, and after an unclean stop the longest valid prefix; PartitionLog.open calls it. */
import type { BatchCursor } from '../protocol/batches/batch-cursor.ts'
import { endInterruptedSwap } from './cleaner/interrupted-swap.ts'
import { type DamagePolicy, type InvalidTail, isIntact, requireTornTail } from './damage.ts'
import { LEADER_EPOCH_CHECKPOINT, parseSegmentFileName } from './file-names.ts'
import { type EpochEntry, LeaderEpochs } from './leader-epochs.ts'
import { NOTHING_DURABLE } from './log-checkpoint.ts'
import type { LogConfig } from './log-config.ts'
import { LogContents, type LogEnvironment } from './log-contents.ts'
import { reloadProducerState } from './producer-replay.ts'
import { ProducerState } from './producer-state.ts'
import { Segment } from './segment.ts'
import { SegmentList } from './segment-list.ts'
import { scanBatches } from './segment-scan.ts'
import { SnapshotFiles } from './snapshot-files.ts'
import { removeSegmentsAbove, removeSegmentsBelow, startFullyAt } from './truncation.ts'

export interface LoadOptions {
  readonly environment: LogEnvironment
  readonly directory: string
  readonly name: string
  readonly config: LogConfig
  /** From the checkpoint; an empty directory begins there. */
  readonly logStartOffset: number
  /** Offsets below were durable. undefined after a clean stop: then nothing is verified. */
  readonly recoveryPoint: number | undefined
  readonly damage: DamagePolicy
  /** Batches below are not needed: their contents may be damaged, as long as they can be told apart. */
  readonly neededFrom: number
}

/** Loads what is there, or creates an empty log. What a crash may have left to the page cache is flushed with the first flush. */
export async function loadLog(options: LoadOptions): Promise<LogContents> {
  const opened = await openFiles(options)
  try {
    return await recovered(opened, options)
  } catch (error) {
    for (const segment of opened.contents.segments.all) await segment.close()
    throw error
  }
}

async function recovered({ contents, unusable, created }: OpenedFiles, options: LoadOptions): Promise<LogContents> {
  const { segments } = contents
  const firstDirty = firstSegmentToRebuild(options, segments, unusable)
  const isDirty = firstDirty < segments.all.length && !created
  if (isDirty) await rebuildFrom(contents, firstDirty, options)
  else await reloadProducerState(contents, contents.logEndOffset)
  // A killed process may have left data and names that only the page cache knows, but not below the recovery point.
  const durable = isDirty ? (options.recoveryPoint ?? NOTHING_DURABLE) : contents.logEndOffset
  contents.epochs.truncateFromEnd(contents.logEndOffset)
  await findMissingEpochs(contents)
  if (contents.logStartOffset > contents.logEndOffset) await startFullyAt(contents, contents.logStartOffset)
  contents.epochs.truncateFromStart(contents.logStartOffset)
  await contents.epochs.save()
  await removeSegmentsBelow(contents, contents.logStartOffset)
  await removeStraySnapshots(contents)
  if (contents.logEndOffset <= durable) await contents.syncNames()
  else contents.namesChanged = true
  contents.durableAtOpen = Math.min(durable, contents.logEndOffset)
  return contents
}

interface OpenedFiles {
  readonly contents: LogContents
  /** Segments that are damaged, or whose indexes are. */
  readonly unusable: ReadonlySet<Segment>
  /** There was no segment. */
  readonly created: boolean
}

async function openFiles(options: LoadOptions): Promise<OpenedFiles> {
  const { environment, directory, name, config } = options
  const { fs } = environment
  const files = await listFiles(options)
  const epochs = await LeaderEpochs.load(fs, `${directory}/${LEADER_EPOCH_CHECKPOINT}`)
  const contents = new LogContents({
    environment,
    directory,
    name,
    config,
    segments: new SegmentList(),
    epochs,
    producers: new ProducerState(),
    snapshots: new SnapshotFiles(fs, directory, files.snapshots),
  })
  const unusable = new Set<Segment>()
  for (const baseOffset of files.bases) {
    const durable = options.recoveryPoint === undefined
    const noTransactions = !files.withTransactions.has(baseOffset)
    const place = { fs, cache: environment.cache, directory, baseOffset, durable, noTransactions }
    const { segment, usable } = await Segment.open(place, environment.clock.nowMs())
    contents.segments.add(segment)
    if (!usable) unusable.add(segment)
  }
  if (files.bases.length === 0) contents.segments.add(await contents.createSegment(options.logStartOffset))
  // After an unclean stop the last segment is rebuilt in any case.
  const isTrusted = options.recoveryPoint === undefined && !unusable.has(contents.segments.active)
  const end = isTrusted ? await contents.segments.active.loadEnd() : undefined
  if (!end) unusable.add(contents.segments.active)
  contents.logEndOffset = end?.nextOffset ?? contents.segments.active.baseOffset
  contents.logStartOffset = Math.max(options.logStartOffset, contents.segments.first.baseOffset)
  return { contents, unusable, created: files.bases.length === 0 }
}

/** What belongs to the log; left-overs of interrupted writes and of removed segments go. */
async function listFiles({ environment, directory }: LoadOptions) {
  let names = await environment.fs.list(directory)
  if (!names) await environment.fs.createDirectory(directory)
  if (names && (await endInterruptedSwap(environment.fs, directory, names)))
    names = await environment.fs.list(directory)
  const files = (names ?? []).flatMap(name => ({ name, ...parseSegmentFileName(name) }))
  const offsetsOf = (kind: string) => files.flatMap(file => (file.kind === kind ? [file.offset ?? 0] : []))
  const bases = offsetsOf('log').sort((a, b) => a - b)
  for (const { name, kind, offset } of files) {
    const isIndex = kind === 'index' || kind === 'timeindex' || kind === 'txnindex'
    const orphan = isIndex && offset !== undefined && !bases.includes(offset)
    if (orphan || /\.(tmp|deleted)$/.test(name)) await environment.fs.remove(`${directory}/${name}`)
  }
  return { bases, snapshots: offsetsOf('snapshot'), withTransactions: new Set(offsetsOf('txnindex')) }
}

/** Index of the first segment whose contents or indexes cannot be trusted; the number of segments if there is none. */
function firstSegmentToRebuild(options: LoadOptions, segments: SegmentList, unusable: ReadonlySet<Segment>): number {
  const damaged = segments.all.findIndex(segment => unusable.has(segment))
  const first = damaged < 0 ? segments.all.length : damaged
  if (options.recoveryPoint === undefined) return first
  // The segment before the recovery point: what was durable then was its log, not its indexes.
  return Math.min(first, segments.indexFor(options.recoveryPoint - 1))
}

/**
 * Every batch knows its epoch: needed where the checkpoint was damaged, and where the log start went back because its raising
 * was not durable, though the epochs below were forgotten.
 */
async function findMissingEpochs({ segments, epochs, logStartOffset, logEndOffset }: LogContents): Promise<void> {
  const known = epochs.entries[0]?.startOffset ?? logEndOffset
  if (known <= logStartOffset) return
  const found: EpochEntry[] = []
  for (const segment of segments.all.slice(segments.indexFor(logStartOffset))) {
    const end = await scanBatches(segment.file, { from: 0, to: segment.sizeBytes, need: 'headers' }, cursor => {
      const { baseOffset, leaderEpoch } = cursor
      if (baseOffset >= known) return 'stop'
      if (leaderEpoch > (found.at(-1)?.epoch ?? -1)) found.push({ epoch: leaderEpoch, startOffset: baseOffset })
      return 'continue'
    })
    if (end.reason === 'stopped') break
  }
  if (found.length > 0) epochs.addBefore(found)
}

/** A batch is the truth about its epoch: an append that failed can leave one behind, and a later epoch that began with nothing. */
function noteEpoch({ epochs }: LogContents, { leaderEpoch, baseOffset }: BatchCursor): void {
  const latest = epochs.latest?.epoch ?? -1
  if (leaderEpoch > latest) epochs.assign(leaderEpoch, baseOffset)
  else if (leaderEpoch >= 0 && leaderEpoch < latest) epochs.dropClaims(leaderEpoch, baseOffset)
}

/** Verifies batch by batch from a segment on, rebuilding indexes and state; the log ends before the first invalid batch. */
async function rebuildFrom(contents: LogContents, firstIndex: number, options: LoadOptions): Promise<void> {
  const { segments, snapshots } = contents
  const suspects = segments.all.slice(firstIndex)
  let nextOffset = suspects[0]?.baseOffset ?? 0
  await reloadProducerState(contents, nextOffset)
  for (const [index, segment] of suspects.entries()) {
    // It may know of producers whose batches are gone at the front of the log.
    if (snapshots.has(segment.baseOffset)) await reloadProducerState(contents, segment.baseOffset)
    const end = await rebuildSegment(contents, segment, options.neededFrom)
    nextOffset = end.nextOffset
    const next = suspects[index + 1]
    const follows = !next || mayFollow(contents, next, { nextOffset, recoveryPoint: options.recoveryPoint })
    if (end.position === segment.sizeBytes && follows) continue
    const later = suspects.slice(index + 1)
    await cutTail(contents, { segment, ...end, later, recoveryPoint: options.recoveryPoint }, options.damage)
    break
  }
  contents.logEndOffset = nextOffset
  await snapshots.removeWhere(snapshot => snapshot > nextOffset)
  for (const segment of suspects.filter(segment => segments.all.includes(segment))) {
    // The active one is left to the first flush; its indexes are rebuilt again if need be, or saved by a clean stop.
    if (segment !== segments.active) await segment.finish().then(() => segment.syncAll())
  }
}

/** First what comes later, durably: a crash on the way must not leave it behind a gap. */
async function cutTail(contents: LogContents, tail: InvalidTail, damage: DamagePolicy): Promise<void> {
  if (damage === 'refuse') await requireTornTail(tail)
  const { segment, position, nextOffset } = tail
  const bytes = segment.sizeBytes - position + tail.later.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  contents.environment.logger.warn('cut an invalid tail', { log: contents.name, offset: nextOffset, bytes })
  await removeSegmentsAbove(contents, segment.baseOffset)
  if (position < segment.sizeBytes) await segment.cutAt(position)
}

/**
 * Segments follow without a gap, or else it is known to be a hole: by the recovery point, or by the snapshot, written once the
 * data before was durable.
 */
function mayFollow(
  contents: LogContents,
  { baseOffset }: Segment,
  { nextOffset, recoveryPoint = NOTHING_DURABLE }: { nextOffset: number; recoveryPoint: number | undefined },
): boolean {
  if (baseOffset === nextOffset) return true
  return baseOffset > nextOffset && (contents.snapshots.has(baseOffset) || baseOffset <= recoveryPoint)
}

async function rebuildSegment(contents: LogContents, segment: Segment, neededFrom: number) {
  const { config, producers } = contents
  await segment.startRebuild()
  let nextOffset = segment.baseOffset
  const range = { from: 0, to: segment.sizeBytes, need: 'whole' } as const
  const end = await scanBatches(segment.file, range, (cursor, position) => {
    if (cursor.baseOffset < nextOffset || !segment.covers(cursor.lastOffset)) return 'invalid'
    const intact = isIntact(cursor)
    if (!intact && cursor.lastOffset >= neededFrom) return 'invalid'
    nextOffset = cursor.lastOffset + 1
    noteEpoch(contents, cursor)
    segment.noteBatch(cursor, position, config.indexIntervalBytes)
    const aborted = intact && producers.apply(cursor)
    if (aborted) segment.indexes.transactions.append(aborted)
    return 'continue'
  })
  return { nextOffset, position: end.position }
}

/** Kept: one per segment, for truncation, and the newest. */
async function removeStraySnapshots(contents: LogContents): Promise<void> {
  const bases = new Set(contents.segments.all.map(segment => segment.baseOffset))
  const newest = contents.snapshots.latestOffset(contents.logEndOffset)
  await contents.snapshots.removeWhere(offset => !bases.has(offset) && offset !== newest)
}
