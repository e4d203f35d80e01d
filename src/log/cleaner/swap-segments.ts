/** Puts a cleaned segment in the place of those it was made from, so that a crash at any point leaves one or the other. */
import { segmentFileName } from '../file-names.ts'
import type { LogContents } from '../log-contents.ts'
import { Segment } from '../segment.ts'
import { CLEANED } from './cleaning-run.ts'

/** Marks files that are complete and are to take the place of others, as in Kafka. */
export const SWAP = '.swap'

/** In this order: a log is never there without its indexes in the same state, or in one that recovery knows. */
const KINDS = ['log', 'index', 'timeindex', 'txnindex'] as const

/**
 * `replaced` are neighbours in the log; their `….cleaned` successor, at the base of the first, is durable, and so are they.
 * Runs while nothing is appended or flushed; readers wait. If it fails the log must be opened again: recovery sees it through.
 */
export async function swapSegments(contents: LogContents, replaced: readonly Segment[]): Promise<void> {
  const { directory, snapshots, environment } = contents
  const { fs } = environment
  const baseOffset = replaced[0]?.baseOffset ?? 0
  const path = (kind: (typeof KINDS)[number], suffix: string) =>
    `${directory}/${segmentFileName(baseOffset, kind)}${suffix}`
  const names = new Set(await fs.list(directory))
  const kinds = KINDS.filter(kind => names.has(`${segmentFileName(baseOffset, kind)}${CLEANED}`))
  for (const kind of kinds) await fs.rename(path(kind, CLEANED), path(kind, SWAP))
  await fs.syncDirectory(directory)
  await contents.whileReadersWait(async () => {
    for (const segment of replaced) await segment.remove()
    // Or a power failure could keep a new name and bring an old neighbour back, which would overlap it.
    await fs.syncDirectory(directory)
    for (const kind of kinds) await fs.rename(path(kind, SWAP), path(kind, ''))
    const cleaned = await openSegment(contents, baseOffset)
    contents.segments.replace(replaced, cleaned)
  })
  contents.namesChanged = true
  await contents.syncNames()
  const gone = new Set(replaced.slice(1).map(segment => segment.baseOffset))
  await snapshots.removeWhere(offset => gone.has(offset))
}

/** Removes a successor that takes nobody's place: beside a later swap that a crash interrupts it would say that none was finished. */
export async function discardCleaned({ directory, environment }: LogContents, baseOffset: number): Promise<void> {
  const { fs } = environment
  const names = new Set(await fs.list(directory))
  for (const kind of KINDS) {
    const name = `${segmentFileName(baseOffset, kind)}${CLEANED}`
    if (names.has(name)) await fs.remove(`${directory}/${name}`)
  }
}

async function openSegment({ environment, directory }: LogContents, baseOffset: number): Promise<Segment> {
  const { fs, cache, clock } = environment
  const { segment } = await Segment.open({ fs, cache, directory, baseOffset, durable: true }, clock.nowMs())
  await segment.loadEnd()
  return segment
}
