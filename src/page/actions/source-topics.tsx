/** Topics of a link's source in a table, some of them to be chosen. Dialogs that make mirrors show it. */
import { type Signal, useSignal, useSignalEffect } from '@preact/signals'
import type { SourceTopicData, SourceTopicDataList } from '../../rest/schemas/source-topics.ts'
import { call } from '../api/api-client.ts'
import { linkPath } from '../api/paths.ts'
import { Grid } from '../parts/grid.tsx'
import { type GridColumn, type GridOrder, inOrder } from '../parts/grid-column.ts'
import { useLoaded } from '../parts/loaded.ts'
import { Failure, Nothing } from '../parts/notice.tsx'
import { counted, numberText } from '../text/figures.ts'

/** What auto-create says about a topic that nobody has asked for. */
const OF_AUTO_CREATE: ReadonlySet<string> = new Set(['AUTO_CREATE_DISABLED', 'NOT_INCLUDED', 'LEFT_OUT'])

const COLUMNS: readonly GridColumn<SourceTopicData>[] = [
  {
    ...{
      name: 'topic',
      head: 'Source topic',
      width: 'minmax(0, 1fr)',
      isTitle: true,
      sortBy: row => row.source_topic_name,
    },
    show: row => <span class="cell-name">{row.source_topic_name}</span>,
  },
  {
    ...{ name: 'partitions', head: 'Partitions', width: '90px', isFigure: true, sortBy: row => row.num_partitions },
    show: row => numberText(row.num_partitions),
  },
  {
    ...{ name: 'note', head: 'Note', width: 'minmax(90px, 1fr)', sortBy: row => row.reason },
    show: row => (
      <span class="cell-name muted" title={row.message ?? undefined}>
        {row.reason !== null && OF_AUTO_CREATE.has(row.reason) ? 'not mirrored' : row.message}
      </span>
    ),
  },
]

interface SourceTopicsProps {
  readonly link: string
  /** Can it be chosen? */
  readonly isOffered: (topic: SourceTopicData) => boolean
  /** Those that can. */
  readonly chosen: Signal<readonly SourceTopicData[]>
  /** Says why others cannot. */
  readonly tellsOthers?: boolean
}

export function SourceTopics({ link, isOffered, chosen, tellsOthers = false }: SourceTopicsProps) {
  const text = useSignal('')
  const order = useSignal<GridOrder>({ column: 'topic', descending: false })
  const selected = useSignal<ReadonlySet<string>>(new Set())
  const loaded = useLoaded(
    signal => call<SourceTopicDataList>('GET', linkPath(link, 'source-topics'), { signal }),
    link,
  )
  const topics = (loaded.value.value?.data ?? []).filter(({ mirrored }) => !mirrored)
  const offered = topics.filter(isOffered)
  useSignalEffect(() => {
    chosen.value = (loaded.value.value?.data ?? []).filter(topic => selected.value.has(topic.source_topic_name))
  })
  const part = text.value.trim().toLowerCase()
  const rows = inOrder(
    offered.filter(topic => topic.source_topic_name.toLowerCase().includes(part)),
    COLUMNS,
    order.value,
  )
  if (!loaded.value.value)
    return loaded.error.value ? <Failure error={loaded.error.value} /> : <Nothing>Asking the source…</Nothing>
  return (
    <>
      <input
        type="search"
        placeholder="Filter by name"
        aria-label="Filter source topics"
        value={text.value}
        onInput={event => (text.value = event.currentTarget.value)}
      />
      <Grid
        label={`Source topics of ${link}`}
        rows={rows}
        columns={COLUMNS}
        {...{ order, selected }}
        keyOf={row => row.source_topic_name}
        none="No topic is left, or none matches."
      />
      {tellsOthers ? <Others topics={topics.filter(topic => !isOffered(topic))} /> : null}
    </>
  )
}

function Others({ topics }: { readonly topics: readonly SourceTopicData[] }) {
  if (topics.length === 0) return null
  return (
    <details>
      <summary>{counted(topics.length, 'topic')} cannot be mirrored now</summary>
      <ul class="checks scrolled">
        {topics.map(({ source_topic_name: name, mirror_status: status, message }) => (
          <li key={name} class="wide-mark">
            <code>{name}</code>
            <span class="muted">{status === 'STOPPED' ? `Its mirror was stopped: ${message}.` : message}</span>
          </li>
        ))}
      </ul>
    </details>
  )
}
