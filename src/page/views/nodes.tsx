/** The Lockstep nodes of the cluster: mode, version, what each leads, health. */
import type { NodeData } from '../../rest/schemas/clusters.ts'
import { DrainNode } from '../actions/drain-node.tsx'
import { nodes } from '../live/cluster-state.ts'
import { Nothing, Notice } from '../parts/notice.tsx'
import { Status } from '../parts/status.tsx'
import { numberText } from '../text/figures.ts'

export function NodesView() {
  return (
    <div class="stack">
      <div class="heading">
        <h1>Nodes</h1>
      </div>
      {nodes.value.length === 0 ? <Nothing>Asking the node…</Nothing> : null}
      <ul class="link-cards">
        {nodes.value.map(node => (
          <NodeCard key={node.node_id} node={node} />
        ))}
      </ul>
    </div>
  )
}

function NodeCard({ node }: { readonly node: NodeData }) {
  return (
    <li class="card link-card">
      <div class="link-card-head">
        <h2>Node {node.node_id}</h2>
        <span class="title-line">
          {node.link_coordinator ? <Status value="RUNNING" text="link coordinator" /> : null}
          {node.cordoned ? <Status value="PAUSED" text="cordoned" /> : null}
          <Status value={node.health} />
        </span>
      </div>
      {node.mode === 'JOINED' ? <DrainNode node={node} /> : null}
      {node.health_message === null ? null : <Notice tone="bad">{node.health_message}</Notice>}
      <dl class="facts">
        <dt>Mode</dt>
        <dd>
          {node.mode === 'STANDALONE'
            ? 'standalone: a whole cluster by itself'
            : 'joined: a broker of an Apache Kafka cluster'}
        </dd>
        <dt>Version</dt>
        <dd>{node.version ?? 'not known here'}</dd>
        <dt>REST</dt>
        <dd>
          <code>{node.rest_url}</code>
        </dd>
        <dt>Leads</dt>
        <dd>
          {numberText(node.partitions_led)} partitions, {numberText(node.mirror_partitions_led)} of them of mirrors
        </dd>
      </dl>
    </li>
  )
}
