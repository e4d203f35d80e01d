/** xxHash32 against published values. */
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { xxhash32 } from './xxhash32.ts'

test('known texts have their published hashes', () => {
  equal(xxhash32(Buffer.from('')), 0x02cc5d05)
  equal(xxhash32(Buffer.from('a')), 0x550d7456)
  equal(xxhash32(Buffer.from('abc')), 0x32d153ff)
  equal(xxhash32(Buffer.from('Nobody inspects the spammish repetition')), 0xe2293b2f)
})
