/** The mirrors of a link in a table that stays fluent with ten thousand of them: filter, order, many chosen at once. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { CreateMirrors } from '../actions/create-mirrors.tsx'
import { MirrorActions } from '../actions/mirror-actions.tsx'
import { RestoreTopics } from '../actions/restore-topics.tsx'
import { links } from '../live/cluster-state.ts'
import { type MirrorRow, mirrorRows } from '../live/mirror-rows.ts'
import { linkHref, mirrorHref, TROUBLED } from '../live/problems.ts'
import { Button } from '../parts/button.tsx'
import { Grid } from '../parts/grid.tsx'
import { type GridColumn, type GridOrder, inOrder } from '../parts/grid-column.ts'
import { Moment } from '../parts/moment.tsx'
import { Nothing } from '../parts/notice.tsx'
import { Status } from '../parts/status.tsx'
import { counted, durationText, numberText, statusWords } from '../text/figures.ts'

const columnsOf = (link: string): readonly GridColumn<MirrorRow>[] => [
  {
    name: 'topic',
    head: 'Topic',
    width: 'minmax(0, 1fr)',
    isTitle: true,
    sortBy: row => row.name,
    show: row => (
      <a href={mirrorHref(link, row.name)} tabIndex={-1} class="cell-name" title={row.name}>
        {row.name}
      </a>
    ),
  },
  {
    name: 'status',
    head: 'Status',
    width: 'minmax(146px, 0.4fr)',
    sortBy: row => row.status,
    show: row => (
      <span title={row.reason ?? undefined}>
        <Status value={row.status} isTroubled={row.reason !== null} />
      </span>
    ),
  },
  {
    name: 'lag',
    head: 'Lag',
    width: '92px',
    isFigure: true,
    sortBy: row => row.lag,
    show: row => <span class="live-figure">{numberText(row.lag)}</span>,
  },
  {
    name: 'lag-time',
    head: 'Behind by',
    width: '104px',
    isFigure: true,
    isExtra: true,
    sortBy: row => row.lagMs,
    show: row => <span class="live-figure">{durationText(row.lagMs)}</span>,
  },
  {
    name: 'partitions',
    head: 'Partitions',
    width: '100px',
    isFigure: true,
    isExtra: true,
    sortBy: row => row.partitions,
    show: row => numberText(row.partitions),
  },
  {
    name: 'since',
    head: 'State since',
    width: '190px',
    isFigure: true,
    isExtra: true,
    sortBy: row => row.sinceMs,
    show: row => <Moment ms={row.sinceMs} />,
  },
]

const isOf = ({ status, reason }: MirrorRow, wanted: string): boolean =>
  wanted === TROUBLED ? status === 'ACTIVE' && reason !== null : status === wanted

export function LinkMirrors({ link, status }: { readonly link: string; readonly status: string | undefined }) {
  const text = useSignal('')
  const order = useSignal<GridOrder>({ column: 'topic', descending: false })
  const selected = useSignal<ReadonlySet<string>>(new Set())
  const isCreating = useSignal(false)
  const isRestoring = useSignal(false)
  const isTwoWay = links.value?.some(each => each.link_name === link && each.remote_cluster_id !== null) ?? false
  const rows = mirrorRows.value
  const columns = useMemo(() => columnsOf(link), [link])
  const shown = useMemo(() => {
    const part = text.value.trim().toLowerCase()
    const isShown = (row: MirrorRow) =>
      (status === undefined || isOf(row, status)) && (part === '' || row.name.toLowerCase().includes(part))
    return inOrder([...(rows?.values() ?? [])].filter(isShown), columns, order.value)
  }, [rows, text.value, order.value, status, columns])
  if (rows === undefined) return <Nothing>Asking the node…</Nothing>
  const chosen = [...selected.value].flatMap(name => rows.get(name) ?? [])
  return (
    <section class="stack tight" aria-label="Mirrors">
      <div class="tools">
        <input
          type="search"
          class="filter"
          placeholder="Filter by name"
          aria-label="Filter mirrors by name"
          value={text.value}
          onInput={event => (text.value = event.currentTarget.value)}
        />
        <StatusChoice link={link} status={status} rows={rows} />
        <span class="muted" role="status">
          {shown.length === rows.size
            ? counted(rows.size, 'mirror')
            : `${numberText(shown.length)} of ${counted(rows.size, 'mirror')}`}
        </span>
        <span class="tools-end actions">
          {isTwoWay ? <Button onClick={() => (isRestoring.value = true)}>Restore topics</Button> : null}
          <Button tone="primary" onClick={() => (isCreating.value = true)}>
            New mirrors
          </Button>
        </span>
      </div>
      {selected.value.size > 0 ? (
        <div class="chosen">
          <strong>{numberText(selected.value.size)} selected</strong>
          <MirrorActions link={link} mirrors={chosen} />
          <Button tone="quiet" onClick={() => (selected.value = new Set())}>
            Clear
          </Button>
        </div>
      ) : null}
      <Grid
        label={`Mirrors of ${link}`}
        rows={shown}
        {...{ columns, order, selected }}
        keyOf={row => row.name}
        open={row => {
          location.hash = mirrorHref(link, row.name)
        }}
        none={rows.size === 0 ? 'This link has no mirrors yet.' : 'No mirror matches.'}
      />
      {isRestoring.value ? <RestoreTopics link={link} close={() => (isRestoring.value = false)} /> : null}
      {isCreating.value ? <CreateMirrors link={link} close={() => (isCreating.value = false)} /> : null}
    </section>
  )
}

interface ChoiceProps {
  readonly link: string
  readonly status: string | undefined
  readonly rows: ReadonlyMap<string, MirrorRow>
}

function StatusChoice({ link, status, rows }: ChoiceProps) {
  const statuses = new Set([...(status === undefined ? [] : [status]), ...[...rows.values()].map(row => row.status)])
  return (
    <select
      aria-label="Filter mirrors by status"
      value={status ?? ''}
      onChange={event => {
        const { value } = event.currentTarget
        location.hash = value === '' ? linkHref(link) : `${linkHref(link)}?status=${value}`
      }}
    >
      <option value="">Every status</option>
      {[...statuses].sort().map(each => (
        <option key={each} value={each}>
          {each === TROUBLED ? 'active, in trouble' : statusWords(each)}
        </option>
      ))}
    </select>
  )
}
