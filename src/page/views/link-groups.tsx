/** Group offsets that a link keeps in step: how each stands, and letting the link have one that it did not write. */
import { useComputed, useSignal } from '@preact/signals'
import type { LinkGroupData, LinkGroupDataList } from '../../rest/schemas/groups.ts'
import { AdoptGroup } from '../actions/adopt-group.tsx'
import { call } from '../api/api-client.ts'
import { linkPath } from '../api/paths.ts'
import { Button } from '../parts/button.tsx'
import { Grid } from '../parts/grid.tsx'
import { type GridColumn, type GridOrder, inOrder } from '../parts/grid-column.ts'
import { useLoaded } from '../parts/loaded.ts'
import { Moment } from '../parts/moment.tsx'
import { Failure, Nothing } from '../parts/notice.tsx'
import { Status } from '../parts/status.tsx'
import { counted, numberText } from '../text/figures.ts'

const REFRESH_MS = 5000

const columnsOf = (adopt: (group: string) => void): readonly GridColumn<LinkGroupData>[] => [
  {
    ...{ name: 'group', head: 'Group', width: 'minmax(0, 1fr)', isTitle: true, sortBy: row => row.group_id },
    show: row => <span class="cell-name">{row.group_id}</span>,
  },
  {
    ...{ name: 'topic', head: 'Topic', width: 'minmax(0, 1fr)', sortBy: row => `${row.topic_name} ${row.partition}` },
    show: row => (
      <span class="cell-name">
        {row.topic_name} / {row.partition}
      </span>
    ),
  },
  {
    ...{ name: 'state', head: 'State', width: 'minmax(100px, 1.2fr)', sortBy: row => row.state },
    show: row => (
      <span class="cell-name" title={row.reason ?? undefined}>
        <Status value={row.state} />
        {row.state === 'CONFLICT' ? (
          <Button
            tone="quiet"
            label={`Adopt: let the link overwrite the offsets of ${row.group_id}`}
            onClick={() => adopt(row.group_id)}
          >
            Adopt
          </Button>
        ) : null}{' '}
        <span class="muted">{row.reason}</span>
      </span>
    ),
  },
  {
    ...{ name: 'source', head: 'At the source', width: '110px', isFigure: true, isExtra: true },
    sortBy: row => row.source_offset,
    show: row => numberText(row.source_offset),
  },
  {
    ...{ name: 'here', head: 'Written here', width: '110px', isFigure: true, isExtra: true },
    sortBy: row => row.synced_offset,
    show: row => `${numberText(row.synced_offset)}${row.clamped ? ' (clamped)' : ''}`,
  },
  {
    ...{ name: 'time', head: 'Last written', width: '150px', isFigure: true, isExtra: true },
    sortBy: row => row.synced_time_ms,
    show: row => <Moment ms={row.synced_time_ms} />,
  },
]

export function LinkGroups({ link }: { readonly link: string }) {
  const text = useSignal('')
  const order = useSignal<GridOrder>({ column: 'group', descending: false })
  const adopted = useSignal<string | undefined>(undefined)
  const loaded = useLoaded(
    signal => call<LinkGroupDataList>('GET', linkPath(link, 'groups'), { signal }),
    link,
    REFRESH_MS,
  )
  const close = () => {
    adopted.value = undefined
    void loaded.reload()
  }
  const columns = columnsOf(group => (adopted.value = group))
  const rows = useComputed(() => {
    const part = text.value.trim().toLowerCase()
    const found = (loaded.value.value?.data ?? []).filter(
      row => part === '' || `${row.group_id} ${row.topic_name} ${row.state}`.toLowerCase().includes(part),
    )
    return inOrder(found, columns, order.value)
  })
  if (!loaded.value.value && !loaded.error.value) return <Nothing>Asking the node…</Nothing>
  return (
    <section class="stack tight" aria-label="Groups">
      <div class="tools">
        <input
          type="search"
          class="filter"
          placeholder="Filter by group, topic or state"
          aria-label="Filter groups"
          value={text.value}
          onInput={event => (text.value = event.currentTarget.value)}
        />
        <span class="muted" role="status">
          {counted(rows.value.length, 'offset')}
        </span>
      </div>
      <Failure error={loaded.error.value} />
      <Grid
        label={`Group offsets of ${link}`}
        rows={rows.value}
        {...{ columns, order }}
        keyOf={row => `${row.group_id} ${row.topic_name} ${row.partition}`}
        none="No group offsets are kept in step. Switch it on with consumer.offset.sync.enable and a filter of groups."
      />
      {adopted.value === undefined ? null : (
        <AdoptGroup link={link} group={adopted.value} offsets={loaded.value.value?.data ?? []} close={close} />
      )}
    </section>
  )
}
