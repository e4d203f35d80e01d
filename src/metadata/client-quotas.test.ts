/** Which quota counts for whom. */
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { quotaEntityKey, quotaOf } from './client-quotas.ts'
import type { ClientQuotaImage } from './metadata-image.ts'

type Part = readonly [type: string, name: string | null]

function quotas(...entries: readonly (readonly [number, ...Part[]])[]): ReadonlyMap<string, ClientQuotaImage> {
  return new Map(
    entries.map(([value, ...parts]) => {
      const entity = parts.map(([type, name]) => ({ type, name }))
      return [quotaEntityKey(entity), { entity, values: new Map([['producer_byte_rate', value]]) }]
    }),
  )
}

/** From what counts last to what counts first. */
const ORDER: readonly (readonly [number, ...Part[]])[] = [
  [8, ['client-id', null]],
  [7, ['client-id', 'app']],
  [6, ['user', null]],
  [5, ['user', null], ['client-id', null]],
  [4, ['user', null], ['client-id', 'app']],
  [3, ['user', 'alice']],
  [2, ['user', 'alice'], ['client-id', null]],
  [1, ['client-id', 'app'], ['user', 'alice']],
]

test('the most specific quota counts, in the order of Kafka', () => {
  const alice = { user: 'alice', clientId: 'app' }
  const shared = ORDER.map((_, i) => quotaOf(quotas(...ORDER.slice(0, i + 1)), 'producer_byte_rate', alice))
  deepEqual(
    shared.map(quota => [quota?.bound, quota?.user, quota?.clientId]),
    [
      [8, '', 'app'],
      [7, '', 'app'],
      [6, 'alice', ''],
      [5, 'alice', 'app'],
      [4, 'alice', 'app'],
      [3, 'alice', ''],
      [2, 'alice', 'app'],
      [1, 'alice', 'app'],
    ],
  )
  equal(quotaOf(quotas(...ORDER), 'producer_byte_rate', { user: 'bob', clientId: 'x' })?.bound, 5)
  equal(quotaOf(quotas(...ORDER), 'consumer_byte_rate', alice), undefined)
  equal(quotaOf(quotas([3, ['user', 'alice']]), 'producer_byte_rate', { user: 'bob', clientId: 'app' }), undefined)
})
