/** Ids, offsets, error rows and config rows. */
import { deepStrictEqual, match, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  booleanRow,
  ConfigValueError,
  doubleRow,
  enumRow,
  intRow,
  listRow,
  nearestKey,
  stringRow,
} from './config-rows.ts'
import { type ErrorTable, errorFactory, messageOf } from './errors.ts'
import { offsetFromWire, offsetToWire } from './offset.ts'
import { isUuid, randomUuid, uuidFromBytes, uuidToBytes, uuidToHex, ZERO_UUID } from './uuid.ts'

test('any 16 bytes survive the text form of a uuid', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), bytes => {
      const text = uuidFromBytes(bytes)
      strictEqual(isUuid(text), true)
      deepStrictEqual(new Uint8Array(uuidToBytes(text)), bytes)
    }),
  )
})

test('a new uuid has 22 characters and never begins with a dash', () => {
  for (let i = 0; i < 200; i++) match(randomUuid(), /^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/)
  strictEqual(uuidToHex(ZERO_UUID), '00000000-0000-0000-0000-000000000000')
  throws(() => uuidToBytes('short'), /22 characters/)
  strictEqual(isUuid('short'), false)
})

test('an offset beyond 2^53 is refused rather than rounded', () => {
  strictEqual(offsetFromWire(-1n), -1)
  strictEqual(offsetFromWire(9_007_199_254_740_991n), Number.MAX_SAFE_INTEGER)
  throws(() => offsetFromWire(9_007_199_254_740_993n), RangeError)
  strictEqual(offsetToWire(42), 42n)
})

test('an error of a table carries its row, its text and its hint', () => {
  const table = {
    GONE: {
      status: 404,
      restCode: 40403,
      kafka: 'UNKNOWN_TOPIC_OR_PARTITION',
      retriable: false,
      message: (d: { topic: string }) => `topic "${d.topic}" is gone`,
      hint: () => 'create it',
    },
  } satisfies ErrorTable
  const cause = new Error('deep')
  const error = errorFactory(table)('GONE', { topic: 'orders' }, cause)
  deepStrictEqual(
    [error.code, error.message, error.hint, error.row.status, error.retriable, error.cause],
    ['GONE', 'topic "orders" is gone', 'create it', 404, false, cause],
  )
  strictEqual(messageOf('text'), 'text')
})

test('rows parse what they allow and say what is allowed otherwise', () => {
  const int = intRow({ doc: '', min: 1, max: 10 })
  strictEqual(int.parse(' 7 '), 7)
  for (const wrong of ['', '0', '11', '1.5', 'x', '1e400']) throws(() => int.parse(wrong), /from 1 to 10/)
  strictEqual(
    intRow({ doc: '', long: true }).format(intRow({ doc: '', long: true }).parse('9223372036854775807')),
    '9223372036854775807',
  )
  strictEqual(booleanRow({ doc: '' }).parse('TRUE'), true)
  throws(() => booleanRow({ doc: '' }).parse('yes'), ConfigValueError)
  strictEqual(doubleRow({ doc: '', min: 0, max: 1 }).parse('0.5'), 0.5)
  throws(() => doubleRow({ doc: '', min: 0, max: 1 }).parse('2'), ConfigValueError)
  strictEqual(enumRow({ doc: '', values: ['fail', 'truncate'] }).parse('FAIL'), 'fail')
  throws(() => enumRow({ doc: '', values: ['fail', 'truncate'] }).parse('cut'), /one of fail, truncate/)
  deepStrictEqual(listRow({ doc: '' }).parse(' a, b ,,c'), ['a', 'b', 'c'])
  strictEqual(stringRow({ doc: '', sensitive: true }).sensitive, true)
  throws(() => stringRow({ doc: '', check: () => 'no' }).parse('x'), /no/)
})

test('the nearest key is found for a small mistake and for nothing else', () => {
  const known = ['bootstrap.servers', 'acl.sync.ms', 'link.mode']
  strictEqual(nearestKey('bootstrap.server', known), 'bootstrap.servers')
  strictEqual(nearestKey('acl.synch.ms', known), 'acl.sync.ms')
  strictEqual(nearestKey('completely.different.thing', known), undefined)
})
