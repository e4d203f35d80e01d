/** What Prometheus sees, and which alert must come of it when, and which must not; the suite `alerts` lets promtool decide. */

export interface AlertCase {
  readonly alert: string
  /** Series by name, with promtool's values: one a minute, `A+BxN` = A, then N times B more. */
  readonly series: Readonly<Record<string, string>>
  /** Minutes at which it is quiet yet, and at which it fires. */
  readonly quiet: number
  readonly fires: number | 'never'
  /** Of what fires, beside the severity. */
  readonly labels?: string
}

const node = 'cluster="east",job="lockstep",instance="n1:8090"'
const other = 'cluster="east",job="lockstep",instance="n2:8090"'
const mirror = `${node},link="west",topic="orders"`
const ofMirror = 'cluster="east",link="west",topic="orders"'
const ofLink = 'cluster="east",link="west"'
const ofNode = 'cluster="east",instance="n1:8090"'
const ofCluster = 'cluster="east"'

const forMinutes = (minutes: number) => `0x9 1x${minutes}`
const mirrorIn = (state: string) => `lockstep_mirror_state{${mirror},state="${state}"}`
const mirrorFor = (minutes: number, state: string) => ({ [mirrorIn(state)]: forMinutes(minutes) })
const linkIn = (state: string) => `lockstep_link_state{${node},link="west",state="${state}"}`

const mirrorCases: readonly AlertCase[] = [
  {
    alert: 'LockstepMirrorLagging',
    series: {
      [`lockstep_mirror_lag_seconds{${mirror},partition="0"}`]: '0x40',
      [`lockstep_mirror_lag_seconds{${mirror},partition="1"}`]: '0x9 60+60x30',
      [linkIn('UNAVAILABLE')]: '0x40',
    },
    quiet: 18,
    fires: 21,
    labels: ofMirror,
  },
  {
    // The source is away: that is another alert's, and lag then only tells for how long.
    alert: 'LockstepMirrorLagging',
    series: {
      [`lockstep_mirror_lag_seconds{${mirror},partition="1"}`]: '0x9 60+60x30',
      [linkIn('UNAVAILABLE')]: forMinutes(30),
    },
    quiet: 18,
    fires: 'never',
  },
  // Somebody has paused it, or it has failed and says so: its lag is no news. Another node leads it than the one that knows its state.
  ...['PAUSED', 'FAILED'].map(state => ({
    alert: 'LockstepMirrorLagging',
    series: {
      [`lockstep_mirror_lag_seconds{${other},link="west",topic="orders",partition="1"}`]: '0x9 60+60x30',
      [linkIn('UNAVAILABLE')]: '0x40',
      [mirrorIn(state)]: forMinutes(30),
    },
    quiet: 18,
    fires: 'never' as const,
  })),
  {
    alert: 'LockstepMirrorLagGrowing',
    series: {
      [`lockstep_mirror_lag_records{${mirror},partition="0"}`]: '0x9 600+600x40',
      [`lockstep_mirror_lag_seconds{${mirror},partition="0"}`]: '0x9 60+60x40',
    },
    quiet: 15,
    fires: 30,
    labels: ofMirror,
  },
  {
    // Catching up after an outage: far behind, and less so with every minute.
    alert: 'LockstepMirrorLagGrowing',
    series: {
      [`lockstep_mirror_lag_records{${mirror},partition="0"}`]: '90000-600x40',
      [`lockstep_mirror_lag_seconds{${mirror},partition="0"}`]: '3600-30x40',
    },
    quiet: 12,
    fires: 'never',
  },
  { alert: 'LockstepMirrorFailed', series: mirrorFor(20, 'FAILED'), quiet: 9, fires: 12, labels: ofMirror },
  { alert: 'LockstepMirrorPaused', series: mirrorFor(300, 'PAUSED'), quiet: 240, fires: 252, labels: ofMirror },
  { alert: 'LockstepStopWaiting', series: mirrorFor(60, 'PENDING_STOPPED'), quiet: 35, fires: 42, labels: ofMirror },
  ...['PENDING_SYNCHRONIZE', 'PENDING_MIRROR'].map(state => ({
    ...{ alert: 'LockstepRolesWaiting', series: mirrorFor(40, state), quiet: 22, fires: 28, labels: ofMirror },
  })),
  ...['PENDING_SETUP_FOR_RESTORE', 'PENDING_RESTORE'].map(state => ({
    ...{ alert: 'LockstepRestoreWaiting', series: mirrorFor(60, state), quiet: 35, fires: 42, labels: ofMirror },
  })),
  {
    alert: 'LockstepIncident',
    series: {
      [`lockstep_incidents_total{${node},kind="truncation"}`]: '0x9 1x30',
      [`lockstep_incidents_total{${node},kind="fence_changed"}`]: '0+1x40',
    },
    quiet: 9,
    fires: 12,
    labels: 'cluster="east",kind="truncation"',
  },
  {
    alert: 'LockstepFenceChanged',
    series: { [`lockstep_fence_changes_total{${node}}`]: '0x9 1x30' },
    quiet: 9,
    fires: 12,
    labels: ofCluster,
  },
]

const linkCases: readonly AlertCase[] = [
  {
    alert: 'LockstepLinkUnavailable',
    series: { [linkIn('UNAVAILABLE')]: forMinutes(20), [linkIn('ACTIVE')]: '1x9 0x20' },
    quiet: 9,
    fires: 12,
    labels: ofLink,
  },
  { alert: 'LockstepLinkFailed', series: { [linkIn('FAILED')]: forMinutes(20) }, quiet: 9, fires: 12, labels: ofLink },
  {
    alert: 'LockstepLinkPaused',
    series: { [linkIn('PAUSED')]: forMinutes(300) },
    quiet: 240,
    fires: 252,
    labels: ofLink,
  },
  {
    alert: 'LockstepTaskFailing',
    series: {
      [`lockstep_link_task_state{${node},link="west",task="AclSync",state="IN_ERROR"}`]: forMinutes(30),
      [`lockstep_link_task_state{${node},link="west",task="PartitionSync",state="IN_ERROR"}`]: '0x40',
    },
    quiet: 18,
    fires: 22,
    labels: 'cluster="east",link="west",task="AclSync"',
  },
  {
    alert: 'LockstepGroupOffsetsConflict',
    series: { [`lockstep_group_offsets_skipped_total{${node},link="west",reason="CONFLICT"}`]: '0x9 1+1x60' },
    quiet: 35,
    fires: 45,
    labels: ofLink,
  },
  {
    alert: 'LockstepNoCoordinator',
    series: {
      [`lockstep_link_coordinator{${node}}`]: '1x9 0x20',
      [`lockstep_link_coordinator{${other}}`]: '0x30',
    },
    quiet: 10,
    fires: 13,
    labels: ofCluster,
  },
]

const nodeCases: readonly AlertCase[] = [
  {
    alert: 'LockstepNodeDown',
    series: { [`up{${node}}`]: '1x9 0x20', [`up{${other}}`]: '1x30' },
    quiet: 9,
    fires: 12,
    labels: 'cluster="east",job="lockstep",instance="n1:8090"',
  },
  {
    // The largest delay since the last scrape: the first scrape that is answered again tells of it.
    alert: 'LockstepNodeHung',
    series: {
      [`nodejs_eventloop_lag_max_seconds{${node}}`]: '0.02x9 12 0.02x20',
      [`lockstep_info{${node},version="0.1.0",commit=""}`]: '1x30',
    },
    quiet: 9,
    fires: 10,
    labels: ofNode,
  },
  {
    alert: 'LockstepNodeHung',
    series: { [`lockstep_main_loop_stalls_total{${node}}`]: '0x9 1x20' },
    quiet: 9,
    fires: 12,
    labels: ofNode,
  },
  {
    // Somebody else's Node.js program.
    alert: 'LockstepNodeHung',
    series: { 'nodejs_eventloop_lag_max_seconds{job="shop",instance="s1:80"}': '12x30' },
    quiet: 9,
    fires: 'never',
  },
  {
    alert: 'LockstepFilesNearLimit',
    series: {
      [`process_open_fds{${node}}`]: '100x9 900x30',
      [`process_max_fds{${node}}`]: '1000x40',
      [`lockstep_info{${node},version="0.1.0",commit=""}`]: '1x40',
    },
    quiet: 15,
    fires: 22,
    labels: ofNode,
  },
]

const joinedCases: readonly AlertCase[] = [
  {
    // The fenced node does not answer, its neighbour tells.
    alert: 'LockstepNodeFenced',
    series: {
      [`lockstep_node_fenced{${other},node="1000"}`]: forMinutes(20),
      [`lockstep_node_fenced{${other},node="1001"}`]: '0x30',
    },
    quiet: 10,
    fires: 13,
    labels: 'cluster="east",node="1000"',
  },
  {
    alert: 'LockstepHeartbeatsLate',
    series: { [`lockstep_membership_heartbeat_age_seconds{${node}}`]: '1x9 6x20' },
    quiet: 9,
    fires: 11,
    labels: ofNode,
  },
  {
    alert: 'LockstepMetadataStopped',
    series: { [`lockstep_membership_metadata_stopped{${node}}`]: forMinutes(20) },
    quiet: 9,
    fires: 11,
    labels: ofNode,
  },
  {
    alert: 'LockstepMetadataBehind',
    series: { [`lockstep_membership_metadata_lag{${node}}`]: '0x9 5x40' },
    quiet: 15,
    fires: 22,
    labels: ofNode,
  },
  {
    alert: 'LockstepIsrTooSmall',
    series: {
      [`lockstep_mirror_partitions_below_min_java_isr{${node}}`]: '0x9 3x20',
      [`lockstep_mirror_partitions_below_min_java_isr{${other}}`]: '0x30',
    },
    quiet: 13,
    fires: 17,
    labels: ofCluster,
  },
  ...[
    { alert: 'LockstepMirrorsLedByKafka', condition: 'LED_BY_KAFKA' },
    { alert: 'LockstepMirrorsWithoutLeader', condition: 'WITHOUT_LEADER' },
  ].map(({ alert, condition }) => ({
    alert,
    series: { [`lockstep_mirror_partitions_misplaced{${node},condition="${condition}"}`]: '0x9 4x20' },
    quiet: 9,
    fires: 12,
    labels: ofCluster,
  })),
  {
    // A stand-in leads while the first node restarts: nothing to wake anybody for.
    alert: 'LockstepMirrorsLedByKafka',
    series: { [`lockstep_mirror_partitions_misplaced{${node},condition="LED_BY_STAND_IN"}`]: '4x30' },
    quiet: 9,
    fires: 'never',
  },
  {
    alert: 'LockstepMirrorsMisplaced',
    series: { [`lockstep_mirror_partitions_misplaced{${node},condition="OFF_LOCKSTEP"}`]: '0x9 4x90' },
    quiet: 60,
    fires: 72,
    labels: 'cluster="east",condition="OFF_LOCKSTEP"',
  },
  {
    alert: 'LockstepForeignPartitions',
    series: { [`lockstep_foreign_partitions{${node}}`]: '0x9 2x30' },
    quiet: 20,
    fires: 27,
    labels: ofCluster,
  },
]

export const alertCases: readonly AlertCase[] = [...mirrorCases, ...linkCases, ...nodeCases, ...joinedCases]
