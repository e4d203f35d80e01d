/** What a dry run adds up to, and the request that a filled in link makes. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { bodyOf, emptyDraft, isComplete } from './link-draft.ts'
import { type AlterRow, tollOf } from './verbs.ts'

const lag = (partition: number, value: number | null): AlterRow['mirror_lags'][number] => ({
  ...{ partition, lag: value, last_source_fetch_offset: 1, lag_ms: null, log_start_offset: 0, log_end_offset: 1 },
  ...{ source_high_watermark: null, source_last_stable_offset: null, stable_lag: null, mirrored_bytes: 0 },
  ...{ partition_state: 'ACTIVE', reason: null },
})

const row = (change: Partial<AlterRow>): AlterRow => ({
  ...{ kind: 'AlterMirrorsData', metadata: { self: '', resource_name: null }, mirror_topic_name: 't' },
  ...{ error_code: null, error_message: null, mirror_lags: [], messages_truncated: null },
  ...{ partition_level_truncation_data: [], partitions: [], open_transactions: 0, groups_behind: [] },
  ...{ groups_in_use: [], retention_bytes_at_risk: null, overlapping_producer_ids: [], warnings: [] },
  ...change,
})

test('a toll is of what would be accepted, and tells what is not known apart', () => {
  const toll = tollOf([
    row({
      mirror_lags: [{ ...lag(0, 7), lag_ms: 3000 }, lag(1, null)],
      open_transactions: 2,
      groups_behind: ['b', 'a'],
      warnings: ['w'],
    }),
    row({ mirror_lags: [lag(0, 5)], groups_behind: ['a'], retention_bytes_at_risk: 100, warnings: ['w'] }),
    row({ error_code: 40002, error_message: 'no', mirror_lags: [lag(0, 1000)], open_transactions: 9 }),
  ])
  deepEqual([toll.topics, toll.missing, toll.unknown, toll.transactions, toll.retentionBytes], [2, 12, 1, 2, 100])
  equal(toll.behindMs, 3000)
  deepEqual(toll.groupsBehind, ['a', 'b'])
  deepEqual(toll.warnings, ['w'])
  equal(toll.refused.length, 1)
})

test('a link is asked for with what was filled in, and nothing else', () => {
  ok(!isComplete(emptyDraft))
  const draft = { ...emptyDraft, name: 'west', bootstrap: ' a:1, b:2 ', syncsOffsets: false }
  ok(isComplete(draft))
  const bootstrap = { name: 'bootstrap.servers', value: 'a:1, b:2' }
  deepEqual(bodyOf(draft), { configs: [bootstrap] })
  const twoWay = { configs: [bootstrap, { name: 'link.mode', value: 'BIDIRECTIONAL' }] }
  deepEqual(bodyOf({ ...draft, isTwoWay: true }), twoWay)
})

test('user and password become the login that Kafka writes, whatever they hold, and properties by hand win', () => {
  const draft = { ...emptyDraft, name: 'w', bootstrap: 'a:1', protocol: 'SASL_SSL', syncsOffsets: false }
  const body = bodyOf({ ...draft, user: 'u', password: 'p"\\;', more: 'sasl.mechanism = PLAIN\nbad line\nx=1=2' })
  const found = new Map((body.configs ?? []).map(({ name, value }) => [name, value]))
  equal(
    found.get('sasl.jaas.config'),
    'org.apache.kafka.common.security.scram.ScramLoginModule required username="u" password="p\\"\\\\;";',
  )
  equal(found.get('sasl.mechanism'), 'PLAIN')
  equal(found.get('x'), '1=2')
})
