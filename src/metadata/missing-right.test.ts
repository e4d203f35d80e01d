/** What an operator is told when a right is missing. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../protocol/errors.ts'
import { explained, missingRight } from './missing-right.ts'

test('a missing right is told with its resource and the command that grants it', () => {
  strictEqual(
    missingRight({ operation: 'ALTER_CONFIGS', resource: 'TOPIC', name: 'orders' }),
    'the principal of this node lacks ALTER_CONFIGS on the topic orders; grant it with kafka-acls --add --allow-principal User:<this node> --operation AlterConfigs --topic orders',
  )
  match(missingRight({ operation: 'CLUSTER_ACTION', resource: 'CLUSTER' }), /on the cluster;.*ClusterAction --cluster$/)
})

test('only refusals are explained', () => {
  const right = { operation: 'CREATE', resource: 'TOPIC', name: 'orders' } as const
  const other = { errorCode: ErrorCode.TOPIC_ALREADY_EXISTS, errorMessage: 'there' }
  deepStrictEqual(explained(other, right), other)
  const refused = explained({ errorCode: ErrorCode.TOPIC_AUTHORIZATION_FAILED, errorMessage: null }, right)
  match(refused.errorMessage ?? '', /lacks CREATE on the topic orders/)
})
