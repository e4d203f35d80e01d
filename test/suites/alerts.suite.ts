/** The alerts of deploy/prometheus as Prometheus judges them: syntax, when they fire and when not; and that it can read what nodes say. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { dashboardSections } from '../../scripts/docs/dashboard-panels.ts'
import { type AlertCase, alertCases } from '../alerts/alert-cases.ts'
import { alertRules, rulesFile } from '../alerts/alert-rules.ts'
import { runTool } from '../child-process.ts'
import { eventually } from '../eventually.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { skipWithout } from '../requirements.ts'
import { MirrorLink } from '../scenarios/mirror-link.ts'

const skip = skipWithout('promtool')
const severityOf = new Map(alertRules().map(({ alert, labels }) => [alert, labels.severity]))

test('promtool finds nothing wrong with the rules', { skip }, async () => {
  const { status, stdout, stderr } = await runTool('promtool', ['check', 'rules', rulesFile])
  equal(status, 0, `${stdout}${stderr}`)
})

async function withFile<T>(content: unknown, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-alerts-'))
  try {
    const file = join(folder, 'rules.yaml')
    await writeFile(file, stringify(content))
    return await use(file)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

test('the queries of the dashboard are PromQL', { skip }, async () => {
  const queries = dashboardSections.flatMap(({ panels }) => panels.flatMap(panel => Object.values(panel.queries)))
  const rules = queries.map((expr, index) => ({ record: `panel:query:${index}`, expr }))
  await withFile({ groups: [{ name: 'dashboard', rules }] }, async file => {
    const { status, stdout, stderr } = await runTool('promtool', ['check', 'rules', file])
    equal(status, 0, `${stdout}${stderr}`)
  })
})

/** Asked for as the series ALERTS, which has no texts. */
function promtoolTest({ alert, series, quiet, fires, labels }: AlertCase) {
  const firing = `ALERTS{alertname="${alert}",alertstate="firing"}`
  const samples = [{ labels: `${firing.slice(0, -1)},severity="${severityOf.get(alert)}",${labels}}`, value: 1 }]
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      { expr: firing, eval_time: `${quiet}m`, exp_samples: [] },
      fires === 'never'
        ? { expr: `max_over_time(${firing}[1h])`, eval_time: '60m', exp_samples: [] }
        : { expr: firing, eval_time: `${fires}m`, exp_samples: samples },
    ],
  }
}

test('each alert fires when it should, as promtool computes it, and not before', { skip }, async () => {
  const tests = alertCases.map(promtoolTest)
  const rules = { rule_files: [resolve(rulesFile)], evaluation_interval: '1m' }
  const run = (cases: typeof tests) =>
    withFile({ ...rules, tests: cases }, file => runTool('promtool', ['test', 'rules', file]))
  const { status, stdout, stderr } = await run(tests)
  equal(status, 0, `${stdout}${stderr}`)
  // A case that expects something else is not passed over.
  const [first] = tests
  ok(first)
  const wrong = { ...first, promql_expr_test: first.promql_expr_test.map(each => ({ ...each, exp_samples: [] })) }
  equal((await run([wrong])).status, 1)
})

test('what a node says under /metrics can be read by Prometheus', { skip }, async () => {
  const west = await LockstepNode.start()
  try {
    const east = await LockstepNode.start()
    try {
      await west.rest.call('POST', '/topics', { topic_name: 'orders', partitions_count: 2, replication_factor: 1 })
      const link = await MirrorLink.create(east, 'west', { clusterId: west.clusterId, bootstrap: west.bootstrap })
      await link.mirror('orders')
      await eventually(async () => equal((await link.describe('orders')).mirror_status, 'ACTIVE'))
      const { body } = await east.rest.request('GET', '/metrics')
      match(String(body), /lockstep_mirror_state\{link="west",topic="orders",state="ACTIVE"\} 1\n/)
      // 3 is what it says of matters of taste, such as the names that prom-client gives to figures of Node.js.
      const { status, stdout, stderr } = await runTool('promtool', ['check', 'metrics'], { input: String(body) })
      ok(status === 0 || status === 3, `${stdout}${stderr}`)
      const about = `${stdout}${stderr}`.split('\n').filter(line => line.startsWith('lockstep_'))
      // Its name was given away before this was asked.
      deepEqual(about, ['lockstep_fetch_throttle_seconds counter metrics should have "_total" suffix'])
    } finally {
      await east.close()
    }
  } finally {
    await west.close()
  }
})
