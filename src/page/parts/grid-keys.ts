/** How a grid is walked, and its rows chosen, by keyboard: arrows, pages, Home and End; Space, Shift, Ctrl+A; Enter. The grid calls it. */
import type { Signal } from '@preact/signals'

export interface KeyTarget<T> {
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  readonly selected: Signal<ReadonlySet<string>> | undefined
  readonly open: ((row: T) => void) | undefined
  readonly active: Signal<number>
  /** The active row, within what there is. */
  readonly at: number
  readonly pageRows: number
  readonly reveal: (row: number) => void
}

export function moveByKey<T>(event: KeyboardEvent, target: KeyTarget<T>): void {
  // Keys in heads and cells are theirs.
  if (event.target !== event.currentTarget) return
  const { at, rows, pageRows, active, reveal, selected } = target
  const next = nextRow(event.key, { at, last: rows.length - 1, pageRows })
  if (next !== undefined) {
    active.value = next
    if (event.shiftKey) selectRange(target, at, next)
    reveal(next)
  } else if (event.key === ' ' && selected) choose(target, at, event.shiftKey)
  else if (event.key === 'Enter') {
    const row = rows[at]
    if (row !== undefined) target.open?.(row)
  } else if (event.key === 'a' && (event.ctrlKey || event.metaKey) && selected) selectAll(target)
  else return
  event.preventDefault()
}

function nextRow(
  key: string,
  { at, last, pageRows }: { readonly at: number; readonly last: number; readonly pageRows: number },
): number | undefined {
  const within = (row: number) => Math.max(0, Math.min(last, row))
  switch (key) {
    case 'ArrowDown':
      return within(at + 1)
    case 'ArrowUp':
      return within(at - 1)
    case 'PageDown':
      return within(at + pageRows)
    case 'PageUp':
      return within(at - pageRows)
    case 'Home':
      return within(0)
    case 'End':
      return within(last)
    default:
      return undefined
  }
}

/** Changes the choice of one row; with Shift of all rows from the one that was active before. */
export function choose<T>(target: KeyTarget<T>, row: number, isRange: boolean): void {
  const { selected, keyOf, rows, at, active } = target
  const chosen = rows[row]
  if (!selected || chosen === undefined) return
  if (isRange) selectRange(target, at, row)
  else {
    const keys = new Set(selected.peek())
    const key = keyOf(chosen)
    if (!keys.delete(key)) keys.add(key)
    selected.value = keys
  }
  active.value = row
}

function selectRange<T>({ selected, rows, keyOf }: KeyTarget<T>, a: number, b: number): void {
  if (!selected) return
  const between = rows.slice(Math.min(a, b), Math.max(a, b) + 1)
  selected.value = new Set([...selected.peek(), ...between.map(keyOf)])
}

/** All rows, or none where all are chosen. */
export function selectAll<T>({ selected, rows, keyOf }: Pick<KeyTarget<T>, 'selected' | 'rows' | 'keyOf'>): void {
  if (!selected) return
  const keys = rows.map(keyOf)
  const known = selected.peek()
  const isAll = keys.every(key => known.has(key))
  selected.value = isAll ? new Set([...known].filter(key => !new Set(keys).has(key))) : new Set([...known, ...keys])
}
