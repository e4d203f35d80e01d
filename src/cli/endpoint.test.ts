/** Tests of where the command line finds a node and what it shows there: https with certificates, logins, hashes of passwords. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { TLSSocket } from 'node:tls'
import { passwordMatches } from '../core/password-hash.ts'
import { makeAuthority } from '../network/tls/fakes/test-certificates.ts'
import { fakeTerminal } from './fakes/fake-terminal.ts'
import { Program } from './program.ts'

async function run(args: readonly string[], env: NodeJS.ProcessEnv, typed = '') {
  const terminal = { ...fakeTerminal({ answer: typed }), interactive: false }
  const code = await new Program({ terminal, env: { HOME: '/nonexistent', ...env } }, '1.2.3').run(args)
  return { code, ...terminal.written }
}

/** Answers with no cluster; remembers who asked. */
async function httpsNode(t: TestContext) {
  const { authority, host, issue } = makeAuthority()
  const seen: string[] = []
  const options = { key: host.key, cert: host.certificate, ca: authority.certificate, requestCert: true }
  const server = createServer({ ...options, rejectUnauthorized: false }, (request, response) => {
    const { subject } =
      request.socket instanceof TLSSocket ? request.socket.getPeerCertificate() : { subject: undefined }
    seen.push(`${subject?.CN ?? 'nobody'} ${request.headers.authorization ?? 'without login'}`)
    response.end('{}')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-cli-'))
  t.after(() => rm(folder, { recursive: true }))
  const client = issue({ name: [['CN', 'alice']] })
  const pem = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }
  return {
    seen,
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: await pem('ca', authority.certificate),
    cert: await pem('cert', client.certificate),
    key: await pem('key', client.key),
  }
}

test('https is trusted by the given authority only, and a client certificate and a login are shown', async t => {
  const { seen, url, ca, cert, key } = await httpsNode(t)
  const env = { LOCKSTEP_URL: url, LOCKSTEP_USER: 'u', LOCKSTEP_PASSWORD: 'p' }
  const distrusted = await run(['link', 'list'], env)
  strictEqual(distrusted.code, 4)
  match(distrusted.err, /cannot reach a Lockstep node at .*(self.signed|unable to verify)/)
  const withCa = ['--certificate-authority-path', ca]
  match((await run([...withCa, 'link', 'list'], env)).err, /does not answer like a Lockstep node/)
  await run(
    [...withCa, '--client-cert-path', cert, '--client-key-path', key, '--no-authentication', 'link', 'list'],
    env,
  )
  await run(['link', 'list'], {
    LOCKSTEP_URL: url,
    LOCKSTEP_CA: ca,
    LOCKSTEP_CLIENT_CERT: cert,
    LOCKSTEP_CLIENT_KEY: key,
  })
  const login = `Basic ${Buffer.from('u:p').toString('base64')}`
  deepStrictEqual(seen, [`nobody ${login}`, 'alice without login', 'alice without login'])
})

test('a file that cannot be read is a mistake of usage', async () => {
  const { code, err } = await run(['--certificate-authority-path', '/no/such/file', 'link', 'list'], {})
  strictEqual(code, 2)
  match(err, /cannot read \/no\/such\/file/)
})

test('user hash prints a line for the users file', async () => {
  const { code, out } = await run(['user', 'hash', 'alice'], {}, 'secret')
  strictEqual(code, 0)
  const [, name, hash = ''] = /^(\w+): (.+)\n$/.exec(out) ?? []
  strictEqual(name, 'alice')
  ok(await passwordMatches(hash, 'secret'))
  strictEqual((await run(['user', 'hash', 'a:b'], {}, 'secret')).code, 2)
  strictEqual((await run(['user', 'hash', 'a'], {})).code, 2)
})
