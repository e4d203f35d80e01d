/** Everything at a glance: what is wrong, which clusters are linked, how far behind each link is. The first view. */
import { useSignal } from '@preact/signals'
import type { LinkData } from '../../rest/schemas/links.ts'
import { CreateLink } from '../actions/create-link.tsx'
import { linkSamples, links, nodes, trouble } from '../live/cluster-state.ts'
import { linkHref, type Problem, problemsOf } from '../live/problems.ts'
import { rateNow, ratesOf } from '../live/samples.ts'
import { Button } from '../parts/button.tsx'
import { Moment } from '../parts/moment.tsx'
import { Nothing, Notice } from '../parts/notice.tsx'
import { Sparkline } from '../parts/sparkline.tsx'
import { Status, toneOf } from '../parts/status.tsx'
import { counted, durationText, numberText, rateText, statusWords } from '../text/figures.ts'
import { LinkMap } from './link-map.tsx'

export function Overview() {
  const found = links.value
  const isCreating = useSignal(false)
  return (
    <div class="stack">
      <div class="heading">
        <h1>Overview</h1>
        <Button tone="primary" onClick={() => (isCreating.value = true)}>
          New link
        </Button>
      </div>
      {isCreating.value ? <CreateLink close={() => (isCreating.value = false)} /> : null}
      {trouble.value === undefined ? null : <Notice tone="bad">{trouble.value}</Notice>}
      {found === undefined ? <Nothing>Asking the node…</Nothing> : <Known links={found} />}
    </div>
  )
}

function Known({ links: found }: { readonly links: readonly LinkData[] }) {
  const problems = problemsOf(found, nodes.value)
  return (
    <>
      <Attention problems={problems} hasLinks={found.length > 0} />
      {found.length === 0 ? (
        <div class="card empty">
          <h2>No links yet</h2>
          <p>A link names another cluster whose topics are mirrored here, offset by offset.</p>
        </div>
      ) : (
        <>
          <LinkMap links={found} />
          <ul class="link-cards">
            {found.map(link => (
              <LinkCard key={link.link_name} link={link} />
            ))}
          </ul>
        </>
      )}
    </>
  )
}

/** How many are told before somebody asks for all. */
const PROBLEMS_SHOWN = 6

function Attention({ problems, hasLinks }: { readonly problems: readonly Problem[]; readonly hasLinks: boolean }) {
  const all = useSignal(false)
  if (problems.length === 0)
    return hasLinks ? (
      <p class="all-well">
        <Status value="ACTIVE" text="All is well" />
        <span class="muted">Every link answers, no mirror and no task has an error.</span>
      </p>
    ) : null
  const shown = all.value ? problems : problems.slice(0, PROBLEMS_SHOWN)
  return (
    <section class="card attention" aria-label="What needs attention">
      <h2>
        {counted(problems.length, 'thing')} {problems.length === 1 ? 'needs' : 'need'} attention
      </h2>
      <ul>
        {shown.map(problem => (
          <li key={problem.title} class={`problem ${problem.tone}`}>
            <a href={problem.href}>{problem.title}</a>
            {problem.sinceMs === null ? null : (
              <span class="muted">
                since <Moment ms={problem.sinceMs} />
              </span>
            )}
            {problem.detail === null ? null : <p>{problem.detail}</p>}
          </li>
        ))}
      </ul>
      {shown.length < problems.length ? (
        <button type="button" class="button quiet" onClick={() => (all.value = true)}>
          Show all {problems.length}
        </button>
      ) : null}
    </section>
  )
}

export const remoteOf = (link: LinkData): string | null =>
  link.source_cluster_id ?? link.remote_cluster_id ?? link.destination_cluster_id

function LinkCard({ link }: { readonly link: LinkData }) {
  return (
    <li class="card link-card">
      <div class="link-card-head">
        <a class="link-name" href={linkHref(link.link_name)}>
          {link.link_name}
        </a>
        <Status value={link.link_state} />
      </div>
      <p class="muted">
        {remoteOf(link) === null ? (
          'Its source was not seen yet'
        ) : (
          <>
            from <code>{remoteOf(link)}</code>
          </>
        )}
      </p>
      <dl class="figures">
        <CopyFigures link={link} />
      </dl>
      <MirrorCounts link={link} />
    </li>
  )
}

/** How far a link is behind and how fast it copies, now and lately: entries of a list of figures. */
export function CopyFigures({ link }: { readonly link: LinkData }) {
  const samples = linkSamples.value.get(link.link_name) ?? []
  return (
    <>
      <div>
        <dt>Worst lag</dt>
        {link.max_lag === null ? (
          <dd class="not-known">{link.topic_names.length === 0 ? 'no mirrors' : 'not known'}</dd>
        ) : (
          <dd class="live-figure">
            <strong>{numberText(link.max_lag)}</strong> records <strong>{durationText(link.max_lag_ms)}</strong>
          </dd>
        )}
        <Sparkline values={samples.map(({ lag }) => lag)} />
      </div>
      <div>
        <dt>Throughput</dt>
        <dd class="live-figure">
          <strong>{rateText(rateNow(samples))}</strong>
        </dd>
        <Sparkline values={ratesOf(samples)} tone="good" />
      </div>
    </>
  )
}

/** How many mirrors are how, as a bar and in words. */
export function MirrorCounts({ link }: { readonly link: LinkData }) {
  const counts = link.mirror_status_counts
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  if (total === 0) return <p class="muted">No mirrors yet.</p>
  return (
    <div class="counts">
      <svg class="count-bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        {segments(counts, total).map(({ status, x, width }) => (
          <rect key={status} x={x} width={width} height="6" class={toneOf(status)} />
        ))}
      </svg>
      <ul>
        {counts.map(({ mirror_status: status, count }) => (
          <li key={status}>
            <a href={`${linkHref(link.link_name)}?status=${status}`} class={`count ${toneOf(status)}`}>
              <strong>{numberText(count)}</strong> {statusWords(status)}
            </a>
          </li>
        ))}
      </ul>
    </div>
  )
}

function segments(counts: LinkData['mirror_status_counts'], total: number) {
  let x = 0
  return counts.map(({ mirror_status: status, count }) => {
    const width = (count / total) * 100
    const segment = { status, x, width }
    x += width
    return segment
  })
}
