/** What /metrics says of links and mirrors, and that it stays bounded. */
import { doesNotMatch, match, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ZERO_UUID } from '../core/uuid.ts'
import { FakeEngine, fakeLink, fakeMirror } from './fakes/fake-engine.ts'
import { linkMetricRows, linkMetrics } from './metrics.ts'

function engine(): FakeEngine {
  const fake = new FakeEngine()
  fake.links = [
    {
      ...fakeLink('west', ZERO_UUID),
      tasks: [
        {
          name: 'AclSync',
          state: 'IN_ERROR',
          errors: [{ code: 'INTERNAL_ERROR', message: 'why' }],
          lastSuccessMs: null,
        },
        { name: 'PartitionSync', state: 'ACTIVE', errors: [], lastSuccessMs: 1500 },
      ],
    },
  ]
  const reversal = { role: 'MIRROR', peerStatus: 'ACTIVE', peerReason: null, readOnlyMs: 750 } as const
  fake.mirrors = [fakeMirror('orders'), { ...fakeMirror('back'), reversal: { ...reversal, abortedTransactions: 2 } }]
  return fake
}

test('every family has its help, its type and the samples of what there is', () => {
  const text = linkMetrics(engine(), { perPartition: true })
  for (const { name, type } of linkMetricRows) ok(text.includes(`# TYPE ${name} ${type}\n`), name)
  const lines = [
    'lockstep_mirror_lag_records{link="west",topic="orders",partition="0"} 5',
    'lockstep_mirror_stable_lag_records{link="west",topic="orders",partition="1"} 0',
    'lockstep_mirror_state{link="west",topic="orders",state="ACTIVE"} 1',
    'lockstep_reverse_read_only_seconds{link="west",topic="back"} 0.75',
    'lockstep_reverse_aborted_transactions{link="west",topic="back"} 2',
    'lockstep_link_state{link="west",state="ACTIVE"} 1',
    'lockstep_link_task_state{link="west",task="AclSync",state="IN_ERROR"} 1',
    'lockstep_link_task_state{link="west",task="AclSync",state="ACTIVE"} 0',
    'lockstep_link_task_last_success_seconds{link="west",task="PartitionSync"} 1.5',
    'lockstep_fetch_throttle_seconds{link="west"} 0',
    'lockstep_group_offsets_synced_total{link="west"} 3',
    'lockstep_group_offsets_skipped_total{link="west",reason="IN_USE"} 2',
    'lockstep_acls_owned{link="west"} 4',
    'lockstep_incidents_total{kind="truncation"} 2',
    'lockstep_fence_changes_total 0',
    'lockstep_link_coordinator 1',
  ]
  for (const line of lines) ok(text.split('\n').includes(line), line)
  doesNotMatch(text, /last_success_seconds\{link="west",task="AclSync"/)
})

test('figures of partitions can be joined to those of topics: the worst of a gauge, the sum of a counter', () => {
  const text = linkMetrics(engine(), { perPartition: false })
  match(text, /lockstep_mirror_lag_records\{link="west",topic="orders"\} 5\n/)
  const [first, second] = fakeMirror('orders').lags
  const bytes = (first?.mirroredBytes ?? 0) + (second?.mirroredBytes ?? 0)
  ok(text.includes(`lockstep_mirror_bytes_total{link="west",topic="orders"} ${bytes}\n`))
  doesNotMatch(text, /partition="/)
})

test('with very many partitions only topics have series', () => {
  const fake = engine()
  const [mirror] = fake.mirrors
  const [lag] = mirror?.lags ?? []
  ok(mirror && lag)
  fake.mirrors = [{ ...mirror, lags: Array.from({ length: 20_001 }, (_, partition) => ({ ...lag, partition })) }]
  const text = linkMetrics(fake, { perPartition: true })
  strictEqual(text.match(/lockstep_mirror_lag_records\{/g)?.length, 1)
})

test('each node tells the partitions that it leads, and only the coordinator what is of whole links', () => {
  const fake = engine()
  fake.ready = false
  const [mirror] = fake.mirrors
  const [first, second] = mirror?.lags ?? []
  ok(mirror && first && second)
  fake.mirrors = [{ ...mirror, lags: [{ ...first, isLedHere: false }, second] }]
  const text = linkMetrics(fake, { perPartition: true })
  doesNotMatch(text, /lockstep_mirror_bytes_total\{[^}]*partition="0"/)
  match(text, /lockstep_mirror_bytes_total\{[^}]*partition="1"\}/)
  match(text, /lockstep_fetch_throttle_seconds\{link="west"\}/)
  doesNotMatch(text, /lockstep_(mirror_state|link_state|acls_owned|link_task_state|group_offsets_synced_total)\{/)
})
