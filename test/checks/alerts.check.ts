/** Alerts and dashboard use only metrics and labels that exist; each alert has a case that tries it and a page of the runbook. */
import { deepStrictEqual, match, ok } from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { dashboard } from '../../scripts/docs/dashboard.ts'
import { dashboardSections } from '../../scripts/docs/dashboard-panels.ts'
import { metricFamilies } from '../../scripts/docs/metrics.ts'
import { alertCases } from '../alerts/alert-cases.ts'
import { alertRules, groupedBy, metricsIn } from '../alerts/alert-rules.ts'

/** What Prometheus and deploy/prometheus/scrape.yaml add to every series. */
const ADDED_LABELS = ['cluster', 'job', 'instance']
const families = new Map(
  (await metricFamilies()).flatMap(({ name, type, labels }) => {
    const known = [...labels, ...ADDED_LABELS]
    const parts = type === 'histogram' ? ['_bucket', '_sum', '_count'].map(end => `${name}${end}`) : [name]
    return parts.map(part => [part, part.endsWith('_bucket') ? [...known, 'le'] : known] as const)
  }),
)
// Made by Prometheus for every target.
families.set('up', ADDED_LABELS)
const rules = alertRules()

function problemsOf(expr: string): string[] {
  const used = metricsIn(expr)
  const known = new Set(used.flatMap(({ name }) => families.get(name) ?? []))
  return [
    ...(used.length === 0 ? ['no metric'] : []),
    ...used.filter(({ name }) => !families.has(name)).map(({ name }) => `no metric ${name}`),
    ...used.flatMap(({ name, labels }) =>
      labels.filter(label => !families.get(name)?.includes(label)).map(label => `no label ${label} of ${name}`),
    ),
    ...groupedBy(expr)
      .filter(label => !known.has(label))
      .map(label => `no label ${label}`),
  ]
}

test('an expression with a metric or a label that does not exist is found', () => {
  deepStrictEqual(problemsOf('sum by (link, colour) (rate(lockstep_mirror_state{state="FAILED",shape="x"}[5m])) > 0'), [
    'no label shape of lockstep_mirror_state',
    'no label colour',
  ])
  deepStrictEqual(problemsOf('max(lockstep_mirror_lag) > 1 and on (job) lockstep_info'), [
    'no metric lockstep_mirror_lag',
  ])
})

test('every alert is about metrics and labels that exist', () => {
  deepStrictEqual(
    rules.flatMap(({ alert, expr }) => problemsOf(expr).map(problem => `${alert}: ${problem}`)),
    [],
  )
})

test('every alert has cases that try it, and every case is of an alert', () => {
  const tried = new Set(alertCases.filter(({ fires }) => fires !== 'never').map(({ alert }) => alert))
  deepStrictEqual([...tried].sort(), rules.map(({ alert }) => alert).sort())
})

test('every alert has a page of the runbook that says what to look at and what to do, and no page is of none', () => {
  const pages = readFileSync('docs/alerts.md', 'utf8').split(/^### /m).slice(1)
  const byName = new Map(pages.map(page => [/^`?(Lockstep\w+)/.exec(page)?.[1] ?? page, page]))
  deepStrictEqual([...byName.keys()].sort(), rules.map(({ alert }) => alert).sort())
  for (const { alert, annotations, labels } of rules) {
    const page = byName.get(alert) ?? ''
    match(page, /^\*\*Look at\*\* .{20}/m, alert)
    match(page, /^\*\*Do\*\* .{20}/m, alert)
    ok(annotations.runbook === `docs/alerts.md#${alert.toLowerCase()}` && existsSync('docs/alerts.md'), alert)
    ok(['critical', 'warning', 'info'].includes(labels.severity), alert)
  }
})

test('every panel of the dashboard is about metrics and labels that exist', () => {
  const queries = dashboardSections.flatMap(({ panels }) =>
    panels.flatMap(({ title, queries }) => Object.values(queries).map(expr => ({ title, expr }))),
  )
  deepStrictEqual(
    queries.flatMap(({ title, expr }) => problemsOf(expr).map(problem => `${title}: ${problem}`)),
    [],
  )
})

test('the panels of the dashboard fill their lines, and none covers another', () => {
  const cells = new Set<string>()
  for (const { gridPos: at } of dashboard().panels) {
    ok(at.x + at.w <= 24)
    for (let x = at.x; x < at.x + at.w; x++)
      for (let y = at.y; y < at.y + at.h; y++) {
        ok(!cells.has(`${x},${y}`), `two panels at ${x},${y}`)
        cells.add(`${x},${y}`)
      }
  }
  deepStrictEqual(cells.size % 24, 0)
})
