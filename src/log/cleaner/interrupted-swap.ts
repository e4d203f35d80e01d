/** Ends a swap of cleaned segments that a crash interrupted, ours or Kafka's, by Kafka's rules; recovery calls it before it opens a log. */

import { parseSegmentFileName } from '../file-names.ts'
import type { FileSystem } from '../file-system.ts'
import { scanBatches } from '../segment-scan.ts'
import { CLEANED } from './cleaning-run.ts'
import { SWAP } from './swap-segments.ts'

interface Leftover {
  /** As in the directory. */
  readonly name: string
  /** Without the suffix. */
  readonly target: string
  readonly offset: number
  readonly isLog: boolean
}

/**
 * `names` are those in the directory. Files of a rewriting that was not finished go; a finished one takes the place of what it
 * was made from. Answers whether the directory was changed. A crash on the way is fine: the next call goes on.
 */
export async function endInterruptedSwap(
  fs: FileSystem,
  directory: string,
  names: readonly string[],
): Promise<boolean> {
  const cleaned = leftovers(names, CLEANED)
  const swaps = leftovers(names, SWAP)
  if (cleaned.length === 0 && swaps.length === 0) return false
  // While names change from one suffix to the next, both are there: then the old segments still are, too.
  const unfinished = Math.min(...cleaned.map(({ offset }) => offset))
  const valid = swaps.filter(({ offset }) => offset < unfinished)
  for (const { name } of swaps.filter(({ offset }) => offset >= unfinished)) await fs.remove(`${directory}/${name}`)
  for (const { name } of cleaned) await fs.remove(`${directory}/${name}`)
  await removeReplaced(fs, directory, { names, valid })
  for (const { name, target } of logFirst(valid)) await fs.rename(`${directory}/${name}`, `${directory}/${target}`)
  await fs.syncDirectory(directory)
  return true
}

/** What lies within the offsets of the new segments was made into them. Producer snapshots at their bases still hold. */
async function removeReplaced(
  fs: FileSystem,
  directory: string,
  { names, valid }: { names: readonly string[]; valid: readonly Leftover[] },
): Promise<void> {
  const logs = valid.filter(({ isLog }) => isLog)
  if (logs.length === 0) return
  const bases = new Set(logs.map(({ offset }) => offset))
  const ends = await Promise.all(logs.map(log => endOf(fs, directory, log)))
  const [from, to] = [Math.min(...bases), Math.max(...ends)]
  for (const name of logFirst(names.flatMap(name => ({ name, ...parseSegmentFileName(name) })))) {
    const { offset, kind } = name
    if (offset === undefined) continue
    const isReplaced = bases.has(offset) ? kind !== 'snapshot' : offset >= from && offset < to
    if (isReplaced) await fs.remove(`${directory}/${name.name}`)
  }
}

/** End of the last batch of a complete segment file. */
async function endOf(fs: FileSystem, directory: string, { name, offset }: Leftover): Promise<number> {
  const path = `${directory}/${name}`
  const file = fs.file(path)
  let end = offset
  try {
    const to = (await fs.sizeOf(path)) ?? 0
    await scanBatches(file, { from: 0, to, need: 'headers' }, ({ lastOffset }) => {
      end = lastOffset + 1
      return 'continue'
    })
  } finally {
    await file.close()
  }
  return end
}

function leftovers(names: readonly string[], suffix: string): Leftover[] {
  return names.flatMap(name => {
    if (!name.endsWith(suffix)) return []
    const target = name.slice(0, -suffix.length)
    const parsed = parseSegmentFileName(target)
    return parsed ? [{ name, target, offset: parsed.offset, isLog: parsed.kind === 'log' }] : []
  })
}

/** A log must not be there without its indexes. */
const logFirst = <T extends { readonly name: string }>(files: readonly T[]): T[] =>
  [...files].sort((a, b) => Number(!a.name.includes('.log')) - Number(!b.name.includes('.log')))
