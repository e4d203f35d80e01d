/** Tests of hashed passwords. */
import { match, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { hashPassword, isPasswordHash, passwordHashProblem, passwordMatches } from './password-hash.ts'

test('a hash is that of its password only, and another one each time', async () => {
  const hash = await hashPassword('sécret')
  ok(isPasswordHash(hash))
  strictEqual(passwordHashProblem(hash), undefined)
  strictEqual(await passwordMatches(hash, 'sécret'), true)
  strictEqual(await passwordMatches(hash, 'secret'), false)
  ok(hash !== (await hashPassword('sécret')))
})

test('text that is no hash, or one that would cost too much, is told and matches nothing', async () => {
  match(passwordHashProblem('scrypt:1:2') ?? '', /not of the form/)
  match(passwordHashProblem('scrypt:262144:8:1:AAAA:AAAA') ?? '', /costs/)
  match(passwordHashProblem('scrypt:1000:8:1:AAAA:AAAA') ?? '', /costs/)
  strictEqual(await passwordMatches('scrypt:262144:8:1:AAAA:AAAA', ''), false)
})

test('what is left of a hash that was cut off matches nothing', async () => {
  const hash = await hashPassword('secret')
  const [start] = /^.*:/.exec(hash) ?? []
  for (const rest of ['A', 'AAAA']) {
    match(passwordHashProblem(`${start}${rest}`) ?? '', /less than 16 bytes/)
    strictEqual(await passwordMatches(`${start}${rest}`, 'anything'), false)
  }
})
