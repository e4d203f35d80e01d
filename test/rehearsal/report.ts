// What a rehearsal found out, and how it is told to people: measured figures, and faults where a promise was not kept; used by both rehearsals and their runner.
import type { GroupVerdict } from './deliveries.ts'
import type { RanCommand } from './rehearsal-world.ts'

/** A topic after the move. */
export interface TopicRow {
  readonly topic: string
  readonly kind: string
  readonly partitions: number
  /** Acknowledged at the source, to be read there as committed. */
  readonly acknowledged: number
  /** Taken away by compaction or on purpose. */
  readonly compacted: number
  readonly lost: number
  /** How long before the end of the source the oldest lost record was acknowledged; null where nothing is lost. */
  readonly lostMs: number | null
  /** Acknowledged here afterwards. */
  readonly continued: number
}

/** All that is told; `faults` is empty where every promise was kept. */
export interface Report {
  readonly rehearsal: 'migration' | 'disaster'
  readonly source: string
  readonly seed: number
  readonly phases: readonly { readonly name: string; readonly ms: number }[]
  readonly figures: Readonly<Record<string, number | string | null>>
  readonly topics: readonly TopicRow[]
  readonly groups: readonly GroupVerdict[]
  readonly commands: readonly RanCommand[]
  readonly faults: readonly string[]
}

/** Collects while a rehearsal goes on. */
export class Notes {
  readonly phases: { name: string; ms: number }[] = []
  readonly figures: Record<string, number | string | null> = {}
  readonly faults: string[] = []
  readonly #tell: (line: string) => void

  constructor(tell: (line: string) => void) {
    this.#tell = tell
  }

  /** Runs one part and notes how long it took. */
  async phase<T>(name: string, run: () => Promise<T>): Promise<T> {
    const began = performance.now()
    this.#tell(`${name} …`)
    try {
      return await run()
    } catch (error) {
      this.#tell(`${name}: ${error instanceof Error ? error.message.slice(0, 400) : error}`)
      throw error
    } finally {
      this.phases.push({ name, ms: Math.round(performance.now() - began) })
    }
  }

  /** Notes a promise that was not kept. */
  expect(holds: boolean, fault: string): void {
    if (!holds) this.faults.push(fault)
  }
}

/** Text of all columns, aligned. */
function table(headings: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string[] {
  const cells = [headings, ...rows.map(row => row.map(cell => String(cell ?? '–')))]
  const widths = headings.map((_, column) => Math.max(...cells.map(row => row[column]?.length ?? 0)))
  return cells.map(row =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** For a terminal. */
export function humanReport(report: Report): string {
  const { topics, groups, phases, figures, commands, faults } = report
  const clients = [...new Set(groups.map(({ client }) => client))]
  const lines = [
    `Rehearsal: ${report.rehearsal}, source Kafka ${report.source}, seed ${report.seed}`,
    '',
    ...table(
      ['Topic', 'Kind', 'Partitions', 'Acknowledged', 'Compacted', 'Lost', 'Lost, ms', 'Written on'],
      topics.map(row => [
        row.topic,
        row.kind,
        row.partitions,
        row.acknowledged,
        row.compacted,
        row.lost,
        row.lostMs,
        row.continued,
      ]),
    ),
    '',
    ...table(
      ['Group', 'Read at source', 'Read at mirror', 'Read again', 'of those committed', 'Missed'],
      groups.map(row => [row.group, row.atSource, row.atMirror, row.reread, row.rereadCommitted, row.missed]),
    ),
    '',
    ...table(
      ['Client', 'Groups', 'Read again', 'of those committed', 'Missed'],
      clients.map(client => {
        const own = groups.filter(row => row.client === client)
        const count = (field: 'reread' | 'rereadCommitted' | 'missed') => sum(own.map(row => row[field]))
        return [client, own.length, count('reread'), count('rereadCommitted'), count('missed')]
      }),
    ),
    '',
    ...table(
      ['Phase', 'ms'],
      phases.map(({ name, ms }) => [name, ms]),
    ),
    '',
    ...table(
      ['Command', 'Exit code', 'ms'],
      commands.map(({ command, exitCode, ms }) => [command, exitCode, ms]),
    ),
    '',
    ...table(['Figure', 'Value'], Object.entries(figures)),
    '',
    ...(faults.length === 0
      ? ['Every promise was kept.']
      : ['Promises that were NOT kept:', ...faults.map(fault => `  ${fault}`)]),
  ]
  return `${lines.join('\n')}\n`
}
