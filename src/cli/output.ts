/** What commands print: tables for people, or JSON or YAML of the same facts. Called by every command. */
import { styleText } from 'node:util'
import Table from 'cli-table3'
import type { CommandContext } from './context.ts'
import { GAP, layOut, type TextColumn } from './table-layout.ts'
import type { Terminal } from './terminal.ts'
import { wrapText } from './text-width.ts'

/** One column: heading for people, key for machines. */
export interface Column<Row> {
  readonly heading: string
  readonly key: string
  readonly value: (row: Row) => unknown
  /** What people see, where that is not the value as it is. */
  readonly text?: (row: Row) => string
  /** Left out of JSON and YAML when the value is empty. */
  readonly optional?: boolean
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
  middle: ' '.repeat(GAP),
}

/** Prints rows; an empty list says so to people and is [] for machines. */
export function printRows<Row>(
  context: CommandContext,
  rows: readonly Row[],
  view: { columns: readonly Column<Row>[]; empty: string },
): void {
  const { columns } = view
  if (context.format !== 'human') {
    const records = rows.map(row => record(row, columns))
    return printData(context, records)
  }
  if (rows.length === 0) return context.terminal.out(`${view.empty}\n`)
  printTable(
    context.terminal,
    columns.map(column => textColumn(column, rows)),
  )
}

/** Prints one thing, a line per fact. */
export function printOne<Row>(context: CommandContext, row: Row, columns: readonly Column<Row>[]): void {
  if (context.format !== 'human') return printData(context, record(row, columns))
  printFacts(
    context.terminal,
    columns.map(column => [column.heading, cell(column, row)]),
  )
}

/** Prints data as JSON or YAML; of a human format, as JSON. */
export function printData(context: CommandContext, data: unknown): void {
  context.terminal.out(context.toYaml ? context.toYaml(data) : `${JSON.stringify(data, null, 2)}\n`)
}

/** Prints what a command did: sentences for people, the same as data for machines. Warnings are told apart for people. */
export function printReport(
  context: CommandContext,
  report: {
    readonly lines: readonly string[]
    readonly data: object
    readonly warnings?: readonly string[] | undefined
  },
): void {
  const { lines, data, warnings = [] } = report
  if (context.format !== 'human') return printData(context, { ...data, warnings })
  for (const line of lines) printText(context.terminal, line)
  for (const warning of warnings) context.terminal.err(`Warning: ${warning}\n`)
}

/** A heading and a value a line. */
export function printFacts(terminal: Terminal, facts: readonly (readonly [string, string])[]): void {
  const width = Math.max(...facts.map(([heading]) => heading.length))
  const indent = ' '.repeat(width + GAP)
  for (const [heading, value] of facts) {
    const text = wrapText(value, Math.max(1, terminal.columns() - indent.length)).replaceAll('\n', `\n${indent}`)
    terminal.out(`${`${bold(terminal, heading.padEnd(width))}  ${paint(terminal, text)}`.trimEnd()}\n`)
  }
}

/** Prints a sentence, wrapped on a screen. */
export function printText(terminal: Terminal, text: string): void {
  terminal.out(`${wrapText(text, terminal.columns())}\n`)
}

function printTable(terminal: Terminal, all: readonly TextColumn[]): void {
  const { facts, columns } = layOut(all, terminal.columns())
  const [first] = all
  if (columns.length === 0) {
    first?.cells.forEach((_, index) => {
      if (index > 0) terminal.out('\n')
      printFacts(
        terminal,
        all.map(({ heading, cells }) => [heading, cells[index] ?? ''] as const).filter(([, value]) => value !== ''),
      )
    })
    return
  }
  if (facts.length > 0) {
    printFacts(terminal, facts)
    terminal.out('\n')
  }
  const table = new Table({
    head: columns.map(({ heading }) => bold(terminal, heading)),
    chars: BORDERLESS,
    colAligns: columns.map(({ numeric }) => (numeric ? 'right' : 'left')),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  columns[0]?.cells.forEach((_, index) => {
    table.push(columns.map(({ cells }) => paint(terminal, cells[index] ?? '')))
  })
  terminal.out(`${trimLines(table.toString())}\n`)
}

function textColumn<Row>(column: Column<Row>, rows: readonly Row[]): TextColumn {
  const values = rows.map(row => column.value(row))
  const numeric =
    values.some(value => typeof value === 'number') &&
    values.every(value => typeof value === 'number' || value === null || value === undefined)
  return { heading: column.heading, numeric, cells: rows.map(row => cell(column, row)) }
}

function record<Row>(row: Row, columns: readonly Column<Row>[]): Record<string, unknown> {
  return Object.fromEntries(
    columns
      .map(column => [column.key, column.value(row), column.optional === true] as const)
      .filter(([, value, optional]) => !(optional && (value === null || value === undefined || value === '')))
      .map(([key, value]) => [key, value ?? null]),
  )
}

/** One line; what could move the cursor is no part of a text. */
function cell<Row>(column: Column<Row>, row: Row): string {
  const value = column.text ? column.text(row) : column.value(row)
  if (value === null || value === undefined) return ''
  return (typeof value === 'object' ? JSON.stringify(value) : String(value)).replace(/\p{Cc}+/gu, ' ').trim()
}

const GOOD = /^(ACTIVE|PASSED|YES|SYNCED|HEALTHY|INCLUDE|EQUAL)$/
const BAD = /^(FAILED|IN_ERROR|LINK_FAILED|UNAVAILABLE|SOURCE_UNAVAILABLE|CONFLICT|NO|DIFFERENT|UNHEALTHY)$/
const NOTED = /^(PAUSED|LINK_PAUSED|PENDING_\w+|WARNING|UNKNOWN|WAITING|SKIPPED|IN_USE)$/

/** States in colours, where there are colours. */
export function paint(terminal: Terminal, text: string): string {
  if (!terminal.colours) return text
  const colour = GOOD.test(text) ? 'green' : BAD.test(text) ? 'red' : NOTED.test(text) ? 'yellow' : undefined
  return colour === undefined ? text : styleText(colour, text, { validateStream: false })
}

export const bold = (terminal: Terminal, text: string): string =>
  terminal.colours ? styleText('bold', text, { validateStream: false }) : text

const trimLines = (text: string) =>
  text
    .split('\n')
    .map(line => line.trimEnd())
    .join('\n')
