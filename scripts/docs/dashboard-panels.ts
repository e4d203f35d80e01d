/** The panels of the Grafana dashboard as rows; dashboard makes it of them, and a check holds their queries to the metrics. */

export interface PanelRow {
  readonly title: string
  /** What it shows, and what to make of it. */
  readonly text: string
  readonly kind: 'timeseries' | 'stat' | 'table' | 'state-timeline'
  readonly unit?: 'short' | 's' | 'Bps' | 'bytes' | 'percentunit' | 'reqps'
  /** Query by what it is called in the legend, with Grafana's `{{label}}`. */
  readonly queries: Readonly<Record<string, string>>
  /** From which value on a figure is red; below it is green. */
  readonly redFrom?: number
}

interface DashboardSection {
  readonly title: string
  readonly panels: readonly PanelRow[]
}

const ofLinks = 'cluster=~"$cluster",link=~"$link"'
const ofMirrors = `${ofLinks},topic=~"$topic"`
const ofCluster = 'cluster=~"$cluster"'

/** The first section is what somebody sees in five seconds: red is wrong. */
export const dashboardSections: readonly DashboardSection[] = [
  {
    title: 'Now',
    panels: [
      {
        title: 'Mirrors that failed',
        text: 'Do not go on by themselves: alert LockstepMirrorFailed.',
        kind: 'stat',
        queries: {
          failed: `count(max by (cluster, link, topic) (lockstep_mirror_state{${ofLinks},state="FAILED"}) == 1) or vector(0)`,
        },
        redFrom: 1,
      },
      {
        title: 'Links without their source',
        text: 'UNAVAILABLE or FAILED.',
        kind: 'stat',
        queries: {
          links: `count(max by (cluster, link) (lockstep_link_state{${ofLinks},state=~"UNAVAILABLE|FAILED"}) == 1) or vector(0)`,
        },
        redFrom: 1,
      },
      {
        title: 'Worst lag',
        text: 'How long ago the mirror that is furthest behind last held all that its source had.',
        kind: 'stat',
        unit: 's',
        queries: { lag: `max(lockstep_mirror_lag_seconds{${ofLinks}})` },
        redFrom: 300,
      },
      {
        title: 'Tasks in error',
        text: 'Syncs of configs, partitions, groups, ACLs and new topics that could not do all they should.',
        kind: 'stat',
        queries: {
          tasks: `count(max by (cluster, link, task) (lockstep_link_task_state{${ofLinks},state="IN_ERROR"}) == 1) or vector(0)`,
        },
        redFrom: 1,
      },
      {
        title: 'Incidents in a day',
        text: 'Truncations at the source, ranges lost to its retention, corruption, changed fences.',
        kind: 'stat',
        queries: { incidents: `sum(increase(lockstep_incidents_total{${ofCluster}}[1d]))` },
        redFrom: 1,
      },
      {
        title: 'Mirrors',
        text: 'By state. More than ACTIVE and STOPPED wants a look.',
        kind: 'table',
        queries: {
          '{{state}}': `sum by (state) (max by (cluster, link, topic, state) (lockstep_mirror_state{${ofMirrors}})) > 0`,
        },
      },
    ],
  },
  {
    title: 'Mirrors',
    panels: [
      {
        title: 'Lag in time',
        text: 'The worst partition of each mirror.',
        kind: 'timeseries',
        unit: 's',
        queries: { '{{link}} {{topic}}': `topk(20, max by (link, topic) (lockstep_mirror_lag_seconds{${ofMirrors}}))` },
      },
      {
        title: 'Lag in records',
        text: 'Against the high watermark of the source; all partitions of a mirror together.',
        kind: 'timeseries',
        unit: 'short',
        queries: { '{{link}} {{topic}}': `topk(20, sum by (link, topic) (lockstep_mirror_lag_records{${ofMirrors}}))` },
      },
      {
        title: 'Mirrored bytes',
        text: 'As they lie on disk, compressed by whoever produced them.',
        kind: 'timeseries',
        unit: 'Bps',
        queries: { '{{link}}': `sum by (link) (rate(lockstep_mirror_bytes_total{${ofMirrors}}[5m]))` },
      },
      {
        title: 'Mirrored batches',
        text: 'Bytes per batch say how well producers at the source fill them; small ones cost most.',
        kind: 'timeseries',
        unit: 'reqps',
        queries: { '{{link}}': `sum by (link) (rate(lockstep_mirror_batches_total{${ofMirrors}}[5m]))` },
      },
    ],
  },
  {
    title: 'Links',
    panels: [
      {
        title: 'Sources: time to answer',
        text: 'What 99 % of the requests took that do not wait for data.',
        kind: 'timeseries',
        unit: 's',
        queries: {
          '{{link}}': `histogram_quantile(0.99, sum by (link, le) (rate(lockstep_source_request_seconds_bucket{${ofLinks},request="other"}[5m])))`,
        },
      },
      {
        title: 'Held back',
        text: 'Share of time for which fetches waited for the throttle of the link or of the source; above 1 with several connections.',
        kind: 'timeseries',
        unit: 'percentunit',
        queries: { '{{link}}': `sum by (link) (rate(lockstep_fetch_throttle_seconds{${ofLinks}}[5m]))` },
      },
      {
        title: 'Tasks: time since the last success',
        text: 'Grows from one period to the next and falls back.',
        kind: 'timeseries',
        unit: 's',
        queries: {
          '{{link}} {{task}}': `time() - max by (link, task) (lockstep_link_task_last_success_seconds{${ofLinks}})`,
        },
      },
      {
        title: 'Offsets of groups',
        text: 'Written here, and not written, by reason.',
        kind: 'timeseries',
        unit: 'reqps',
        queries: {
          '{{link}} written': `sum by (link) (rate(lockstep_group_offsets_synced_total{${ofLinks}}[5m]))`,
          '{{link}} {{reason}}': `sum by (link, reason) (rate(lockstep_group_offsets_skipped_total{${ofLinks}}[5m]))`,
        },
      },
    ],
  },
  {
    title: 'Nodes',
    panels: [
      {
        title: 'Processor',
        text: 'Of one core: the main thread decides and moves bytes, a few others write files and compress.',
        kind: 'timeseries',
        unit: 'percentunit',
        queries: {
          '{{instance}}': `rate(process_cpu_seconds_total{${ofCluster}}[5m]) and on (job, instance) lockstep_info`,
        },
      },
      {
        title: 'Memory',
        text: 'Resident; buffers of fetches and answers are bounded by properties.',
        kind: 'timeseries',
        unit: 'bytes',
        queries: { '{{instance}}': `process_resident_memory_bytes{${ofCluster}} and on (job, instance) lockstep_info` },
      },
      {
        title: 'Delay of the main thread',
        text: 'The longest since the scrape before. A few ms are usual, 3 s ask for a fence.',
        kind: 'timeseries',
        unit: 's',
        queries: {
          '{{instance}}': `nodejs_eventloop_lag_max_seconds{${ofCluster}} and on (job, instance) lockstep_info`,
        },
      },
      {
        title: 'Groups and transactions here',
        text: 'Members of groups that the nodes coordinate, and the oldest open transaction.',
        kind: 'timeseries',
        queries: {
          'members {{type}}': `sum by (type) (lockstep_group_members{${ofCluster}})`,
          'oldest transaction, s': `max(lockstep_transactions_oldest_open_seconds{${ofCluster}})`,
        },
      },
    ],
  },
  {
    title: 'Nodes among Kafka brokers',
    panels: [
      {
        title: 'Fenced nodes',
        text: '1: the cluster keeps the node from leading.',
        kind: 'state-timeline',
        queries: { 'node {{node}}': `max by (node) (lockstep_node_fenced{${ofCluster}})` },
        redFrom: 1,
      },
      {
        title: 'Kafka brokers in sync',
        text: 'Of the worst partition of each mirror. What min.insync.replicas wants is what a promote waits for.',
        kind: 'timeseries',
        queries: { '{{topic}}': `bottomk(20, min by (topic) (lockstep_mirror_java_isr{${ofCluster}}))` },
      },
      {
        title: 'Mirrors in the wrong place',
        text: 'LED_BY_KAFKA and WITHOUT_LEADER are not mirrored.',
        kind: 'timeseries',
        queries: {
          '{{condition}}': `max by (condition) (lockstep_mirror_partitions_misplaced{${ofCluster}})`,
          foreign: `max(lockstep_foreign_partitions{${ofCluster}})`,
        },
      },
      {
        title: 'Metadata not followed yet',
        text: 'Records of the cluster that a node has not applied; back to 0 within a second.',
        kind: 'timeseries',
        queries: { '{{instance}}': `max by (instance) (lockstep_membership_metadata_lag{${ofCluster}})` },
      },
    ],
  },
]
