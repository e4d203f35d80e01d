/** Emptying a node of a joined cluster, and letting it have mirrors again: first what would move where, then what has moved. Shown with each node. */
import { useSignal } from '@preact/signals'
import type { NodeData } from '../../rest/schemas/clusters.ts'
import type { DrainNodeAnswer, MovedPartition } from '../../rest/schemas/placement.ts'
import { call } from '../api/api-client.ts'
import { clusterPath } from '../api/paths.ts'
import { nodes, refreshSoon } from '../live/cluster-state.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { useLoaded } from '../parts/loaded.ts'
import { Failure, Nothing, Notice } from '../parts/notice.tsx'
import { counted, numberText } from '../text/figures.ts'

/** Partitions that are listed one by one. */
const ROWS_SHOWN = 100

const pathOf = (node: NodeData, verb: string): string => `${clusterPath('nodes', String(node.node_id))}:${verb}`

export function DrainNode({ node }: { readonly node: NodeData }) {
  const isDraining = useSignal(false)
  const error = useSignal<unknown>(undefined)
  const resume = async () => {
    error.value = undefined
    await call('POST', pathOf(node, 'resume')).catch(problem => (error.value = problem))
    refreshSoon()
  }
  return (
    <div class="actions">
      {node.cordoned ? (
        <Button hint="Lets the node have new mirrors again." onClick={resume}>
          Resume node {node.node_id}
        </Button>
      ) : null}
      <Button
        hint="Moves everything away from the node, for maintenance; it gets no new mirrors until it is resumed."
        onClick={() => (isDraining.value = true)}
      >
        Drain node {node.node_id}
      </Button>
      <Failure error={error.value} />
      {isDraining.value ? <Drain node={node} close={() => (isDraining.value = false)} /> : null}
    </div>
  )
}

function Drain({ node, close }: { readonly node: NodeData; readonly close: () => void }) {
  const done = useSignal<readonly MovedPartition[] | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const dry = useLoaded(
    signal => call<DrainNodeAnswer>('POST', pathOf(node, 'drain'), { query: { validate_only: 'true' }, signal }),
    String(node.node_id),
  )
  const drain = async () => {
    try {
      done.value = (await call<DrainNodeAnswer>('POST', pathOf(node, 'drain'))).data
      error.value = undefined
      refreshSoon()
    } catch (problem) {
      error.value = problem
    }
  }
  const title = `Drain node ${node.node_id}`
  const led = nodes.value.find(({ node_id: id }) => id === node.node_id)?.partitions_led ?? 0
  if (done.value)
    return (
      <Dialog title={title} close={close} isWide foot={<Button onClick={close}>Close</Button>}>
        <p role="status">
          The node gets no new mirrors until it is resumed. It still leads <strong>{counted(led, 'partition')}</strong>,
          and the moves go on also when this is closed.
        </p>
        <Moved rows={done.value} />
      </Dialog>
    )
  return (
    <Dialog
      title={title}
      close={close}
      isWide
      foot={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button tone="primary" disabled={!dry.value.value} onClick={drain}>
            {title}
          </Button>
        </>
      }
    >
      <p>Other nodes lead what this one leads; nothing is lost and mirrors go on. It gets no new mirrors afterwards.</p>
      <h3>Dry run: nothing has been changed yet</h3>
      <Failure error={dry.error.value} />
      <Failure error={error.value} />
      {dry.value.value ? <Moved rows={dry.value.value.data} /> : dry.error.value ? null : <Nothing>Asking…</Nothing>}
    </Dialog>
  )
}

function Moved({ rows }: { readonly rows: readonly MovedPartition[] }) {
  const copied = rows.filter(({ copies }) => copies).length
  const refused = rows.filter(({ error_message: message }) => message !== null).length
  if (rows.length === 0) return <Notice tone="good">Nothing has to be moved.</Notice>
  return (
    <>
      <ul class="toll">
        <li class="calm">
          <strong>{numberText(rows.length)}</strong>
          <span>partitions move</span>
        </li>
        <li class={copied > 0 ? 'warn' : 'good'}>
          <strong>{numberText(copied)}</strong>
          <span>of them are copied first</span>
        </li>
        {refused > 0 ? (
          <li class="bad">
            <strong>{numberText(refused)}</strong>
            <span>refused</span>
          </li>
        ) : null}
      </ul>
      <div class="scrolled">
        <table>
          <thead>
            <tr>
              <th>Partition</th>
              <th>Replicas now</th>
              <th>Then</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, ROWS_SHOWN).map(row => (
              <tr key={`${row.topic_name} ${row.partition_id}`}>
                <td class="mono">
                  {row.topic_name} / {row.partition_id}
                </td>
                <td>{row.replicas.join(', ')}</td>
                <td>
                  {row.error_message === null ? (
                    row.target_replicas.join(', ')
                  ) : (
                    <span class="bad-text">{row.error_message}</span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > ROWS_SHOWN ? <p class="muted">and {counted(rows.length - ROWS_SHOWN, 'partition')} more</p> : null}
    </>
  )
}
