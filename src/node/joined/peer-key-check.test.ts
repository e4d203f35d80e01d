/** Whether another node has the same key, asked of a server that answers as one. */
import { deepStrictEqual, match } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../core/clock.ts'
import { javaBroker, joinedImage, lockstepBroker } from '../../metadata/fakes/joined-images.ts'
import { lockstepEndpoint } from '../../metadata/lockstep-nodes.ts'
import { nodeSignatures } from './node-signatures.ts'
import { PeerForwarding } from './peer-forwarding.ts'
import { checkPeerKey } from './peer-key-check.ts'

async function scene(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'lockstep-keys-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  const key = async (name: string, byte: number) => {
    const path = join(directory, name)
    await writeFile(path, `${Buffer.alloc(32, byte).toString('base64')}\n`)
    return path
  }
  const ours = await key('ours', 1)
  const theirs = await key('theirs', 2)
  const { ofRequests: signatures } = await nodeSignatures({ secretKeyFile: theirs, dataDirectory: directory })
  const image = () => joinedImage({ brokers: [] })
  const asked = new PeerForwarding({ nodeId: 1002, signatures, image, clock: systemClock })
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', part => {
      body += part
    })
    request.on('end', () => {
      const header = String(request.headers['x-lockstep-forwarded'])
      const problem = asked.problemOf(header, { method: 'POST', url: request.url ?? '', body })
      response.writeHead(problem === undefined ? 200 : 401).end('{}')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.closeAllConnections())
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const other = lockstepBroker(1002)
  const listeners = new Map([...other.listeners, ['LOCKSTEP', lockstepEndpoint(`http://127.0.0.1:${port}`)]])
  const check = (secretKeyFile: string | undefined, brokers = [javaBroker(1), { ...other, listeners }]) =>
    checkPeerKey({ nodeId: 1001, secretKeyFile, dataDirectory: directory }, joinedImage({ brokers }))
  return { check, ours, theirs, server }
}

test('the same key is fine, another one a problem', async t => {
  const { check, ours, theirs } = await scene(t)
  deepStrictEqual(await check(theirs), {})
  match((await check(ours)).problem ?? '', /node 1002 does not believe this node: .*lockstep.secret.key.file/)
  match((await check('/nonexistent/key')).problem ?? '', /lockstep.secret.key.file/)
})

test('no file beside another node, and a node that does not answer, are warnings; alone nothing is asked', async t => {
  const { check, theirs, server } = await scene(t)
  match((await check(undefined)).warning ?? '', /not set, and node 1002/)
  deepStrictEqual(await check(undefined, [javaBroker(1), lockstepBroker(1001)]), {})
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
  match((await check(theirs)).warning ?? '', /node 1002 could not be asked/)
})
