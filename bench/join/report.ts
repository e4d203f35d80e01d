/** The table of the join benchmark: the three ways side by side, the ratios of figures that were measured one behind the other, and the bars. */
import Table from 'cli-table3'
import type { CopyRate } from '../mirror/copy-rate.ts'
import type { Delays } from '../mirror/delay.ts'
import { median } from '../mirror/report.ts'

/** What one case measured; those of a round ran one behind the other. */
export interface JoinCase {
  readonly name: string
  readonly rounds: readonly {
    readonly lockstep: CopyRate
    /** One Java follower catches up with a Java leader. */
    readonly one: CopyRate
    /** Two of them at a time. */
    readonly two: CopyRate
  }[]
  readonly mirrorMaker: CopyRate | undefined
}

/** Bytes per CPU second of all processes, against MirrorMaker 2. */
const EFFICIENCY_BAR = 3
/** Of the throughput of plain replication. */
const CEILING_BAR = 0.7
const DELAY_P99_BAR_MS = 50

/** `delays`: of the source, then of each Java replica. */
export function printJoinReport(cases: readonly JoinCase[], delays: readonly Delays[]): void {
  console.log('\nA backlog onto two Java replicas (medians; CPU time of all processes):')
  console.log(table(cases))
  for (const [index, { p50, p99, records, behindFirst }] of delays.entries()) {
    const where = index === 0 ? 'the source' : `replicas on broker ${index}`
    const behind =
      index === 0 ? '' : `; behind the source ${behindFirst.p50.toFixed(1)} / ${behindFirst.p99.toFixed(1)} ms`
    console.log(
      `From sending a record to seeing it at ${where}: ${p50.toFixed(1)} / ${p99.toFixed(1)} ms (p50 / p99), ${records}${behind}`,
    )
  }
  console.log(
    `Bars: at least ${EFFICIENCY_BAR} times the bytes per CPU second of MM2, at least ${CEILING_BAR} of the ceiling, p99 delay at most ${DELAY_P99_BAR_MS} ms.`,
  )
}

function table(cases: readonly JoinCase[]): string {
  const head = [
    'case',
    'MB/s',
    'CPU s/GB',
    'MM2 MB/s',
    'MM2 CPU s/GB',
    'bytes per CPU s',
    'bar',
    '1 follower MB/s',
    'ratios',
    '2 followers MB/s, CPU s/GB',
    'ratios',
    'ratios of bytes per CPU s',
  ]
  const rows = new Table({ head, style: { head: [], border: [] } })
  for (const { name, rounds, mirrorMaker } of cases) {
    const lockstep = rounds.map(round => round.lockstep)
    const cost = median(lockstep.map(rate => rate.cpuSecondsPerGigabyte))
    const times = mirrorMaker && mirrorMaker.cpuSecondsPerGigabyte / cost
    const two = rounds.map(round => round.two)
    rows.push([
      name,
      speedOf(lockstep),
      cost.toFixed(2),
      mirrorMaker?.megabytesPerSecond.toFixed(0) ?? '-',
      mirrorMaker?.cpuSecondsPerGigabyte.toFixed(1) ?? '-',
      times === undefined ? '-' : `${times.toFixed(1)} x`,
      times === undefined ? '-' : times >= EFFICIENCY_BAR ? 'met' : 'missed',
      speedOf(rounds.map(round => round.one)),
      ratios(rounds.map(round => [round.lockstep, round.one])),
      `${speedOf(two)}, ${median(two.map(rate => rate.cpuSecondsPerGigabyte)).toFixed(2)}`,
      ratios(rounds.map(round => [round.lockstep, round.two])),
      ratios(
        rounds.map(round => [round.lockstep, round.two]),
        rate => 1 / rate.cpuSecondsPerGigabyte,
      ),
    ])
  }
  return rows.toString()
}

const speedOf = (rates: readonly CopyRate[]): string => median(rates.map(rate => rate.megabytesPerSecond)).toFixed(0)

/** Ours to theirs, of figures that are the better the larger they are. */
function ratios(
  pairs: readonly (readonly [CopyRate, CopyRate])[],
  figure = (rate: CopyRate): number => rate.megabytesPerSecond,
): string {
  const each = pairs.map(([ours, theirs]) => figure(ours) / figure(theirs))
  return `${each.map(ratio => ratio.toFixed(2)).join(' ')}: ${median(each) >= CEILING_BAR ? 'met' : 'missed'}`
}
