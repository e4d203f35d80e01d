/** Draws the live table of a mirror: figures and the size of the terminal in, lines out. Pure; the live view calls it. */
import { styleText } from 'node:util'
import { countText, durationText, megabytesText } from './figures-text.ts'
import type { MirrorFigures, PartitionFigures } from './mirror-meter.ts'

/** What the lines are drawn for. */
export interface Canvas {
  readonly columns: number
  readonly rows: number
  readonly colour: boolean
}

type Row = Omit<PartitionFigures, 'partition' | 'problem'> & { readonly partition: string; readonly topic: string }
type Style = Parameters<typeof styleText>[0]

interface Column {
  readonly heading: string
  readonly text: (row: Row) => string
  readonly style?: (row: Row) => Style | undefined
  readonly left?: boolean
  /** Which columns go first when the terminal is too narrow: the highest. 0 = stays. */
  readonly dispensable: number
}

const lagStyle = ({ lag }: Row): Style | undefined => (lag === null ? 'dim' : lag === 0 ? 'green' : 'yellow')

const COLUMNS: readonly Column[] = [
  { heading: 'topic', text: row => row.topic, left: true, dispensable: 5 },
  { heading: 'partition', text: row => row.partition, dispensable: 1 },
  { heading: 'source HW', text: row => countText(row.sourceHighWatermark), dispensable: 4 },
  { heading: 'mirror LEO', text: row => countText(row.mirrorEndOffset), dispensable: 3 },
  { heading: 'lag', text: row => countText(row.lag), style: lagStyle, dispensable: 0 },
  { heading: 'lag ms', text: row => countText(row.lagMs), dispensable: 6 },
  { heading: 'MB/s', text: row => megabytesText(row.bytesPerSecond), dispensable: 2 },
]

const GAP = '  '
const TOPIC_WIDTH_MAX = 32
/** Lines around the partitions: title, reason, headings, a line for what is left out, the total, room for the prompt. */
const OTHER_ROWS = 7
const PARTITION_ROWS_MIN = 3

/** Every line is shorter than the terminal is wide, so that none wraps. */
export function drawMirror(figures: MirrorFigures, canvas: Canvas): string[] {
  const width = Math.max(1, canvas.columns - 1)
  const paint = (style: Style | undefined, text: string) =>
    canvas.colour && style !== undefined ? styleText(style, text, { validateStream: false }) : text
  const shown = worthShowing(figures.partitions, Math.max(PARTITION_ROWS_MIN, canvas.rows - OTHER_ROWS))
  const topic = clip(figures.topic, TOPIC_WIDTH_MAX)
  const rows: Row[] = shown.map(figure => ({ ...figure, partition: String(figure.partition), topic }))
  const total: Row = { ...figures.total, partition: `all ${figures.partitions.length}`, topic }
  const columns = fittingColumns([...rows, total], width)
  const line = (cells: readonly string[]) => clip(cells.join(GAP).trimEnd(), width)
  const tableLine = (row: Row) => {
    const plain = line(columns.map(({ column, size }) => pad(column, column.text(row), size)))
    const painted = columns.map(({ column, size }) => paint(column.style?.(row), pad(column, column.text(row), size)))
    // Colours take no room, but they cannot be cut: a line that had to be clipped stays plain.
    return plain.endsWith('…') ? plain : painted.join(GAP).trimEnd()
  }
  const hidden = figures.partitions.length - shown.length
  return [
    titleLine(figures, width, paint),
    ...problemLines(figures, width).map(text => paint('yellow', text)),
    '',
    paint('bold', line(columns.map(({ column, size }) => pad(column, column.heading, size)))),
    ...rows.map(tableLine),
    ...(hidden > 0 ? [paint('dim', clip(`... and ${hidden} partitions with less lag`, width))] : []),
    ...(figures.partitions.length > 1 ? [tableLine(total)] : []),
  ]
}

/** One line for logs and pipes. */
export function mirrorLine(figures: MirrorFigures): string {
  const { total } = figures
  const lagMs = total.lagMs === null ? '' : ` (${countText(total.lagMs)} ms)`
  const reason = figures.reason === null ? '' : `: ${figures.reason}`
  return (
    `${durationText(figures.elapsedMs)} ${figures.topic} ${figures.status}${reason}, source HW ` +
    `${countText(total.sourceHighWatermark)}, mirror LEO ${countText(total.mirrorEndOffset)}, lag ` +
    `${countText(total.lag)} records${lagMs}, ${megabytesText(total.bytesPerSecond)} MB/s`
  )
}

/** `text` within `width` characters. */
export const clip = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`

const GOOD = new Set(['ACTIVE', 'STOPPED'])

/** The longest of several titles that fits; the state is what matters most. */
function titleLine(figures: MirrorFigures, width: number, paint: (style: Style, text: string) => string): string {
  const { link, topic, status, elapsedMs } = figures
  const time = `, ${durationText(elapsedMs)}`
  const around = [
    [`mirror ${topic} over link ${link}: `, time],
    [`mirror ${topic}: `, time],
    [`${topic}: `, ''],
    ['', ''],
  ] as const
  const fitting = around.find(([start, end]) => start.length + status.length + end.length <= width)
  if (fitting === undefined) return clip(status, width)
  return fitting[0] + paint(GOOD.has(status) ? 'green' : 'yellow', status) + fitting[1]
}

/** The topic's reason and that of the first partition that does not follow. */
function problemLines(figures: MirrorFigures, width: number): string[] {
  const broken = figures.partitions.find(({ problem }) => problem !== null && problem !== figures.reason)
  return [
    ...(figures.reason === null ? [] : [figures.reason]),
    ...(broken === undefined ? [] : [`partition ${broken.partition}: ${broken.problem}`]),
  ].map(text => clip(text, width))
}

/** All of them in order, or those with most lag if there are too many. */
function worthShowing(partitions: readonly PartitionFigures[], max: number): PartitionFigures[] {
  if (partitions.length <= max) return [...partitions]
  return [...partitions]
    .sort((a, b) => (b.lag ?? -1) - (a.lag ?? -1) || a.partition - b.partition)
    .slice(0, max)
    .sort((a, b) => a.partition - b.partition)
}

interface PlacedColumn {
  readonly column: Column
  readonly size: number
}

/** Drops the most dispensable columns until the rest fits. */
function fittingColumns(rows: readonly Row[], width: number): PlacedColumn[] {
  let columns = COLUMNS.map(column => ({
    column,
    size: Math.max(column.heading.length, ...rows.map(row => column.text(row).length)),
  }))
  while (columns.length > 1 && widthOf(columns) > width) {
    const worst = Math.max(...columns.map(({ column }) => column.dispensable))
    columns = columns.filter(({ column }) => column.dispensable !== worst)
  }
  return columns
}

const widthOf = (columns: readonly PlacedColumn[]): number =>
  columns.reduce((sum, { size }) => sum + size, GAP.length * (columns.length - 1))

const pad = (column: Column, text: string, size: number): string =>
  column.left ? text.padEnd(size) : text.padStart(size)
