/** Codes of Kafka as REST tells them. */
import { deepStrictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../protocol/errors.ts'
import { gateRefusal, kafkaRefusal } from './kafka-refusal.ts'

test('each kind of refusal has the status and the code that clients of v3 know', () => {
  const told = (code: number) => {
    const { row, message } = kafkaRefusal(code, null)
    return [row.status, row.restCode, row.retriable, message]
  }
  deepStrictEqual(told(ErrorCode.TOPIC_ALREADY_EXISTS), [400, 40002, false, 'TOPIC_ALREADY_EXISTS'])
  deepStrictEqual(told(ErrorCode.INVALID_REPLICATION_FACTOR), [400, 40002, false, 'INVALID_REPLICATION_FACTOR'])
  deepStrictEqual(told(ErrorCode.UNSUPPORTED_VERSION), [400, 40035, false, 'UNSUPPORTED_VERSION'])
  deepStrictEqual(told(ErrorCode.CLUSTER_AUTHORIZATION_FAILED), [403, 40301, false, 'CLUSTER_AUTHORIZATION_FAILED'])
  deepStrictEqual(told(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), [404, 40403, false, 'UNKNOWN_TOPIC_OR_PARTITION'])
  deepStrictEqual(told(ErrorCode.REQUEST_TIMED_OUT), [408, 408, true, 'REQUEST_TIMED_OUT'])
  deepStrictEqual(told(ErrorCode.UNKNOWN_SERVER_ERROR), [500, 500, false, 'UNKNOWN_SERVER_ERROR'])
  deepStrictEqual(told(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS), [503, 50003, true, 'COORDINATOR_LOAD_IN_PROGRESS'])
})

test('a gate that does not know yet is worth another try, whatever code Kafka clients get', () => {
  const told = (errorCode: number) => gateRefusal({ errorCode, message: 'why' }).row.restCode
  deepStrictEqual(
    [ErrorCode.POLICY_VIOLATION, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_LEADER_OR_FOLLOWER].map(told),
    [40002, 50003, 50003],
  )
})
