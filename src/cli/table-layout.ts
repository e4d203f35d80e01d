/** How a table fits the width of a terminal: which columns stay, how they are wrapped, what is said once above. Pure; called by output. */
import { displayWidth, longestWord, wrapText } from './text-width.ts'

export interface TextColumn {
  readonly heading: string
  readonly cells: readonly string[]
  /** Numbers are aligned to the right and never wrapped. */
  readonly numeric: boolean
}

export interface Layout {
  /** Columns that have the same value in all rows, where there is no room to repeat it. */
  readonly facts: readonly (readonly [heading: string, value: string])[]
  /** Cells with their line breaks; empty = each row is to be shown as a list of facts. */
  readonly columns: readonly TextColumn[]
}

/** Blanks between two columns. */
export const GAP = 2
/** Names longer than this are broken. */
const NAME_MAX = 40
/** How far sentences may be narrowed: words longer than this are broken, and no column is narrower. Tried one after the other. */
const SQUEEZES = [
  { word: 30, text: 20 },
  { word: 20, text: 14 },
  { word: 16, text: 10 },
] as const

/** The first of these that fits: everything on one line; without empty columns; wrapped; common values said once; a list per row. */
export function layOut(columns: readonly TextColumn[], width: number): Layout {
  if (tableWidth(columns) <= width) return { facts: [], columns }
  const filled = columns.filter(({ cells }) => cells.some(cell => cell !== ''))
  const wrapped = wrapColumns(filled, width)
  if (wrapped) return { facts: [], columns: wrapped }
  const isCommon = ({ cells }: TextColumn) => cells.length > 1 && cells.every(cell => cell === cells[0])
  const facts = filled.filter(isCommon).map(({ heading, cells }) => [heading, cells[0] ?? ''] as const)
  const different = wrapColumns(
    filled.filter(column => !isCommon(column)),
    width,
  )
  return different && different.length > 0 ? { facts, columns: different } : { facts: [], columns: [] }
}

const naturalWidth = ({ heading, cells }: TextColumn) => Math.max(...[heading, ...cells].map(displayWidth))

const tableWidth = (columns: readonly TextColumn[]) =>
  columns.reduce((sum, column) => sum + naturalWidth(column), 0) + GAP * (columns.length - 1)

/** Undefined where even the narrowest form is too wide. */
function wrapColumns(columns: readonly TextColumn[], width: number): TextColumn[] | undefined {
  for (const squeeze of SQUEEZES) {
    const given = columns.map(column => narrowest(column, squeeze))
    const left = width - GAP * (columns.length - 1) - given.reduce((sum, each) => sum + each, 0)
    if (left >= 0) return wrapTo(columns, widened(given, columns.map(naturalWidth), left))
  }
  return undefined
}

/** The column that lacks most gets the next character. */
function widened(given: number[], wanted: readonly number[], left: number): number[] {
  for (let rest = left; rest > 0; rest--) {
    const lacks = given.map((each, index) => (wanted[index] ?? 0) - each)
    const most = Math.max(...lacks)
    if (most <= 0) break
    const index = lacks.indexOf(most)
    given[index] = (given[index] ?? 0) + 1
  }
  return given
}

const wrapTo = (columns: readonly TextColumn[], widths: readonly number[]): TextColumn[] =>
  columns.map(({ heading, cells, numeric }, index) => ({
    heading: wrapText(heading, widths[index] ?? 1),
    cells: cells.map(cell => wrapText(cell, widths[index] ?? 1)),
    numeric,
  }))

function narrowest({ heading, cells, numeric }: TextColumn, squeeze: { word: number; text: number }): number {
  const headingWidth = longestWord(heading)
  if (numeric) return Math.max(headingWidth, ...cells.map(displayWidth))
  const isName = cells.every(cell => !cell.includes(' '))
  const words = Math.min(isName ? NAME_MAX : squeeze.word, Math.max(...cells.map(longestWord)))
  const whole = Math.max(...cells.map(displayWidth))
  return Math.max(headingWidth, words, Math.min(whole, squeeze.text))
}
