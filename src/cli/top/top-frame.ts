/** The picture of `lockstep top`, line by line. Pure; called by the command. */
import { cutText, displayWidth, padEnd, padStart } from '../text-width.ts'
import { byteText, counted, grouped, timeText } from '../words.ts'
import { sortedRows, type TopRow } from './top-rows.ts'
import { KEYS, type TopView } from './top-view.ts'

export interface Picture {
  readonly rows: readonly TopRow[]
  readonly view: TopView
  /** What the node is asked about: cluster, link. */
  readonly subject: string
  readonly time: string
  /** Why the rows may be old. */
  readonly trouble: string | undefined
}

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** Paints for one terminal; plain text where there are no colours. */
export interface Paints {
  readonly heading: (text: string) => string
  readonly state: (text: string) => string
  readonly trouble: (text: string) => string
}

/** Lines that are not rows: two above, the headings, a blank one and the keys below. */
const OTHER_LINES = 5

export const pageOf = ({ rows }: Size): number => Math.max(1, rows - OTHER_LINES)

interface TopColumn {
  readonly heading: string
  readonly text: (row: TopRow) => string
  readonly isText?: boolean
  /** Goes when there is no room, the highest first. */
  readonly dispensable: number
}

const rateText = (value: number | null, text: (value: number) => string) => (value === null ? '-' : text(value))

const LINK: TopColumn = { heading: 'LINK', text: row => row.link, isText: true, dispensable: 1 }
const TOPIC: TopColumn = { heading: 'TOPIC', text: row => row.topic, isText: true, dispensable: 0 }
const PARTITION: TopColumn = { heading: 'PART', text: row => String(row.partition ?? ''), dispensable: 0 }
const PARTITIONS: TopColumn = { heading: 'PARTS', text: row => String(row.partitions), dispensable: 3 }
const FIGURES: readonly TopColumn[] = [
  { heading: 'STATUS', text: row => row.status, isText: true, dispensable: 0 },
  { heading: 'LAG', text: row => (row.lag === null ? '?' : grouped(row.lag)), dispensable: 0 },
  { heading: 'TIME', text: row => (row.lagMs === null ? '?' : timeText(row.lagMs)), dispensable: 2 },
  { heading: 'RECORDS/S', text: row => rateText(row.recordsPerSecond, grouped), dispensable: 4 },
  { heading: 'BYTES/S', text: row => rateText(row.bytesPerSecond, byteText), dispensable: 0 },
]
const GAP = '  '
const TOPIC_MIN = 12

/** Exactly as many lines as the screen has. */
export function screenLines(picture: Picture, size: Size, paints: Paints): string[] {
  const { view } = picture
  const page = pageOf(size)
  const table = view.help ? helpLines() : tableLines(picture, size.columns, paints)
  const [headings = '', ...rows] = table
  const scrolled = Math.min(view.scrolled, Math.max(0, rows.length - page))
  const shown = rows.slice(scrolled, scrolled + page)
  const blank = Array.from({ length: Math.max(0, page - shown.length) }, () => '')
  const more = rows.length > page ? `  ${scrolled + 1}-${scrolled + shown.length} of ${rows.length}` : ''
  const order = `sorted by ${view.sort}${view.reversed ? ', reversed' : ''}${view.paused ? '   HELD' : ''}${more}`
  const second = picture.trouble === undefined ? cutText(order, size.columns) : cutText(picture.trouble, size.columns)
  return [
    paints.heading(cutText(summary(picture), size.columns)),
    picture.trouble === undefined ? second : paints.trouble(second),
    view.help ? headings : paints.heading(headings),
    ...shown,
    ...blank,
    '',
    cutText('q quit  s sort  r reverse  p partitions  space hold  ? help', size.columns),
  ].slice(0, size.rows)
}

/** Headings and rows, for where there is no screen. */
export function tableLines({ rows, view }: Picture, columns: number, paints: Paints): string[] {
  const isOneLink = new Set(rows.map(row => row.link)).size < 2
  const all = [...(isOneLink ? [] : [LINK]), TOPIC, view.byPartition ? PARTITION : PARTITIONS, ...FIGURES]
  const sorted = sortedRows(rows, view.sort, view.reversed)
  const wanted = (column: TopColumn) =>
    Math.max(displayWidth(column.heading), ...sorted.map(row => displayWidth(column.text(row))))
  const { kept, widths } = fitting(all, new Map(all.map(column => [column, wanted(column)])), columns)
  const line = (cell: (column: TopColumn, width: number) => string) =>
    kept
      .map(column => cell(column, widths.get(column) ?? 0))
      .join(GAP)
      .trimEnd()
  const aligned = (text: string, column: TopColumn, width: number) =>
    column.isText ? padEnd(cutText(text, width), width) : padStart(text, width)
  return [
    line((column, width) => aligned(column.heading, column, width)),
    ...sorted.map(row =>
      line((column, width) => {
        const text = aligned(column.text(row), column, width)
        return column.heading === 'STATUS' ? text.replace(/\S+/, paints.state) : text
      }),
    ),
  ]
}

/** Leaves columns out until the topic has some room, then gives it what is left. */
function fitting(all: readonly TopColumn[], wanted: ReadonlyMap<TopColumn, number>, columns: number) {
  let kept = all
  const others = () => kept.filter(column => column !== TOPIC)
  const left = () => columns - others().reduce((sum, column) => sum + (wanted.get(column) ?? 0) + GAP.length, 0)
  while (left() < Math.min(TOPIC_MIN, wanted.get(TOPIC) ?? 0)) {
    const next = kept.toSorted((a, b) => b.dispensable - a.dispensable)[0]
    if (!next || next.dispensable === 0) break
    kept = kept.filter(column => column !== next)
  }
  const topic = Math.max(1, Math.min(wanted.get(TOPIC) ?? 0, left()))
  return { kept, widths: new Map([...wanted, [TOPIC, topic]]) }
}

function summary({ rows, subject, time }: Picture): string {
  const known = rows.filter(row => row.lag !== null)
  const lag = known.reduce((sum, row) => sum + (row.lag ?? 0), 0)
  const bytes = rows.reduce((sum, row) => sum + (row.bytesPerSecond ?? 0), 0)
  const topics = new Set(rows.map(row => `${row.link}/${row.topic}`)).size
  const unknown = known.length < rows.length ? '+' : ''
  return `lockstep top  ${subject}  ${counted(topics, 'mirror')}  lag ${grouped(lag)}${unknown}  ${byteText(bytes)}/s  ${time}`
}

function helpLines(): string[] {
  const width = Math.max(...KEYS.map(([key]) => displayWidth(key)))
  return ['', ...KEYS.map(([key, meaning]) => `  ${padEnd(key, width)}  ${meaning}`)]
}
