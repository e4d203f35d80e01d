/** Entries of bootstrap.servers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SourceError } from '../link/ports.ts'
import { parseHostPort } from './bootstrap-servers.ts'

test('host and port are read, also of IPv6 addresses', () => {
  assert.deepEqual(parseHostPort(' kafka-1.example:9092 '), { host: 'kafka-1.example', port: 9092 })
  assert.deepEqual(parseHostPort('127.0.0.1:65535'), { host: '127.0.0.1', port: 65535 })
  assert.deepEqual(parseHostPort('[::1]:9092'), { host: '::1', port: 9092 })
})

test('anything else is refused by name', () => {
  for (const text of [
    '',
    'kafka',
    'kafka:',
    ':9092',
    'kafka:0',
    'kafka:65536',
    'kafka:9o92',
    'a b:1',
    '::1:9092',
    'PLAINTEXT://kafka:9092',
  ])
    assert.throws(
      () => parseHostPort(text),
      (error: unknown) => error instanceof SourceError && error.message.includes(`"${text}"`),
    )
})
