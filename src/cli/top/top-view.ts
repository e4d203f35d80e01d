/** What `lockstep top` shows, and what keys change of it. Pure; called by the command. */
import { SORTS, type Sort } from './top-rows.ts'

export interface TopView {
  readonly sort: Sort
  readonly reversed: boolean
  readonly byPartition: boolean
  /** Rows scrolled away above. */
  readonly scrolled: number
  /** Samples are taken, and not shown. */
  readonly paused: boolean
  readonly help: boolean
}

export const KEYS: readonly (readonly [key: string, meaning: string])[] = [
  ['q', 'quit'],
  ['↑ ↓ PgUp PgDn', 'scroll'],
  ['s', 'sort by the next column'],
  ['l t b n a', 'sort by lag, time, bytes, name, status'],
  ['r', 'reverse the order'],
  ['p', 'a row for each partition, or for each topic'],
  ['space', 'hold the picture, or let it go on'],
  ['?', 'this help'],
]

const SORT_KEYS: Readonly<Record<string, Sort>> = { l: 'lag', t: 'time', b: 'rate', n: 'name', a: 'status' }

/** The view after a key; undefined = the end. `page` is the number of rows on the screen. */
export function afterKey(view: TopView, key: string, page: number): TopView | undefined {
  const sort = SORT_KEYS[key]
  if (sort) return { ...view, sort, scrolled: 0 }
  const scroll = (rows: number) => ({ ...view, scrolled: Math.max(0, view.scrolled + rows) })
  switch (key) {
    case 'q':
      return undefined
    case 'escape':
      return view.help ? { ...view, help: false } : undefined
    case 's':
      return { ...view, sort: SORTS[(SORTS.indexOf(view.sort) + 1) % SORTS.length] ?? 'lag', scrolled: 0 }
    case 'r':
      return { ...view, reversed: !view.reversed }
    case 'p':
      return { ...view, byPartition: !view.byPartition, scrolled: 0 }
    case 'space':
      return { ...view, paused: !view.paused }
    case '?':
    case 'h':
      return { ...view, help: !view.help }
    case 'up':
    case 'k':
      return scroll(-1)
    case 'down':
    case 'j':
      return scroll(1)
    case 'pageup':
      return scroll(-page)
    case 'pagedown':
      return scroll(page)
    case 'home':
      return { ...view, scrolled: 0 }
    case 'end':
      return scroll(Number.MAX_SAFE_INTEGER / 2)
    default:
      return view
  }
}
