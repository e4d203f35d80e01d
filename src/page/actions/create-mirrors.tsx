/** New mirrors of a link: the topics of its source with whether and why (not) each is mirrored, some chosen, each one's outcome. */
import { useComputed, useSignal } from '@preact/signals'
import type { SourceTopicData, SourceTopicDataList } from '../../rest/schemas/source-topics.ts'
import { call, messageOf } from '../api/api-client.ts'
import { linkPath } from '../api/paths.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Grid } from '../parts/grid.tsx'
import { type GridColumn, type GridOrder, inOrder } from '../parts/grid-column.ts'
import { useLoaded } from '../parts/loaded.ts'
import { Failure, Nothing } from '../parts/notice.tsx'
import { Status } from '../parts/status.tsx'
import { counted, numberText } from '../text/figures.ts'

const COLUMNS: readonly GridColumn<SourceTopicData>[] = [
  {
    ...{ name: 'topic', head: 'Source topic', width: 'minmax(0, 1fr)', sortBy: row => row.source_topic_name },
    show: row => <span class="cell-name">{row.source_topic_name}</span>,
  },
  {
    ...{ name: 'partitions', head: 'Partitions', width: '90px', isFigure: true, sortBy: row => row.num_partitions },
    show: row => numberText(row.num_partitions),
  },
  {
    ...{ name: 'now', head: 'Now', width: 'minmax(90px, 1fr)', sortBy: row => row.mirror_status ?? row.reason },
    show: row =>
      row.mirror_status === null ? (
        <span class="cell-name muted" title={row.message ?? undefined}>
          {row.message ?? 'not mirrored'}
        </span>
      ) : (
        <Status value={row.mirror_status} />
      ),
  },
]

interface Outcome {
  readonly topic: string
  readonly error: string | undefined
  readonly warnings: readonly string[]
}

export function CreateMirrors({ link, close }: { readonly link: string; readonly close: () => void }) {
  const text = useSignal('')
  const order = useSignal<GridOrder>({ column: 'topic', descending: false })
  const selected = useSignal<ReadonlySet<string>>(new Set())
  const { outcomes, total, create } = useCreation(link)
  const loaded = useLoaded(
    signal => call<SourceTopicDataList>('GET', linkPath(link, 'source-topics'), { signal }),
    link,
  )
  const rows = useComputed(() => {
    const part = text.value.trim().toLowerCase()
    const isShown = ({ mirrored, source_topic_name: name }: SourceTopicData) =>
      !mirrored && name.toLowerCase().includes(part)
    return inOrder((loaded.value.value?.data ?? []).filter(isShown), COLUMNS, order.value)
  })
  if (outcomes.value)
    return (
      <Dialog title={`New mirrors of ${link}`} close={close} isWide foot={<Button onClick={close}>Close</Button>}>
        <Outcomes outcomes={outcomes.value} total={total.value} />
      </Dialog>
    )
  return (
    <Dialog
      title={`New mirrors of ${link}`}
      close={close}
      isWide
      foot={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            tone="primary"
            disabled={selected.value.size === 0}
            onClick={() => create(chosenOf(loaded.value.peek(), selected.peek()))}
          >
            Create {counted(selected.value.size, 'mirror')}
          </Button>
        </>
      }
    >
      <p>Topics of the source that are not mirrored yet. A mirror gets the same partitions, offsets and records.</p>
      <Failure error={loaded.error.value} />
      {loaded.value.value ? (
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
            rows={rows.value}
            columns={COLUMNS}
            {...{ order, selected }}
            keyOf={row => row.source_topic_name}
            none="Every topic of the source is mirrored."
          />
        </>
      ) : loaded.error.value ? null : (
        <Nothing>Asking the source…</Nothing>
      )}
    </Dialog>
  )
}

const chosenOf = (list: SourceTopicDataList | undefined, selected: ReadonlySet<string>) =>
  (list?.data ?? []).filter(row => selected.has(row.source_topic_name))

/** Creates one after the other, and tells what became of each. */
function useCreation(link: string) {
  const outcomes = useSignal<readonly Outcome[] | undefined>(undefined)
  const total = useSignal(0)
  const create = async (chosen: readonly SourceTopicData[]) => {
    const done: Outcome[] = []
    total.value = chosen.length
    outcomes.value = done
    for (const topic of chosen) {
      done.push(await createOne(link, topic))
      outcomes.value = [...done]
    }
  }
  return { outcomes, total, create }
}

function Outcomes({ outcomes, total }: { readonly outcomes: readonly Outcome[]; readonly total: number }) {
  const created = outcomes.filter(({ error }) => error === undefined).length
  return (
    <>
      <p role="status">
        <strong>
          {numberText(created)} of {counted(total, 'mirror')}
        </strong>{' '}
        created.
      </p>
      <progress max={Math.max(1, total)} value={outcomes.length} aria-label="Mirrors that were asked for" />
      <ul class="steps">
        {outcomes.map(({ topic, error, warnings }) => (
          <li key={topic}>
            <code>{topic}</code>
            {error === undefined ? (
              <span>{['created', ...warnings].join('. ')}</span>
            ) : (
              <span class="bad-text">{error}</span>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}

async function createOne(link: string, topic: SourceTopicData): Promise<Outcome> {
  const { source_topic_name: source, mirror_topic_name: mirror } = topic
  try {
    const body = { source_topic_name: source, ...(mirror === source ? {} : { mirror_topic_name: mirror }) }
    const path = linkPath(link, 'mirrors')
    const { warnings } = await call<{ warnings: string[] }>('POST', path, { query: { report: 'true' }, body })
    return { topic: mirror, error: undefined, warnings }
  } catch (error) {
    return { topic: mirror, error: messageOf(error), warnings: [] }
  }
}
