/** docs/generated/metrics.md: the families of /metrics. */
import { linkMetricRows } from '../../src/rest/metrics.ts'
import { code, type Page, plain, table } from './markdown.ts'

/** The page. */
export function metricsPage(): Page {
  return {
    name: 'metrics.md',
    title: 'Metrics',
    sources: ['src/rest/metrics.ts'],
    body: [
      'Served as Prometheus text under `/metrics` of the REST listener.',
      table(
        ['metric', 'type', 'labels', 'meaning'],
        linkMetricRows.map(({ name, type, labels, help }) => [
          code(name),
          type,
          labels.map(code).join(', '),
          plain(help),
        ]),
      ),
    ].join('\n\n'),
  }
}
