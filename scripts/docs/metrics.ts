/** docs/generated/metrics.md: the families of /metrics. */

import { emptyImage } from '../../src/metadata/metadata-image.ts'
import { coordinatorMetrics } from '../../src/node/coordinator-metrics.ts'
import { membershipMetrics } from '../../src/node/joined/membership-metrics.ts'
import { placementMetrics } from '../../src/node/joined/placement-metrics.ts'
import { nodeMetrics } from '../../src/node/node-metrics.ts'
import { quotaMetrics } from '../../src/node/quota-metrics.ts'
import { shareMetrics } from '../../src/node/share-metrics.ts'
import { sourceMetrics } from '../../src/node/source-metrics.ts'
import { linkMetricRows, type MetricRow } from '../../src/rest/metrics.ts'
import { code, type Page, plain, table } from './markdown.ts'

/** The page. */
export async function metricsPage(): Promise<Page> {
  const shownSource = sourceMetrics()
  shownSource.observe({ clientId: 'lockstep-link-west', api: 'FetchRequest', ms: 1 })
  const sources = [
    nodeMetrics({ version: '', commit: '' }),
    shownSource,
    coordinatorMetrics({
      groups: () => ({
        groups: [{ type: 'classic', state: 'Empty', count: 0 }],
        members: new Map([['classic', 0]]),
        offsetCommits: 0,
      }),
      transactions: () => ({ byState: { Empty: 0 }, completing: 0, oldestOpenMs: 0 }),
    }),
    shareMetrics({
      partitions: () => ({ partitions: 0, acquired: 0, delivered: 0, acknowledged: 0 }),
      state: () => ({ states: 0, writes: 0 }),
    }),
    placementMetrics({
      evictor: { foreignPartitions: () => [], evictedTotal: 0, failuresTotal: 0 },
      watch: { misplacedPartitions: () => [], begunTotal: new Map([['LED_BY_KAFKA', 0]]), returnedTotal: 0 },
    }),
    membershipMetrics({
      nodeId: 0,
      observer: { image: emptyImage(''), lag: 0, failure: undefined },
      membership: { brokerEpoch: -1, heartbeatAgeMs: undefined },
    }),
    quotaMetrics({ figures: () => ({ requests: 0, ms: 0 }) }),
  ]
  const texts = await Promise.all(sources.map(source => source.text()))
  const own = families(texts.join('\n')).filter(({ name }) => name.startsWith('lockstep_'))
  return {
    name: 'metrics.md',
    title: 'Metrics',
    sources: [
      'src/rest/metrics.ts',
      'src/node/node-metrics.ts',
      'src/node/source-metrics.ts',
      'src/node/coordinator-metrics.ts',
      'src/node/share-metrics.ts',
      'src/node/joined/placement-metrics.ts',
      'src/node/joined/membership-metrics.ts',
      'src/node/quota-metrics.ts',
    ],
    body: [
      'Served as Prometheus text under `/metrics` of the REST listener, together with the usual figures of the process (`process_*`: processor time, memory, file descriptors) and of Node.js (`nodejs_*`: event loop lag, heap, garbage collection).',
      table(
        ['metric', 'type', 'labels', 'meaning'],
        [...linkMetricRows, ...own].map(({ name, type, labels, help }) => [
          code(name),
          type,
          labels.map(code).join(', '),
          plain(help),
        ]),
      ),
    ].join('\n\n'),
  }
}

/** Families as Prometheus text describes them; labels are those of the first sample. */
function families(text: string): (Omit<MetricRow, 'type'> & { readonly type: string })[] {
  return [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)(?:\n[^#\n{]+\{([^}\n]*)\})?/gm)].map(
    ([, name = '', help = '', type = '', labels = '']) => ({
      name,
      help,
      type,
      labels: [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
    }),
  )
}
