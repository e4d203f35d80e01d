/** Lays changes over what is known of a share partition's records; the share coordinator calls it for each record that it replays. */
import { type StateBatch, UNKNOWN_START_OFFSET } from './share-persister.ts'

/**
 * Both lists as one, in order, without overlap, and as few batches as possible. Where batches overlap the higher delivery count
 * counts, then the higher state. What is below `startOffset` is gone, unless that is UNKNOWN_START_OFFSET.
 */
export function combineBatches(
  known: readonly StateBatch[],
  changes: readonly StateBatch[],
  startOffset: number,
): StateBatch[] {
  const batches = [...known, ...changes]
    .filter(({ lastOffset }) => startOffset === UNKNOWN_START_OFFSET || lastOffset >= startOffset)
    .sort((a, b) => a.firstOffset - b.firstOffset)
  const edges = new Set<number>()
  for (const { firstOffset, lastOffset } of batches) edges.add(Math.max(firstOffset, startOffset)).add(lastOffset + 1)
  const combined: StateBatch[] = []
  let covering: StateBatch[] = []
  let next = 0
  let from: number | undefined
  for (const edge of [...edges].sort((a, b) => a - b)) {
    if (from !== undefined) append(combined, best(covering), { from, before: edge })
    covering = covering.filter(({ lastOffset }) => lastOffset >= edge)
    for (let batch = batches[next]; batch && batch.firstOffset <= edge; batch = batches[++next]) covering.push(batch)
    from = edge
  }
  return combined
}

export const isSameState = (a: StateBatch, b: StateBatch): boolean =>
  a.deliveryState === b.deliveryState && a.deliveryCount === b.deliveryCount

function best(covering: readonly StateBatch[]): StateBatch | undefined {
  let found: StateBatch | undefined
  for (const batch of covering) if (!found || outranks(batch, found)) found = batch
  return found
}

const outranks = (a: StateBatch, b: StateBatch): boolean =>
  a.deliveryCount === b.deliveryCount ? a.deliveryState > b.deliveryState : a.deliveryCount > b.deliveryCount

function append(
  combined: StateBatch[],
  batch: StateBatch | undefined,
  { from, before }: { readonly from: number; readonly before: number },
): void {
  if (!batch) return
  const last = combined.at(-1)
  const { deliveryState, deliveryCount } = batch
  const added = { firstOffset: from, lastOffset: before - 1, deliveryState, deliveryCount }
  if (last && last.lastOffset + 1 === from && isSameState(last, added))
    combined[combined.length - 1] = { ...last, lastOffset: before - 1 }
  else combined.push(added)
}
