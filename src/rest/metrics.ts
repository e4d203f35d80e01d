/** The link metrics as rows, rendered straight from the engine's views; used by /metrics and by the generated docs. */
import type { LinkEngine, LinkState, LinkView, MirrorLagView, MirrorStatus, MirrorView } from '../link/engine-api.ts'

/** One metric family. */
export interface MetricRow {
  readonly name: string
  readonly type: 'gauge' | 'counter'
  readonly help: string
  readonly labels: readonly string[]
}

const LINK_STATES: readonly LinkState[] = ['ACTIVE', 'PAUSED', 'UNAVAILABLE', 'FAILED', 'UNKNOWN']
const MIRROR_STATES: readonly MirrorStatus[] = [
  'ACTIVE',
  'PAUSED',
  'FAILED',
  'PENDING_STOPPED',
  'STOPPED',
  'PENDING_SYNCHRONIZE',
  'PENDING_MIRROR',
  'PENDING_SETUP_FOR_RESTORE',
  'PENDING_RESTORE',
  'LINK_PAUSED',
  'LINK_FAILED',
  'SOURCE_UNAVAILABLE',
]

const TASK_STATES: readonly string[] = [
  'ACTIVE',
  'IN_ERROR',
  'NOT_CONFIGURED',
  'LINK_PAUSED',
  'LINK_UNAVAILABLE',
  'LINK_FAILED',
  'UNKNOWN',
]

type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: number }

/** What one scrape is rendered from. */
interface Facts {
  readonly links: readonly LinkView[]
  readonly mirrors: readonly MirrorView[]
  readonly incidents: ReadonlyMap<string, number>
  readonly perPartition: boolean
  /** Does this node decide on links? */
  readonly coordinates: boolean
}

interface LinkMetric extends MetricRow {
  /** Told by the link coordinator alone: of whole links and mirrors. Everything else each node tells of what it leads. */
  readonly ofCoordinator?: true
  readonly samples: (facts: Facts) => Sample[]
}

/** Partitions of all mirrors together that get series of their own; beyond, topics do. */
const partitionsMax = 20_000

/** Of each partition, or of a topic all together: the worst of a gauge, the sum of a counter. */
const perPartition =
  (value: (lag: MirrorLagView) => number | null, together: 'max' | 'sum') =>
  ({ mirrors, perPartition: isSplit }: Facts): Sample[] =>
    mirrors.flatMap(mirror => {
      const ofTopic = { link: mirror.linkName, topic: mirror.mirrorTopicName }
      // What others lead they tell themselves: figures are to be added up over nodes.
      const found = mirror.lags.flatMap(lag => {
        const one = lag.isLedHere ? value(lag) : null
        return one === null ? [] : [{ labels: { ...ofTopic, partition: String(lag.partition) }, value: one }]
      })
      if (isSplit || found.length === 0) return found
      const join = (a: number, b: number) => (together === 'max' ? Math.max(a, b) : a + b)
      return [{ labels: ofTopic, value: found.map(sample => sample.value).reduce(join) }]
    })

const PARTITION_LABELS = ['link', 'topic', 'partition'] as const

/** Every family that this module renders. */
export const linkMetricRows: readonly LinkMetric[] = [
  {
    name: 'lockstep_mirror_lag_records',
    type: 'gauge',
    help: 'Records that the mirror partition is behind the source high watermark; absent before the first fetch',
    labels: PARTITION_LABELS,
    samples: perPartition(lag => lag.lag, 'max'),
  },
  {
    name: 'lockstep_mirror_lag_seconds',
    type: 'gauge',
    help: 'Seconds since the mirror partition last reached a source high watermark; absent before the first fetch',
    labels: PARTITION_LABELS,
    samples: perPartition(lag => (lag.lagMs === null ? null : lag.lagMs / 1000), 'max'),
  },
  {
    name: 'lockstep_mirror_stable_lag_records',
    type: 'gauge',
    help: 'Records that the mirror partition is behind the last stable offset of the source; absent before the first fetch',
    labels: PARTITION_LABELS,
    samples: perPartition(lag => lag.stableLag, 'max'),
  },
  {
    name: 'lockstep_mirror_bytes_total',
    type: 'counter',
    help: 'Bytes of record batches mirrored into the partition since the node started',
    labels: PARTITION_LABELS,
    samples: perPartition(lag => lag.mirroredBytes, 'sum'),
  },
  {
    name: 'lockstep_mirror_batches_total',
    type: 'counter',
    help: 'Record batches mirrored into the partition since the node started',
    labels: PARTITION_LABELS,
    samples: perPartition(lag => lag.mirroredBatches, 'sum'),
  },
  {
    name: 'lockstep_mirror_state',
    ofCoordinator: true,
    type: 'gauge',
    help: 'State of the mirror topic: 1 for the state it is in, 0 for the others',
    labels: ['link', 'topic', 'state'],
    samples: ({ mirrors }) =>
      mirrors.flatMap(mirror =>
        MIRROR_STATES.map(state => ({
          labels: { link: mirror.linkName, topic: mirror.mirrorTopicName, state },
          value: mirror.status === state ? 1 : 0,
        })),
      ),
  },
  {
    name: 'lockstep_reverse_read_only_seconds',
    ofCoordinator: true,
    type: 'gauge',
    help: 'How long nobody could write the topic or its counterpart when they last changed roles; absent if they have not since the verb after it',
    labels: ['link', 'topic'],
    samples: ({ mirrors }) =>
      mirrors.flatMap(({ linkName: link, mirrorTopicName: topic, reversal }) =>
        typeof reversal?.readOnlyMs === 'number'
          ? [{ labels: { link, topic }, value: reversal.readOnlyMs / 1000 }]
          : [],
      ),
  },
  {
    name: 'lockstep_reverse_aborted_transactions',
    ofCoordinator: true,
    type: 'gauge',
    help: 'Transactions that were open at the old source and were aborted when roles last changed',
    labels: ['link', 'topic'],
    samples: ({ mirrors }) =>
      mirrors.flatMap(({ linkName: link, mirrorTopicName: topic, reversal }) =>
        reversal ? [{ labels: { link, topic }, value: reversal.abortedTransactions }] : [],
      ),
  },
  {
    name: 'lockstep_link_state',
    ofCoordinator: true,
    type: 'gauge',
    help: 'State of the link: 1 for the state it is in, 0 for the others',
    labels: ['link', 'state'],
    samples: ({ links }) =>
      links.flatMap(link =>
        LINK_STATES.map(state => ({ labels: { link: link.name, state }, value: link.state === state ? 1 : 0 })),
      ),
  },
  {
    name: 'lockstep_link_task_state',
    ofCoordinator: true,
    type: 'gauge',
    help: 'State of a sync task of the link: 1 for the state it is in, 0 for the others',
    labels: ['link', 'task', 'state'],
    samples: ({ links }) =>
      links.flatMap(({ name: link, tasks }) =>
        tasks.flatMap(task =>
          TASK_STATES.map(state => ({
            labels: { link, task: task.name, state },
            value: task.state === state ? 1 : 0,
          })),
        ),
      ),
  },
  {
    name: 'lockstep_link_task_last_success_seconds',
    ofCoordinator: true,
    type: 'gauge',
    help: 'When a sync task of the link last ended without errors, in seconds since 1970; absent if not since the node started',
    labels: ['link', 'task'],
    samples: ({ links }) =>
      links.flatMap(({ name: link, tasks }) =>
        tasks.flatMap(({ name: task, lastSuccessMs }) =>
          lastSuccessMs === null ? [] : [{ labels: { link, task }, value: lastSuccessMs / 1000 }],
        ),
      ),
  },
  {
    name: 'lockstep_group_offsets_synced_total',
    ofCoordinator: true,
    type: 'counter',
    help: 'Offsets of consumer groups that the link has written here since the node started',
    labels: ['link'],
    samples: ({ links }) => links.map(link => ({ labels: { link: link.name }, value: link.groupOffsets.synced })),
  },
  {
    name: 'lockstep_group_offsets_skipped_total',
    ofCoordinator: true,
    type: 'counter',
    help: 'Offsets of consumer groups that the link did not write here since the node started, by reason, counted once per round',
    labels: ['link', 'reason'],
    samples: ({ links }) =>
      links.flatMap(({ name: link, groupOffsets }) =>
        [...groupOffsets.skipped].map(([reason, value]) => ({ labels: { link, reason }, value })),
      ),
  },
  {
    name: 'lockstep_acls_owned',
    ofCoordinator: true,
    type: 'gauge',
    help: 'ACLs of this cluster that the link created and would delete',
    labels: ['link'],
    samples: ({ links }) => links.map(link => ({ labels: { link: link.name }, value: link.ownedAcls })),
  },
  {
    name: 'lockstep_fetch_throttle_seconds',
    type: 'counter',
    help: 'Seconds for which fetches of the link were held back since the node started, by mirror.max.bytes.per.second or by the source; those of all its connections added up',
    labels: ['link'],
    samples: ({ links }) => links.map(link => ({ labels: { link: link.name }, value: link.heldBackMs / 1000 })),
  },
  {
    name: 'lockstep_incidents_total',
    type: 'counter',
    help: 'What happened to mirrors on this node since it started that an operator should look at, by kind',
    labels: ['kind'],
    samples: ({ incidents }) => [...incidents].map(([kind, value]) => ({ labels: { kind }, value })),
  },
  {
    name: 'lockstep_fence_changes_total',
    type: 'counter',
    help: 'How often somebody else changed what keeps clients from writing to mirrors, and it was restored, since the node started',
    labels: [],
    samples: ({ incidents }) => [{ labels: {}, value: incidents.get('fence_changed') ?? 0 }],
  },
  {
    name: 'lockstep_link_coordinator',
    type: 'gauge',
    help: 'Does this node decide on the links of its cluster? 1 or 0; one node does, and a standalone node as soon as its links are replayed',
    labels: [],
    samples: ({ coordinates }) => [{ labels: {}, value: coordinates ? 1 : 0 }],
  },
]

/**
 * All link families in Prometheus text form: figures of the partitions that this node leads, and of whole links where it is the
 * link coordinator. Without `perPartition`, or where there are too many partitions, figures of partitions are those of their
 * topics, without the label.
 */
export function linkMetrics(engine: LinkEngine, options: { perPartition: boolean }): string {
  const links = engine.replayed ? engine.listLinks() : []
  const incidents = engine.incidentCounts()
  const mirrors = engine.replayed ? engine.listMirrors({ link: undefined, status: undefined }) : []
  const partitions = mirrors.reduce((sum, { lags }) => sum + lags.filter(({ isLedHere }) => isLedHere).length, 0)
  const coordinates = engine.ready
  const facts = {
    links,
    mirrors,
    incidents,
    coordinates,
    perPartition: options.perPartition && partitions <= partitionsMax,
  }
  const nothing = { links: [], mirrors: [], incidents: new Map(), coordinates, perPartition: true }
  return linkMetricRows
    .flatMap(row => [
      `# HELP ${row.name} ${row.help}`,
      `# TYPE ${row.name} ${row.type}`,
      ...row
        .samples(row.ofCoordinator && !coordinates ? nothing : facts)
        .map(sample => `${row.name}${labelText(sample.labels)} ${sample.value}`),
    ])
    .join('\n')
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

const escapeLabel = (value: string) => value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')
