/** What a grid is given: rows, and columns that show and order them. Views make them. */
import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

export interface GridColumn<T> {
  readonly name: string
  readonly head: string
  /** Of the track, as in grid-template-columns. */
  readonly width: string
  readonly show: (row: T) => ComponentChildren
  /** Makes the column one that can be sorted by; null comes last. */
  readonly sortBy?: (row: T) => string | number | null
  readonly isFigure?: boolean
  /** Left out where there is little room. */
  readonly isExtra?: boolean
  /** Where there is little room it gets a line of its own, above the others. */
  readonly isTitle?: boolean
}

export interface GridOrder {
  readonly column: string
  readonly descending: boolean
}

export interface GridProps<T> {
  readonly label: string
  readonly rows: readonly T[]
  readonly columns: readonly GridColumn<T>[]
  readonly keyOf: (row: T) => string
  readonly none: string
  readonly order?: Signal<GridOrder>
  /** Keys of chosen rows; absent = rows cannot be chosen. */
  readonly selected?: Signal<ReadonlySet<string>>
  /** Enter, or a click beside links and boxes. */
  readonly open?: (row: T) => void
}

/** The columns that are shown: with little room the title first, and no extras. */
export function shownColumns<T>(columns: readonly GridColumn<T>[], isNarrow: boolean): readonly GridColumn<T>[] {
  if (!isNarrow) return columns
  const shown = columns.filter(({ isExtra }) => !isExtra)
  return [...shown.filter(({ isTitle }) => isTitle), ...shown.filter(({ isTitle }) => !isTitle)]
}

/** The rows in the order that somebody has chosen. */
export function inOrder<T>(rows: readonly T[], columns: readonly GridColumn<T>[], order: GridOrder): readonly T[] {
  const by = columns.find(({ name }) => name === order.column)?.sortBy
  if (!by) return rows
  const keyed = rows.map(row => ({ row, key: by(row) }))
  const sign = order.descending ? -1 : 1
  keyed.sort((a, b) => {
    if (a.key === b.key) return 0
    if (a.key === null) return 1
    if (b.key === null) return -1
    return a.key < b.key ? -sign : sign
  })
  return keyed.map(({ row }) => row)
}
