/** The table of the broker benchmark: figures of both brokers side by side, their ratios, and the bar; bench/broker.ts prints it. */
import Table from 'cli-table3'
import { median } from '../mirror/report.ts'
import type { SideName } from './sides.ts'

/** One run of a tool against one broker. */
export interface Rate {
  readonly megabytesPerSecond: number
  /** Of the broker, the tool's warm-up and end included. */
  readonly cpuSecondsPerGigabyte: number
}

/** What one case measured. `pairs` ran one behind the other. */
export interface CaseRates {
  readonly name: string
  readonly pairs: readonly Readonly<Record<SideName, Rate>>[]
}

/** Of Kafka's throughput. */
const BAR = 0.5

export function printReport(cases: readonly CaseRates[]): void {
  const head = [
    'case',
    'Kafka MB/s',
    'Lockstep MB/s',
    'ratio',
    'ratios of the pairs',
    'bar',
    'Kafka CPU s/GB',
    'Lockstep',
  ]
  const table = new Table({ head, style: { head: [], border: [] } })
  for (const { name, pairs } of cases) {
    const of = (side: SideName, figure: keyof Rate) => median(pairs.map(pair => pair[side][figure]))
    const ratios = pairs.map(ratioOf)
    table.push([
      name,
      of('Kafka', 'megabytesPerSecond').toFixed(1),
      of('Lockstep', 'megabytesPerSecond').toFixed(1),
      median(ratios).toFixed(2),
      ratios.map(ratio => ratio.toFixed(2)).join(' '),
      median(ratios) >= BAR ? 'met' : 'missed',
      of('Kafka', 'cpuSecondsPerGigabyte').toFixed(1),
      of('Lockstep', 'cpuSecondsPerGigabyte').toFixed(1),
    ])
  }
  console.log(table.toString())
  console.log(
    `Medians; the ratio is the median of the ratios of the pairs. Bar: at least ${BAR} of Kafka's throughput.`,
  )
}

export const ratioOf = (pair: CaseRates['pairs'][number]): number =>
  pair.Lockstep.megabytesPerSecond / pair.Kafka.megabytesPerSecond
