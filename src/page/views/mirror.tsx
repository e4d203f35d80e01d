/** One mirror: how far behind each partition is, how that went lately, what has happened to it, why it is (not) mirrored, and whether it is equal to its source. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { MirrorData } from '../../rest/schemas/mirrors.ts'
import { MirrorActions } from '../actions/mirror-actions.tsx'
import { ApiError, call } from '../api/api-client.ts'
import { mirrorPath } from '../api/paths.ts'
import { watchEvents } from '../live/cluster-state.ts'
import { lagOf, rowOf } from '../live/mirror-rows.ts'
import { linkHref } from '../live/problems.ts'
import { rateNow, ratesOf, type Sample, withSample } from '../live/samples.ts'
import { Chart } from '../parts/chart.tsx'
import { useLoaded } from '../parts/loaded.ts'
import { Moment } from '../parts/moment.tsx'
import { Failure, Nothing, Notice } from '../parts/notice.tsx'
import { Status, toneOf } from '../parts/status.tsx'
import { byteText, counted, durationText, numberText, rateText, shortNumber, statusWords } from '../text/figures.ts'
import { MirrorExplanation } from './mirror-explanation.tsx'
import { MirrorHistory } from './mirror-history.tsx'
import { MirrorPartitions } from './mirror-partitions.tsx'
import { MirrorVerification } from './mirror-verification.tsx'

const PERIOD_MS = 2000

interface Seen {
  readonly mirror: MirrorData
  readonly samples: readonly Sample[]
  /** The look before, for the rates of partitions. */
  readonly before: MirrorData | undefined
  readonly elapsedMs: number
}

export function MirrorView({ link, topic }: { readonly link: string; readonly topic: string }) {
  const seen = useSignal<Seen | undefined>(undefined)
  const key = `${link}/${topic}`
  useEffect(() => {
    seen.value = undefined
  }, [key])
  const loaded = useLoaded(
    async signal => {
      const query = { include_state_transition_errors: 'true' }
      const mirror = await call<MirrorData>('GET', mirrorPath(link, topic), { query, signal })
      if (!signal.aborted) seen.value = seenWith(seen.peek(), mirror)
      return mirror
    },
    key,
    PERIOD_MS,
  )
  useEffect(
    () =>
      watchEvents(event => {
        if (event.type === 'state' && event.link_name === link && event.mirror_topic_name === topic)
          void loaded.reload()
      }),
    [key],
  )
  const now = seen.value
  if (!now || now.mirror.mirror_topic_name !== topic)
    return loaded.error.value ? <Failure error={loaded.error.value} /> : <Nothing>Asking the node…</Nothing>
  const { mirror } = now
  const isGone = loaded.error.value instanceof ApiError && loaded.error.value.status === 404
  return (
    <div class="stack">
      <div class="heading">
        <div>
          <p class="crumbs">
            <a href="#/">Overview</a> / <a href={linkHref(link)}>{link}</a> / Mirror
          </p>
          <div class="title-line">
            <h1 class="mono">{topic}</h1>
            {isGone ? null : <Since mirror={mirror} />}
          </div>
        </div>
        {/* The dialog of what has ended the mirror stays until it is closed. */}
        <MirrorActions link={link} mirrors={isGone ? [] : [rowOf(mirror)]} />
      </div>
      {isGone ? (
        <Notice tone="warn">
          There is no mirror {topic} of {link} any more.
        </Notice>
      ) : (
        <>
          <Failure error={loaded.error.value} />
          <Figures seen={now} link={link} />
        </>
      )}
    </div>
  )
}

function Since({ mirror }: { readonly mirror: MirrorData }) {
  return (
    <>
      <Status value={mirror.mirror_status} isTroubled={mirror.reason !== null} />
      <span class="muted">
        since <Moment ms={mirror.state_time_ms} />
      </span>
    </>
  )
}

function Figures({ seen, link }: { readonly seen: Seen; readonly link: string }) {
  const { mirror, before, elapsedMs } = seen
  const topic = mirror.mirror_topic_name
  return (
    <>
      <Reasons mirror={mirror} />
      <Charts seen={seen} />
      <MirrorPartitions mirror={mirror} before={before} elapsedMs={elapsedMs} />
      <div class="halves">
        <MirrorHistory link={link} topic={topic} version={`${mirror.mirror_status} ${mirror.state_time_ms}`} />
        <div class="stack">
          <MirrorVerification link={link} topic={topic} />
          <MirrorExplanation link={link} topic={topic} />
        </div>
      </div>
    </>
  )
}

function seenWith(known: Seen | undefined, mirror: MirrorData): Seen {
  const timeMs = Date.now()
  const bytes = mirror.mirror_lags.reduce((sum, lag) => sum + lag.mirrored_bytes, 0)
  const sample = { timeMs, lag: lagOf(mirror), lagMs: mirror.lag_ms, bytes }
  const last = known?.samples.at(-1)
  return {
    mirror,
    samples: withSample(known?.samples ?? [], sample),
    before: known?.mirror,
    elapsedMs: last ? timeMs - last.timeMs : 0,
  }
}

function toneOfReason({ mirror_topic_error: error, mirror_status: status }: MirrorData): 'bad' | 'warn' | 'calm' {
  if (error !== 'NO_ERROR') return 'bad'
  return toneOf(status) === 'calm' ? 'calm' : 'warn'
}

function Reasons({ mirror }: { readonly mirror: MirrorData }) {
  return (
    <>
      {mirror.mirror_topic_error === 'NO_ERROR' && mirror.reason === null ? null : (
        <Notice tone={toneOfReason(mirror)}>
          {mirror.mirror_topic_error === 'NO_ERROR' ? null : <strong>{mirror.mirror_topic_error} </strong>}
          {mirror.reason}
        </Notice>
      )}
      <Reversal reversal={mirror.reversal} />
      {mirror.held ? <Notice tone="warn">The change under way is held until the mirror is resumed.</Notice> : null}
      {(mirror.mirror_state_transition_errors ?? []).map(
        ({ error_code: code, error_message: message, since_ms: since }) => (
          <Notice key={code} tone="warn">
            <strong>{code}</strong> since <Moment ms={since} />: {message}
          </Notice>
        ),
      )}
    </>
  )
}

/** Both ends change their roles, or did so last. */
function Reversal({ reversal }: Pick<MirrorData, 'reversal'>) {
  if (reversal === null) return null
  const { peer_status: status, read_only_ms: readOnlyMs, aborted_transactions: aborted } = reversal
  return (
    <Notice tone={readOnlyMs === null ? 'warn' : 'calm'}>
      {readOnlyMs === null
        ? 'Roles are changing: nobody can write at either end.'
        : `Roles were changed: nobody could write for ${durationText(readOnlyMs)}, ${counted(aborted, 'transaction')} aborted.`}{' '}
      Other end: {statusWords(status ?? 'not known')}.
    </Notice>
  )
}

function Charts({ seen: { mirror, samples } }: { readonly seen: Seen }) {
  if (mirror.mirror_status === 'STOPPED') return null
  const timesMs = samples.map(sample => sample.timeMs)
  return (
    <div class="halves">
      <Chart
        title="Lag"
        summary={`${numberText(lagOf(mirror))} records, ${durationText(mirror.lag_ms)}`}
        timesMs={timesMs}
        values={samples.map(({ lag }) => lag)}
        format={shortNumber}
        tone="accent"
      />
      <Chart
        title="Throughput"
        summary={rateText(rateNow(samples))}
        timesMs={timesMs}
        values={ratesOf(samples)}
        format={value => `${byteText(value)}/s`}
        isBytes
        tone="good"
      />
    </div>
  )
}
