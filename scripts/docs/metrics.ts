/** docs/generated/metrics.md: the families of /metrics. */

import { joinedImage, lockstepBroker } from '../../src/metadata/fakes/joined-images.ts'
import { coordinatorMetrics } from '../../src/node/coordinator-metrics.ts'
import { membershipMetrics } from '../../src/node/joined/membership-metrics.ts'
import { placementMetrics } from '../../src/node/joined/placement-metrics.ts'
import { nodeMetrics } from '../../src/node/node-metrics.ts'
import { quotaMetrics } from '../../src/node/quota-metrics.ts'
import { shareMetrics } from '../../src/node/share-metrics.ts'
import { sourceMetrics } from '../../src/node/source-metrics.ts'
import { linkMetricRows, type MetricRow } from '../../src/rest/metrics.ts'
import { code, type Page, plain, table } from './markdown.ts'

/** A family as /metrics shows it. */
export type MetricFamily = Omit<MetricRow, 'type'> & { readonly type: string }

/** Every family that a node of either mode may show, those of the process included; alerts and dashboards may use no others. */
export async function metricFamilies(): Promise<MetricFamily[]> {
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
      javaReplicas: () => ({ fewest: new Map([['', 0]]), below: 0 }),
    }),
    membershipMetrics({
      nodeId: 0,
      observer: { image: joinedImage({ brokers: [lockstepBroker(0)] }), lag: 0, failure: undefined },
      membership: { brokerEpoch: -1, heartbeatAgeMs: undefined, lastHeartbeat: undefined, stallsTotal: 0 },
    }),
    quotaMetrics({ figures: () => ({ requests: 0, ms: 0 }) }),
  ]
  const texts = await Promise.all(sources.map(source => source.text()))
  return [...linkMetricRows, ...families(texts.join('\n'))]
}

/** The page. */
export async function metricsPage(): Promise<Page> {
  const own = (await metricFamilies()).filter(({ name }) => name.startsWith('lockstep_'))
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
        own.map(({ name, type, labels, help }) => [code(name), type, labels.map(code).join(', '), plain(help)]),
      ),
    ].join('\n\n'),
  }
}

/** Families as Prometheus text describes them; labels are those of the first sample. */
function families(text: string): MetricFamily[] {
  return [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)(?:\n[^#\n{]+\{([^}\n]*)\})?/gm)].map(
    ([, name = '', help = '', type = '', labels = '']) => ({
      name,
      help,
      type,
      labels: [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
    }),
  )
}
