/** The table of error codes. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode, errorName, errorOf, kafkaErrors } from './errors.ts'

test('codes run from -1 to 133 without gap and in order', () => {
  const codes = Object.values(kafkaErrors).map(row => row.code)
  deepStrictEqual(
    codes,
    Array.from({ length: 135 }, (_, index) => index - 1),
  )
})

test('a code gives its row and its name', () => {
  strictEqual(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 3)
  strictEqual(errorName(0), 'NONE')
  strictEqual(errorOf(16)?.name, 'NOT_COORDINATOR')
  ok(errorOf(16)?.retriable)
})

test('a code of a later Kafka has no row but a name', () => {
  strictEqual(errorOf(999), undefined)
  strictEqual(errorName(999), 'UNKNOWN_ERROR_999')
})
