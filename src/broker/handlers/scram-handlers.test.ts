/** SCRAM credentials through the Kafka API: what is stored, what is refused, what is told. */
import { deepEqual, equal } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { scramCredentialKey } from '../../metadata/metadata-image.ts'
import { saltedPassword, scramPasswordMatches } from '../../network/login/scram.ts'
import { errorName } from '../../protocol/errors.ts'
import { SaslHandshakeApi } from '../../protocol/messages/17-sasl-handshake.ts'
import { SaslAuthenticateApi } from '../../protocol/messages/36-sasl-authenticate.ts'
import { DescribeClientQuotasApi } from '../../protocol/messages/48-describe-client-quotas.ts'
import { DescribeUserScramCredentialsApi } from '../../protocol/messages/50-describe-user-scram-credentials.ts'
import { AlterUserScramCredentialsApi } from '../../protocol/messages/51-alter-user-scram-credentials.ts'
import { TestNode } from '../fakes/test-node.ts'

const salt = Buffer.from('salt of the test')
const upsertion = (name: string, o: { mechanism?: number; iterations?: number; saltedPassword?: Buffer } = {}) => ({
  name,
  mechanism: 1,
  iterations: 4096,
  salt,
  saltedPassword: Buffer.alloc(32, 1),
  ...o,
})

async function start(t: TestContext) {
  const node = await TestNode.start()
  t.after(() => node.close())
  type Request = Parameters<typeof AlterUserScramCredentialsApi.request.encode>[0]
  const alter = async (request: Partial<Request>) => {
    const answer = await node.call(AlterUserScramCredentialsApi, { deletions: [], upsertions: [], ...request })
    return Object.fromEntries(answer?.results.map(({ user, errorCode }) => [user, errorName(errorCode)]) ?? [])
  }
  const describe = async (users: string[] | null) => {
    const request = { users: users === null ? null : users.map(name => ({ name })) }
    const answer = await node.call(DescribeUserScramCredentialsApi, request)
    return (answer?.results ?? []).map(({ user, errorCode, credentialInfos }) => ({
      user,
      error: errorName(errorCode),
      credentials: credentialInfos.map(({ mechanism, iterations }) => [mechanism, iterations]),
    }))
  }
  return { node, alter, describe }
}

test('a credential is made from the salted password, described without secrets, changed and deleted', async t => {
  const { node, alter, describe } = await start(t)
  const salted = await saltedPassword('SCRAM-SHA-256', 'geheim', { salt, iterations: 4096 })
  deepEqual(await alter({ upsertions: [upsertion('alice', { saltedPassword: salted })] }), { alice: 'NONE' })
  const stored = node.controller.image.scramCredentials.get(scramCredentialKey('alice', 1))
  equal(stored && (await scramPasswordMatches('SCRAM-SHA-256', stored, 'geheim')), true)
  equal(stored && (await scramPasswordMatches('SCRAM-SHA-256', stored, 'Geheim')), false)
  const second = upsertion('alice', { mechanism: 2, iterations: 8192, saltedPassword: Buffer.alloc(64) })
  deepEqual(await alter({ upsertions: [second] }), { alice: 'NONE' })
  const credentials = [
    [1, 4096],
    [2, 8192],
  ]
  deepEqual(await describe(null), [{ user: 'alice', error: 'NONE', credentials }])
  deepEqual(await alter({ deletions: [{ name: 'alice', mechanism: 1 }] }), { alice: 'NONE' })
  deepEqual(await describe(['alice']), [{ user: 'alice', error: 'NONE', credentials: [[2, 8192]] }])
})

test('each user is refused for its own reason, the others are changed', async t => {
  const { alter, describe } = await start(t)
  const answer = await alter({
    deletions: [
      { name: 'nobody', mechanism: 1 },
      { name: 'bad', mechanism: 3 },
    ],
    upsertions: [
      upsertion('few', { iterations: 4095 }),
      upsertion('many', { iterations: 16_385 }),
      upsertion('twice'),
      upsertion('twice', { mechanism: 2 }),
      upsertion(''),
      upsertion('unknown', { mechanism: 0 }),
      upsertion('fine', { iterations: 16_384 }),
    ],
  })
  deepEqual(answer, {
    nobody: 'RESOURCE_NOT_FOUND',
    bad: 'UNSUPPORTED_SASL_MECHANISM',
    few: 'UNACCEPTABLE_CREDENTIAL',
    many: 'UNACCEPTABLE_CREDENTIAL',
    twice: 'DUPLICATE_RESOURCE',
    '': 'UNACCEPTABLE_CREDENTIAL',
    unknown: 'UNSUPPORTED_SASL_MECHANISM',
    fine: 'NONE',
  })
  deepEqual(await describe(['fine', 'twice', 'nobody', 'nobody']), [
    { user: 'fine', error: 'NONE', credentials: [[1, 16_384]] },
    { user: 'twice', error: 'RESOURCE_NOT_FOUND', credentials: [] },
    { user: 'nobody', error: 'DUPLICATE_RESOURCE', credentials: [] },
  ])
})

// Kafka's tool for users asks for their quotas first.
test('quotas are described as there are none; filters that make no sense are refused', async t => {
  const { node } = await start(t)
  const describe = async (...components: [string, number, string | null][]) => {
    const filter = components.map(([entityType, matchType, match]) => ({ entityType, matchType, match }))
    const answer = await node.call(DescribeClientQuotasApi, { components: filter, strict: true })
    return answer?.errorCode ? errorName(answer.errorCode) : answer?.entries
  }
  deepEqual(await describe(['user', 0, 'alice']), [])
  deepEqual(await describe(['user', 1, null], ['client-id', 2, null]), [])
  for (const [first, ...rest] of [
    [['', 0, 'x']],
    [['user', 0, null]],
    [['user', 1, 'x']],
    [['user', 3, null]],
    [
      ['user', 0, 'a'],
      ['user', 0, 'b'],
    ],
    [
      ['ip', 1, null],
      ['user', 1, null],
    ],
  ] as [string, number, string | null][][])
    equal(await describe(...(first ? [first] : []), ...rest), 'INVALID_REQUEST')
  equal(await describe(['planet', 1, null]), 'UNSUPPORTED_VERSION')
})

test('a login where there is none to do is an illegal state', async t => {
  const { node } = await start(t)
  const handshake = await node.call(SaslHandshakeApi, { mechanism: 'PLAIN' })
  equal(errorName(handshake?.errorCode ?? 0), 'ILLEGAL_SASL_STATE')
  const login = await node.call(SaslAuthenticateApi, { authBytes: Buffer.alloc(0) })
  equal(errorName(login?.errorCode ?? 0), 'ILLEGAL_SASL_STATE')
})
