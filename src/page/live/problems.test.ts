/** What an operator is told first. */
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import type { LinkData } from '../../rest/schemas/links.ts'
import { problemsOf } from './problems.ts'

const link = (change: Partial<LinkData>): LinkData => ({
  ...{ kind: 'KafkaLinkData', metadata: { self: '', resource_name: null }, link_name: 'west', link_id: '' },
  ...{ cluster_link_id: '', source_cluster_id: null, destination_cluster_id: null, remote_cluster_id: null },
  ...{ topic_names: [], link_state: 'ACTIVE', link_error: 'NO_ERROR', link_error_message: null },
  ...{ link_error_time_ms: null, max_lag: null, max_lag_ms: null, mirrored_bytes: 0, mirror_status_counts: [] },
  ...{ troubled_mirror_count: 0, category_counts: [], tasks: [] },
  ...change,
})
const failing = (name: string) => ({
  ...{ task_name: name, state: 'IN_ERROR', last_success_ms: null, reason: null },
  errors: [{ error_code: 'INTERNAL_ERROR', error_message: 'no' }],
})

test('a link with an error is one thing, whatever it holds up', () => {
  const down = link({
    ...{ link_state: 'UNAVAILABLE', link_error: 'TIMEOUT_ERROR', link_error_message: 'no answer' },
    mirror_status_counts: [
      { mirror_status: 'SOURCE_UNAVAILABLE', count: 6 },
      { mirror_status: 'STOPPED', count: 2 },
    ],
    troubled_mirror_count: 1,
    tasks: [failing('AclSync'), failing('PartitionSync')],
  })
  const problems = problemsOf([down], [])
  equal(problems.length, 1)
  match(problems[0]?.detail ?? '', /^TIMEOUT_ERROR: no answer\. It holds up 7 mirrors and 2 tasks\.$/)
})

test('what has failed comes before what is only in trouble, and what was stopped or paused is no problem', () => {
  const found = link({
    mirror_status_counts: [
      { mirror_status: 'PAUSED', count: 1 },
      { mirror_status: 'FAILED', count: 3 },
      { mirror_status: 'PENDING_MIRROR', count: 2 },
    ],
    troubled_mirror_count: 1,
    tasks: [failing('AclSync')],
  })
  deepEqual(
    problemsOf([found], []).map(({ tone, title }) => [tone, title]),
    [
      ['bad', '3 mirrors of west failed'],
      ['warn', '2 mirrors of west changing roles with the other end'],
      ['warn', '1 mirror of west in trouble'],
      ['warn', 'Task AclSync of west: 1 error'],
    ],
  )
  deepEqual(problemsOf([link({})], []), [])
})
