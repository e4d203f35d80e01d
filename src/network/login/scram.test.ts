/** SCRAM: the example of RFC 7677 on both sides, names and passwords of every kind, and attacks on either side. */
import { deepEqual, equal, match, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LoginImpossible } from './client-exchange.ts'
import { scramClient } from './client-mechanisms.ts'
import { LoginRefused } from './login-exchange.ts'
import { parseClientFirst, SCRAM_MECHANISMS, type ScramMechanism, scramCredential } from './scram.ts'
import { ScramServer } from './scram-server.ts'

const SALT = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64')
const CLIENT_NONCE = 'rOprNGfwEbeRWgbNEkqO'
const NONCE = 'rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0'

/** The dialogue of RFC 7677, section 3. */
const RFC = [
  `n,,n=user,r=${CLIENT_NONCE}`,
  `r=${NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`,
  `c=biws,r=${NONCE},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=`,
  'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
] as const

const rfcServer = async () => {
  const credential = await scramCredential('SCRAM-SHA-256', 'pencil', { salt: SALT })
  const lookup = (user: string) => (user === 'user' ? credential : undefined)
  return new ScramServer('SCRAM-SHA-256', lookup, () => NONCE.slice(CLIENT_NONCE.length))
}

test('the server holds the dialogue of the RFC', async () => {
  const server = await rfcServer()
  equal(server.respond(Buffer.from(RFC[0])).reply.toString(), RFC[1])
  const { reply, identity } = server.respond(Buffer.from(RFC[2]))
  equal(reply.toString(), RFC[3])
  deepEqual(identity, { name: 'user' })
})

test('the client holds the dialogue of the RFC', async () => {
  const client = scramClient('SCRAM-SHA-256', { user: 'user', password: 'pencil' }, () => CLIENT_NONCE).begin()
  equal(String(await client.next(undefined)), RFC[0])
  equal(String(await client.next(Buffer.from(RFC[1]))), RFC[2])
  equal(await client.next(Buffer.from(RFC[3])), undefined)
})

async function logIn(mechanism: ScramMechanism, server: ScramServer, login: { user: string; password: string }) {
  const client = scramClient(mechanism, login).begin()
  let challenge: Buffer | undefined
  for (;;) {
    const message = await client.next(challenge)
    if (message === undefined) return
    const { reply, identity } = server.respond(message)
    challenge = reply
    if (identity) deepEqual(identity, { name: login.user })
  }
}

test('any name with any password logs in with both mechanisms, and with no other password', async () => {
  const name = fc.string({ minLength: 1, maxLength: 20, unit: 'binary' }).filter(text => !text.includes('\0'))
  await fc.assert(
    fc.asyncProperty(name, name, fc.constantFrom(...SCRAM_MECHANISMS), async (user, password, mechanism) => {
      const credential = await scramCredential(mechanism, password)
      const server = () => new ScramServer(mechanism, asked => (asked === user ? credential : undefined))
      await logIn(mechanism, server(), { user, password })
      await rejects(logIn(mechanism, server(), { user, password: `${password}x` }), LoginRefused)
      await rejects(logIn(mechanism, server(), { user: `${user}x`, password }), LoginRefused)
    }),
    { numRuns: 20 },
  )
})

test('an unknown user gets a salt like a known one, the same each time', async () => {
  const first = (server: ScramServer) => server.respond(Buffer.from('n,,n=nobody,r=abc')).reply.toString()
  const [one, two] = [first(await rfcServer()), first(await rfcServer())]
  match(one, /^r=abc[^,]+,s=[A-Za-z0-9+/]{32},i=4096$/)
  equal(one, two)
  // Nor does asking for another authorization id tell who exists.
  const asOther = async (user: string) => {
    const server = await rfcServer()
    throws(() => server.respond(Buffer.from(`n,a=other,n=${user},r=abc`)), /different from username/)
  }
  await asOther('user')
  await asOther('nobody')
})

test('the server refuses what is malformed, out of turn, for others or bound to a channel', async () => {
  const refused = async (...messages: string[]) => {
    const server = await rfcServer()
    throws(() => {
      for (const message of messages) server.respond(Buffer.from(message))
    }, LoginRefused)
  }
  await refused('')
  await refused('y,,n=user,r=abc')
  await refused('n,,n=us=er,r=abc')
  await refused('n,,n=user')
  await refused('n,a=other,n=user,r=abc')
  await refused('n,,n=tok,r=abc,tokenauth=true')
  await refused(RFC[0], RFC[0])
  await refused(RFC[0], RFC[2].replace('r=rOpr', 'r=xOpr').replace('k0,', 'k1,'))
  await refused(RFC[0], RFC[2].replace('c=biws', 'c=cD10bHMtdW5pcXVl'))
  await refused(RFC[0], RFC[2].replace('p=dH', 'p=eH'))
  await refused(RFC[0], `c=biws,r=${NONCE},p=AAAA`)
})

test('the client refuses a server that does not know the password, or asks too little or too much', async () => {
  const refused = async (first: string, final = RFC[3] as string) => {
    const client = scramClient('SCRAM-SHA-256', { user: 'user', password: 'pencil' }, () => CLIENT_NONCE).begin()
    await client.next(undefined)
    await client.next(Buffer.from(first))
    await client.next(Buffer.from(final))
  }
  await refused(RFC[1])
  await rejects(refused(RFC[1], RFC[3].replace('v=6', 'v=7')), /signature is wrong/)
  await rejects(refused(RFC[1], 'v='), /signature is wrong/)
  await rejects(refused(RFC[1], 'e=other-error'), LoginImpossible)
  await rejects(refused(RFC[1].replace('i=4096', 'i=1')), LoginImpossible)
  await rejects(refused(RFC[1].replace('i=4096', 'i=99999999')), LoginImpossible)
  await rejects(refused(RFC[1].replace('r=r', 'r=x')), LoginImpossible)
  await rejects(refused(`r=${CLIENT_NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`), LoginImpossible)
})

test('names with commas and equals signs are escaped', () => {
  equal(parseClientFirst(Buffer.from('n,,n=a=2Cb=3Dc=3D2C,r=x')).user, 'a,b=c=2C')
})
