/** Which rows of a long table are to be drawn; the grid asks. Pure. */

export interface RowWindow {
  /** First row that is drawn. */
  readonly from: number
  /** Exclusive. */
  readonly to: number
}

/** Rows above and below what is seen: scrolling finds them drawn. */
const SPARE_ROWS = 8

export function windowOfRows(
  rows: number,
  { top, height, rowHeight }: { readonly top: number; readonly height: number; readonly rowHeight: number },
): RowWindow {
  const first = Math.floor(top / rowHeight)
  const seen = Math.ceil(height / rowHeight)
  const from = Math.max(0, Math.min(first, rows - seen) - SPARE_ROWS)
  return { from, to: Math.min(rows, first + seen + SPARE_ROWS) }
}

/** The scroll position at which the row is seen, nearest to where it is now. */
export function topThatShows(
  row: number,
  { top, height, rowHeight }: { readonly top: number; readonly height: number; readonly rowHeight: number },
): number {
  if (row * rowHeight < top) return row * rowHeight
  const lowest = (row + 1) * rowHeight - height
  return Math.max(top, lowest)
}
