/** The table of the mirror benchmark: figures of both copying processes side by side, their ratios, and the bars. */
import Table from 'cli-table3'
import type { CopyRate } from './copy-rate.ts'
import type { Delays } from './delay.ts'

/** What was measured in one case; figures of MirrorMaker 2 are missing where it did not run. */
export interface CaseFigures {
  readonly name: string
  readonly rates: readonly CopyRate[]
  readonly mirrorMakerRate: CopyRate | undefined
  /** Of the source and of the mirror, by copying process. */
  readonly delays: readonly Delays[]
  readonly mirrorMakerDelays: readonly Delays[]
}

/** Bytes per CPU second, against MirrorMaker 2. */
const EFFICIENCY_BAR = 8
const DELAY_P99_BAR_MS = 20

export function printReport(cases: readonly CaseFigures[]): void {
  console.log('\nCopying a backlog (medians; cores = CPU time per time):')
  console.log(ratesTable(cases))
  if (cases.some(({ delays }) => delays.length > 0)) {
    console.log('\nFrom sending a record to seeing it, ms (p50 / p99):')
    console.log(delaysTable(cases))
  }
  console.log(
    `Bars: at least ${EFFICIENCY_BAR} times the bytes per CPU second, p99 delay at most ${DELAY_P99_BAR_MS} ms.`,
  )
}

function ratesTable(cases: readonly CaseFigures[]): string {
  const head = ['case', 'MB/s', 'CPU s/GB', 'cores', 'MM2 MB/s', 'MM2 CPU s/GB', 'bytes per CPU s', 'bar']
  const table = new Table({ head, style: { head: [], border: [] } })
  for (const { name, rates, mirrorMakerRate: other } of cases) {
    const speed = median(rates.map(rate => rate.megabytesPerSecond))
    const cost = median(rates.map(rate => rate.cpuSecondsPerGigabyte))
    const ratio = other ? other.cpuSecondsPerGigabyte / cost : undefined
    table.push([
      name,
      speed.toFixed(0),
      cost.toFixed(2),
      ((speed * cost) / 1000).toFixed(2),
      other?.megabytesPerSecond.toFixed(0) ?? '-',
      other?.cpuSecondsPerGigabyte.toFixed(1) ?? '-',
      ratio === undefined ? '-' : `${ratio.toFixed(1)} x`,
      ratio === undefined ? '-' : ratio >= EFFICIENCY_BAR ? 'met' : 'missed',
    ])
  }
  return table.toString()
}

function delaysTable(cases: readonly CaseFigures[]): string {
  const head = ['case', 'at the source', 'at the mirror', 'bar', 'source (MM2 run)', 'MM2']
  const table = new Table({ head, style: { head: [], border: [] } })
  for (const { name, delays, mirrorMakerDelays } of cases) {
    const [atSource, atMirror] = delays
    const [otherSource, other] = mirrorMakerDelays
    if (!atMirror) continue
    const bar = atMirror.p99 <= DELAY_P99_BAR_MS ? 'met' : 'missed'
    table.push([name, textOf(atSource), textOf(atMirror), bar, textOf(otherSource), textOf(other)])
  }
  return table.toString()
}

const textOf = (delays: Delays | undefined): string =>
  delays ? `${delays.p50.toFixed(1)} / ${delays.p99.toFixed(1)}` : '-'

/** The middle one of the sorted figures. */
export function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
