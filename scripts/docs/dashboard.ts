/** deploy/grafana/lockstep.json: the Grafana dashboard, from a row for each panel; written and checked by generate-docs. */
import { dashboardSections, type PanelRow } from './dashboard-panels.ts'

const GRID = { columns: 24, panel: { w: 12, h: 8 }, stat: { w: 4, h: 4 } }

export interface GridPosition {
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
}

/** Sections one below the other; panels from left to right, two in a line, or six small ones. */
function layout(): { readonly row: PanelRow | string; readonly at: GridPosition }[] {
  const placed: { row: PanelRow | string; at: GridPosition }[] = []
  let y = 0
  for (const { title, panels } of dashboardSections) {
    placed.push({ row: title, at: { x: 0, y, w: GRID.columns, h: 1 } })
    y++
    const { w, h } = panels[0]?.kind === 'stat' ? GRID.stat : GRID.panel
    const perLine = GRID.columns / w
    for (const [index, row] of panels.entries())
      placed.push({ row, at: { x: (index % perLine) * w, y: y + Math.floor(index / perLine) * h, w, h } })
    y += Math.ceil(panels.length / perLine) * h
  }
  return placed
}

const source = { type: 'prometheus', uid: '$' + '{datasource}' }

function panelOf(row: PanelRow, at: GridPosition) {
  const steps = [
    { color: 'green', value: null },
    ...(row.redFrom === undefined ? [] : [{ color: 'red', value: row.redFrom }]),
  ]
  const isTable = row.kind === 'table'
  return {
    type: row.kind,
    title: row.title,
    description: row.text,
    gridPos: at,
    datasource: source,
    fieldConfig: {
      defaults: {
        ...(row.unit && { unit: row.unit }),
        ...(row.redFrom !== undefined && { thresholds: { mode: 'absolute', steps } }),
      },
      overrides: [],
    },
    targets: Object.entries(row.queries).map(([legendFormat, expr], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: source,
      expr,
      legendFormat,
      ...(isTable && { format: 'table', instant: true }),
    })),
  }
}

const variable = (name: string, query: string) => ({
  name,
  type: 'query',
  datasource: source,
  query: { query, refId: name },
  definition: query,
  includeAll: true,
  multi: true,
  allValue: '.*',
  current: { text: 'All', value: '$__all' },
  refresh: 2,
  sort: 1,
})

/** What Grafana imports. */
export function dashboard() {
  return {
    uid: 'lockstep',
    title: 'Lockstep',
    description: 'Links, mirrors and nodes of Lockstep. Alerts and what to do: docs/alerts.md.',
    tags: ['kafka', 'lockstep'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Prometheus' },
        variable('cluster', 'label_values(lockstep_info, cluster)'),
        variable('link', 'label_values(lockstep_link_state{cluster=~"$cluster"}, link)'),
        variable('topic', 'label_values(lockstep_mirror_state{cluster=~"$cluster",link=~"$link"}, topic)'),
      ],
    },
    panels: layout().map(({ row, at }, index) => ({
      id: index + 1,
      ...(typeof row === 'string'
        ? { type: 'row', title: row, gridPos: at, collapsed: false, panels: [] }
        : panelOf(row, at)),
    })),
  }
}
