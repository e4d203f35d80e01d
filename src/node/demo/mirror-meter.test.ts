/** Rates and sums over successive answers about a mirror. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { MirrorData } from '../../rest/schemas/mirrors.ts'
import { MirrorMeter } from './mirror-meter.ts'

type Lag = MirrorData['mirror_lags'][number]

const lag = (partition: number, given: Partial<Lag> = {}): Lag => ({
  partition,
  lag: 0,
  last_source_fetch_offset: 0,
  lag_ms: 0,
  log_start_offset: 0,
  log_end_offset: 10,
  source_high_watermark: 10,
  source_last_stable_offset: 10,
  stable_lag: 0,
  mirrored_bytes: 0,
  partition_state: 'ACTIVE',
  reason: null,
  ...given,
})

const mirror = (lags: readonly Lag[]): MirrorData => ({
  kind: 'KafkaMirrorData',
  metadata: { self: '', resource_name: null },
  link_name: 'west',
  mirror_topic_name: 'orders',
  source_topic_name: 'orders',
  num_partitions: lags.length,
  mirror_lags: [...lags],
  mirror_status: 'ACTIVE',
  mirror_topic_error: 'NO_ERROR',
  state_time_ms: 0,
  allowed_actions: [],
  lag_ms: null,
  reason: null,
  held: false,
  stop_points: [],
  reversal: null,
})

test('a rate needs two samples and is the mean of the last three seconds', () => {
  const meter = new MirrorMeter()
  const rateAt = (bytes: number, atMs: number) =>
    meter.measure(mirror([lag(0, { mirrored_bytes: bytes })]), atMs).partitions[0]?.bytesPerSecond
  strictEqual(rateAt(5000, 10_000), null)
  strictEqual(rateAt(6000, 11_000), 1000)
  strictEqual(rateAt(12_000, 13_000), 7000 / 3)
  // The first sample is out of the window now.
  strictEqual(rateAt(12_000, 14_000), 2000)
  // Answers further apart than that: the mean since the one before.
  strictEqual(rateAt(18_000, 20_000), 1000)
})

test('a node that starts anew gives no negative rate', () => {
  const meter = new MirrorMeter()
  meter.measure(mirror([lag(0, { mirrored_bytes: 5000 })]), 0)
  strictEqual(meter.measure(mirror([lag(0, { mirrored_bytes: 10 })]), 1000).total.bytesPerSecond, 0)
})

test('partitions are sorted, totals are of what is known, the time runs from the first answer', () => {
  const meter = new MirrorMeter()
  meter.measure(mirror([]), 500)
  const unknown = { lag: null, lag_ms: null, log_end_offset: null, source_high_watermark: null }
  const figures = meter.measure(
    mirror([lag(2, { lag: 4, lag_ms: 30, source_high_watermark: 14 }), lag(0, unknown), lag(1, { lag: 1, lag_ms: 7 })]),
    2500,
  )
  deepStrictEqual(
    figures.partitions.map(({ partition }) => partition),
    [0, 1, 2],
  )
  deepStrictEqual(figures.total, {
    sourceHighWatermark: 24,
    mirrorEndOffset: 20,
    lag: 5,
    lagMs: 30,
    bytesPerSecond: 0,
  })
  strictEqual(figures.elapsedMs, 2000)
  strictEqual(new MirrorMeter().measure(mirror([lag(0, unknown)]), 0).total.lag, null)
})

test('a stopped mirror ends at its stop point', () => {
  const stopped = {
    ...mirror([lag(0, { lag: null, log_end_offset: null })]),
    mirror_status: 'STOPPED',
    stop_points: [{ partition: 0, stop_offset: 42, last_source_epoch: 0, stop_time_ms: 1 }],
  }
  strictEqual(new MirrorMeter().measure(stopped, 0).partitions[0]?.mirrorEndOffset, 42)
})
