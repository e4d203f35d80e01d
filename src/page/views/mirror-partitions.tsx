/** The partitions of a mirror: ends at source and mirror, lag, rate, and where each stopped. Part of the view of a mirror. */
import type { MirrorData } from '../../rest/schemas/mirrors.ts'
import { Grid } from '../parts/grid.tsx'
import type { GridColumn } from '../parts/grid-column.ts'
import { Moment } from '../parts/moment.tsx'
import { Status } from '../parts/status.tsx'
import { durationText, numberText, rateText } from '../text/figures.ts'

type Lag = MirrorData['mirror_lags'][number]

interface Row extends Lag {
  readonly rate: number | null
  readonly stop: MirrorData['stop_points'][number] | undefined
}

interface PartitionsProps {
  readonly mirror: MirrorData
  /** The look before; what was copied since is the rate. */
  readonly before: MirrorData | undefined
  readonly elapsedMs: number
}

const figure = (head: string, show: (row: Row) => string, isExtra = false): GridColumn<Row> => ({
  ...{ name: head, head, width: 'minmax(64px, 1fr)', isFigure: true, isExtra },
  show: row => <span class="live-figure">{show(row)}</span>,
})

const PARTITION: GridColumn<Row> = {
  ...{ name: 'partition', head: 'Partition', width: '66px', isFigure: true },
  show: row => row.partition,
}

const STATE: GridColumn<Row> = {
  ...{ name: 'state', head: 'State', width: 'minmax(131px, 3fr)' },
  show: row => (
    <span class="cell-name" title={row.reason ?? undefined}>
      <Status value={row.partition_state} isTroubled={row.reason !== null} /> <span class="muted">{row.reason}</span>
    </span>
  ),
}

const LIVE: readonly GridColumn<Row>[] = [
  PARTITION,
  STATE,
  figure('Source HW', row => numberText(row.source_high_watermark), true),
  figure('Mirror LEO', row => numberText(row.log_end_offset), true),
  figure('Log start', row => numberText(row.log_start_offset), true),
  figure('Lag', row => numberText(row.lag)),
  figure('Behind by', row => durationText(row.lag_ms), true),
  figure('Rate', row => rateText(row.rate), true),
]

const STOPPED: readonly GridColumn<Row>[] = [
  PARTITION,
  { ...STATE, isExtra: true },
  figure('Stop offset', row => numberText(row.stop?.stop_offset)),
  figure('Lag then', row => numberText(row.lag)),
  figure(
    'Last fetched',
    row => (row.last_source_fetch_offset < 0 ? '–' : numberText(row.last_source_fetch_offset)),
    true,
  ),
  figure('Source epoch', row => numberText(row.stop?.last_source_epoch), true),
  {
    ...{ name: 'time', head: 'Stopped', width: 'minmax(150px, 1fr)', isFigure: true, isExtra: true },
    show: row => <Moment ms={row.stop?.stop_time_ms} />,
  },
]

export function MirrorPartitions({ mirror, before, elapsedMs }: PartitionsProps) {
  const rows = mirror.mirror_lags.map((lag): Row => {
    const earlier = before?.mirror_lags.find(({ partition }) => partition === lag.partition)
    const bytes = earlier && lag.mirrored_bytes - earlier.mirrored_bytes
    return {
      ...lag,
      rate: bytes === undefined || bytes < 0 || elapsedMs <= 0 ? null : (bytes * 1000) / elapsedMs,
      stop: mirror.stop_points.find(({ partition }) => partition === lag.partition),
    }
  })
  return (
    <section class="stack tight" aria-label="Partitions">
      <h2>Partitions</h2>
      <div class="short-grid">
        <Grid
          label={`Partitions of ${mirror.mirror_topic_name}`}
          rows={rows}
          columns={mirror.mirror_status === 'STOPPED' ? STOPPED : LIVE}
          keyOf={row => String(row.partition)}
          none="No partitions."
        />
      </div>
    </section>
  )
}
