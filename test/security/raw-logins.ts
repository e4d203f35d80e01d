// Logins request by request, right and wrong, sent as bytes to two servers whose answers are compared; a test of the security suite.
import { deepStrictEqual } from 'node:assert/strict'
import { frameOf, RawClient } from '../../src/network/fakes/raw-client.ts'
import { MetadataRequest } from '../../src/protocol/messages/03-metadata.ts'
import { SaslHandshakeRequest } from '../../src/protocol/messages/17-sasl-handshake.ts'
import { ApiVersionsRequest } from '../../src/protocol/messages/18-api-versions.ts'
import { SaslAuthenticateRequest } from '../../src/protocol/messages/36-sasl-authenticate.ts'
import { RequestHeader } from '../../src/protocol/messages/header.ts'
import { ADMIN, GUEST } from './credentials.ts'

const API_VERSIONS = 18

/** A frame to send, and what of its answer is compared: all of it, or the error code only. */
interface Step {
  readonly frame: Buffer
  readonly only?: 'error code'
}

function step(of: { key: number; version: number; body: Buffer; headerVersion?: number }, only?: 'error code'): Step {
  const { key, version, body, headerVersion = 1 } = of
  const header = { requestApiKey: key, requestApiVersion: version, correlationId: 7, clientId: 'suite' }
  return { frame: frameOf(RequestHeader.encode(header, headerVersion), body), ...(only ? { only } : {}) }
}

const versions = (version: number, name = 'suite'): Step => {
  const value = { clientSoftwareName: name, clientSoftwareVersion: '1' }
  const headerVersion = version >= 3 ? 2 : 1
  const body = ApiVersionsRequest.encode(value, Math.min(version, 4))
  return step({ key: API_VERSIONS, version, body, headerVersion }, 'error code')
}

const handshake = (version: number, mechanism = 'PLAIN'): Step =>
  step({ key: 17, version, body: SaslHandshakeRequest.encode({ mechanism }, version) })

const token = (text: string): Buffer => Buffer.from(text)
const good = token(`\0${ADMIN.user}\0${ADMIN.password}`)

const other = token(`\0${GUEST.user}\0${GUEST.password}`)
const wrong = token(`\0${ADMIN.user}\0wrong`)

const authenticate = (version: number, authBytes: Buffer): Step =>
  step({
    key: 36,
    version,
    body: SaslAuthenticateRequest.encode({ authBytes }, version),
    headerVersion: version >= 2 ? 2 : 1,
  })

const bare = (bytes: Buffer): Step => ({ frame: frameOf(bytes) })

const metadata = step({ key: 3, version: 1, body: MetadataRequest.encode({ topics: [] }, 1) }, 'error code')

const wrongTokens = [
  wrong,
  token(`\0nobody\0${ADMIN.password}`),
  token(`other\0${ADMIN.user}\0${ADMIN.password}`),
  token(`\0\0${ADMIN.password}`),
  token(`\0${ADMIN.user}\0`),
  token('no separators'),
  token('a\0b\0c\0d\0e'),
  token(''),
]

/**
 * What clients do and should not do, by name. Not here: another request in the middle of the exchange, which Kafka answers with an
 * error before it closes; a node just closes.
 */
const DIALOGUES: Readonly<Record<string, readonly Step[]>> = {
  'a login': [versions(3), handshake(1), authenticate(2, good), metadata],
  'a login of an old client': [handshake(1), authenticate(0, good), metadata],
  'a login in version 1': [versions(0), handshake(1), authenticate(1, good), metadata],
  'bare tokens': [handshake(0), bare(good), metadata],
  'a wrong bare token': [handshake(0), bare(wrong)],
  'nothing before the login': [metadata],
  'a token without a handshake': [authenticate(2, good)],
  'a mechanism that is not enabled': [versions(3), handshake(1, 'SCRAM-SHA-256')],
  'a mechanism that nobody knows': [handshake(0, 'NOTHING')],
  'versions that are too new': [versions(99), versions(0), handshake(1)],
  'versions of a client without a plain name': [versions(3, 'no plain name!'), versions(3), handshake(1)],
  'a handshake after the login': [handshake(1), authenticate(2, good), handshake(1), metadata],
  'a token after the login': [handshake(1), authenticate(2, good), authenticate(2, good), metadata],
  ...Object.fromEntries(
    wrongTokens.map((bytes, index) => [`wrong token ${index}`, [versions(3), handshake(1), authenticate(2, bytes)]]),
  ),
}

/** On a listener whose sessions end. */
const RENEWALS: Readonly<Record<string, readonly Step[]>> = {
  'a login': [versions(3), handshake(1), authenticate(2, good), metadata],
  'a login of an old client': [handshake(1), authenticate(0, good), metadata],
  'a login in version 1': [versions(0), handshake(1), authenticate(1, good), metadata],
  'a renewal': [handshake(1), authenticate(2, good), metadata, handshake(1), authenticate(2, good), metadata],
  'a renewal as another': [handshake(1), authenticate(2, good), handshake(1), authenticate(2, other)],
  'a renewal with a wrong password': [handshake(1), authenticate(2, good), handshake(1), authenticate(2, wrong)],
}

/** The answers as hex, and whether the server closed. */
async function hold(address: string, steps: readonly Step[]): Promise<string[]> {
  const client = await RawClient.connect(Number(address.split(':')[1]))
  try {
    const answers: string[] = []
    for (const { frame, only } of steps) {
      await client.write(frame)
      const answer = await Promise.race([client.next(), client.closed])
      if (!answer) return [...answers, 'closed']
      answers.push(only ? `error ${answer.subarray(4, 6).toString('hex')}` : answer.toString('hex'))
    }
    return answers
  } finally {
    await client.close()
  }
}

/** Both servers answer every dialogue with the same bytes. */
export async function rawLoginsAlike(lockstep: string, kafka: string, sessions: 'endless' | 'renewed'): Promise<void> {
  const dialogues = Object.entries(sessions === 'endless' ? DIALOGUES : RENEWALS)
  const all = (address: string) =>
    Promise.all(dialogues.map(async ([name, steps]) => [name, await hold(address, steps)]))
  const [ofLockstep, ofKafka] = await Promise.all([all(lockstep), all(kafka)])
  deepStrictEqual(Object.fromEntries(ofLockstep), Object.fromEntries(ofKafka))
}
