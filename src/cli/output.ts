/** What commands print: tables for people, or JSON or YAML of the same facts. Called by every command. */
import { styleText } from 'node:util'
import Table from 'cli-table3'
import { stringify } from 'yaml'

export type OutputFormat = 'human' | 'json' | 'yaml'
export const OUTPUT_FORMATS: readonly OutputFormat[] = ['human', 'json', 'yaml']

/** One column: heading for people, key for machines. */
export interface Column<Row> {
  readonly heading: string
  readonly key: string
  readonly value: (row: Row) => unknown
  /** Left out of JSON and YAML when the value is empty. */
  readonly optional?: boolean
}

/** Where text goes; replaced in tests. */
export interface Terminal {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Colours and prompts only here. */
  readonly interactive: boolean
  /** Asks a question and resolves to the line that was typed. */
  readonly ask: (question: string) => Promise<string>
}

const BORDERLESS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
}

/** Prints rows; an empty list says so to people and is [] for machines. */
export function printRows<Row>(
  terminal: Terminal,
  rows: readonly Row[],
  view: { columns: readonly Column<Row>[]; format: OutputFormat; empty: string },
): void {
  const { columns, format } = view
  if (format !== 'human')
    return printData(
      terminal,
      rows.map(row => record(row, columns)),
      format,
    )
  if (rows.length === 0) return terminal.out(`${view.empty}\n`)
  const table = new Table({
    head: columns.map(column => emphasise(terminal, column.heading)),
    chars: BORDERLESS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  for (const row of rows) table.push(columns.map(column => cell(column.value(row))))
  terminal.out(`${trimLines(table.toString())}\n`)
}

/** Prints one thing, a line per fact. */
export function printOne<Row>(
  terminal: Terminal,
  row: Row,
  view: { columns: readonly Column<Row>[]; format: OutputFormat },
): void {
  const { columns, format } = view
  if (format !== 'human') return printData(terminal, record(row, columns), format)
  const width = Math.max(...columns.map(column => column.heading.length))
  for (const column of columns)
    terminal.out(
      `${emphasise(terminal, column.heading.padEnd(width))}  ${cell(column.value(row))}`.trimEnd().concat('\n'),
    )
}

export function printData(terminal: Terminal, data: unknown, format: 'json' | 'yaml'): void {
  terminal.out(format === 'json' ? `${JSON.stringify(data, null, 2)}\n` : stringify(data))
}

function record<Row>(row: Row, columns: readonly Column<Row>[]): Record<string, unknown> {
  return Object.fromEntries(
    columns
      .map(column => [column.key, column.value(row), column.optional === true] as const)
      .filter(([, value, optional]) => !(optional && (value === null || value === undefined || value === '')))
      .map(([key, value]) => [key, value ?? null]),
  )
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const emphasise = (terminal: Terminal, text: string) => (terminal.interactive ? styleText('bold', text) : text)
const trimLines = (text: string) =>
  text
    .split('\n')
    .map(line => line.trimEnd())
    .join('\n')
