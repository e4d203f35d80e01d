/** Security properties of links: references, sealed secrets, and which failure is shown for what is missing. */
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { type SecretBox, SecretBoxError, SourceError, type SourceFailure } from '../../link/ports.ts'
import { makeAuthority } from '../../network/tls/fakes/test-certificates.ts'
import { withoutReferences } from './secret-references.ts'
import { SourceSecurity } from './source-security.ts'

const secrets: SecretBox = {
  seal: () => '',
  keyId: 'k',
  knows: () => true,
  open(_property, sealed) {
    if (!sealed.startsWith('sealed:1:key:')) throw new SecretBoxError('another key')
    return Buffer.from(sealed.slice('sealed:1:key:'.length), 'base64url').toString()
  },
}
const seal = (text: string) => `sealed:1:key:${Buffer.from(text).toString('base64url')}`
const security = (texts: Record<string, string>) => new SourceSecurity(texts, { secrets, clock: new ManualClock() })

const jaas = (options: string) => `org.apache.kafka.common.security.scram.ScramLoginModule required ${options};`
/** A reference as it stands in a property. */
const ref = (text: string) => `\${${text}}`
const failure = (kind: SourceFailure, message: RegExp) => (error: unknown) => {
  match(String(error), message)
  equal(/hunter2/.test(String(error)), false)
  return error instanceof SourceError && error.failure === kind
}

async function fileWith(t: TestContext, content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-references-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'file'), content)
  return join(folder, 'file')
}

const plain = async (texts: Record<string, string>) => {
  const { login } = await security({
    'security.protocol': 'SASL_PLAINTEXT',
    'sasl.mechanism': 'PLAIN',
    ...texts,
  }).forConnection()
  return String(await login?.begin().next(undefined))
}

test('references are replaced wherever they stand', async t => {
  const file = await fileWith(t, 'user = alice\npass.word=s3cret\\u0021\n')
  const whole = await fileWith(t, 'all of it\n')
  const text = `a \${file:${file}:user} b \${env:SECRET} c \${file:${file}:pass.word} \${file:${whole}} \${other:x}`
  equal(
    await withoutReferences(text, { SECRET: ref('env:SECRET') }),
    `a alice b ${ref('env:SECRET')} c s3cret! all of it ${ref('other:x')}`,
  )
  await rejects(withoutReferences(`\${file:${file}:none}`, {}), /has no none/)
  await rejects(withoutReferences(ref('file:/does/not/exist:x'), {}), /ENOENT/)
  await rejects(withoutReferences(ref('env:NONE'), {}), /the environment has no NONE/)
})

test('a secret is opened and its references are looked up at every connect', async t => {
  const file = await fileWith(t, 'password=one\n')
  const texts = { 'sasl.jaas.config': seal(jaas(`username="u" password="\${file:${file}:password}"`)) }
  equal(await plain(texts), '\0u\0one')
  await writeFile(file, 'password=two\n')
  equal(await plain(texts), '\0u\0two')
})

test('what a login lacks is a login failure, without secrets', async () => {
  await rejects(plain({}), failure('login', /username and password/))
  await rejects(plain({ 'sasl.jaas.config': jaas('username="hunter2"') }), failure('login', /username and password/))
  await rejects(plain({ 'sasl.jaas.config': seal('hunter2') }), failure('login', /sasl.jaas.config/))
  await rejects(plain({ 'sasl.jaas.config': 'sealed:1:other:aGk' }), failure('secret', /another key/))
  await rejects(plain({ 'sasl.jaas.config': ref('env:LOCKSTEP_NO_SUCH_NAME') }), failure('login', /has no LOCKSTEP/))
  const oauth = { 'sasl.mechanism': 'OAUTHBEARER', 'sasl.jaas.config': seal(jaas('clientId="a"')) }
  await rejects(plain(oauth), failure('login', /token.endpoint.url/))
  await rejects(plain({ ...oauth, 'sasl.oauthbearer.token.endpoint.url': 'file:///none' }), /no token from \/none/)
})

test('TLS takes certificates from properties, and what it lacks is a TLS failure', async () => {
  const { authority, host } = makeAuthority()
  const texts = {
    'security.protocol': 'SSL',
    'ssl.truststore.certificates': seal(authority.certificate),
    'ssl.keystore.certificate.chain': host.certificate,
    'ssl.keystore.key': seal(host.key),
    'ssl.enabled.protocols': 'TLSv1.2,TLSv1.3',
    'ssl.protocol': 'TLSv1.2',
  }
  const { tls, login } = await security(texts).forConnection()
  equal(login, undefined)
  equal(tls?.checksHost, false)
  deepEqual(
    [tls?.options.minVersion, tls?.options.maxVersion, tls?.options.ca],
    ['TLSv1.2', 'TLSv1.2', [authority.certificate]],
  )
  const checked = { ...texts, 'ssl.endpoint.identification.algorithm': 'HTTPS' }
  equal((await security(checked).forConnection()).tls?.checksHost, true)
  await rejects(security({ ...texts, 'ssl.keystore.key': 'hunter2' }).forConnection(), failure('tls', /private key/))
  await rejects(
    security({ 'security.protocol': 'SASL_SSL', 'ssl.truststore.location': '/none' }).forConnection(),
    failure('tls', /ssl.truststore.location: ENOENT/),
  )
})

test('nothing is asked of a plain connection', async () => {
  deepEqual(await security({}).forConnection(), { tls: undefined, login: undefined })
})
