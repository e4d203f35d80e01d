/** The users that a fresh node begins with: Kafka's words for them, and what becomes of them. */
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigValueError } from '../../core/config-rows.ts'
import { scramPasswordMatches } from '../../network/login/scram.ts'
import { firstUserRecords, parseFirstUsers } from './first-users.ts'

test('users are read in the words of kafka-storage, several behind semicolons', () => {
  deepEqual(
    parseFirstUsers(
      'SCRAM-SHA-512=[name=admin,password=secret]; SCRAM-SHA-256=[name="a,b",password="c]d",iterations=8192];',
    ),
    [
      { mechanism: 'SCRAM-SHA-512', name: 'admin', password: 'secret', iterations: 4096 },
      { mechanism: 'SCRAM-SHA-256', name: 'a,b', password: 'c]d', iterations: 8192 },
    ],
  )
  deepEqual(parseFirstUsers(''), [])
})

test('what cannot be read is refused without being repeated', () => {
  for (const text of [
    'hunter2',
    'PLAIN=[name=a,password=hunter2]',
    'SCRAM-SHA-256=[password=hunter2]',
    'SCRAM-SHA-256=[name=a]',
    'SCRAM-SHA-256=[name=a,password=hunter2,iterations=100]',
    'SCRAM-SHA-256=[name=a,password=hunter2',
    'SCRAM-SHA-256=[name=a password=hunter2]',
  ])
    throws(
      () => parseFirstUsers(text),
      error => error instanceof ConfigValueError && !error.message.includes('hunter2'),
    )
})

test('their records hold credentials, not passwords', async () => {
  const [record] = await firstUserRecords(parseFirstUsers('SCRAM-SHA-512=[name=admin,password=secret]'))
  const value = record?.value as { name: string; mechanism: number } & Parameters<typeof scramPasswordMatches>[1]
  deepEqual([value.name, value.mechanism, value.iterations], ['admin', 2, 4096])
  equal(await scramPasswordMatches('SCRAM-SHA-512', value, 'secret'), true)
  equal(await scramPasswordMatches('SCRAM-SHA-512', value, 'other'), false)
})
