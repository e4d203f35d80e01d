/** The runbooks, word by word, from a node with TLS, logins and ACLs that stands for the source: docs/migration.md, and the failover of docs/disaster-recovery.md after the source was killed. The rehearsals do the same under load, from a real Kafka. */
import { equal, ok, strictEqual } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Partitioners } from 'kafkajs'
import { patientKafkaJs } from '../clients/kafkajs.ts'
import { type Block, blocksOf } from '../documents/command-blocks.ts'
import { DocumentShell } from '../documents/document-shell.ts'
import { eventually } from '../eventually.ts'
import { freePorts } from '../free-port.ts'
import { JavaDriver } from '../java/driver.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { write } from '../page/page-world.ts'
import { LINK, securedProperties } from '../rehearsal/rehearsal-world.ts'
import { skipWithout } from '../requirements.ts'
import { Credentials } from '../security/credentials.ts'

const skip = skipWithout('java')
const TOPICS = ['orders', 'payments']
const RECORDS = 500
const opened = new Opened()
let folder: string
let credentials: Credentials
let driver: JavaDriver
let source: LockstepNode
let node: LockstepNode
/** Where clients of the source have to log in. */
let secure: string

before(async () => {
  if (skip !== false) return
  folder = await mkdtemp(join(tmpdir(), 'lockstep-runbooks-'))
  credentials = await opened.add(Credentials.make())
  await credentials.write('users', 'admin: admin-s3cret\n')
  await credentials.write('link.secret', 'password=link-s3cret\n')
  const [port = 0, ours = 0] = await freePorts(2)
  secure = `127.0.0.1:${port}`
  const properties = securedProperties(credentials)
  const users = { 'rest.users': credentials.file('users') }
  ;[driver, source, node] = await opened.all<[JavaDriver, LockstepNode, LockstepNode]>([
    JavaDriver.start({ version: '4.3.1', heapMb: 256 }),
    LockstepNode.start({ properties, listeners: { SECURE: port } }),
    LockstepNode.start({ properties: { ...properties, ...users }, listeners: { SECURE: ours } }),
  ])
  const producer = patientKafkaJs(source.bootstrap).producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  for (const topic of TOPICS) {
    await source.rest.call('POST', '/topics', { topic_name: topic, partitions_count: 2 })
    await write(producer, topic, RECORDS)
  }
  await producer.disconnect()
})
after(async () => {
  await opened.close()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

/** What the documents write in capitals, and other places of theirs. */
function written(text: string, node: LockstepNode): string {
  const names: Readonly<Record<string, string>> = {
    'SOURCE:9092': source.bootstrap,
    'SOURCE:9093': secure,
    CLUSTER_ID: source.clusterId,
    SECRET: 'link-s3cret',
    PASSWORD: 'admin-s3cret',
    'http://127.0.0.1:8090': node.rest.origin,
    '/etc/lockstep/link.secret': credentials.file('link.secret'),
    '/etc/lockstep/source-ca.pem': credentials.file('ca.pem'),
  }
  return Object.entries(names).reduce(
    (told, [name, here]) => told.replaceAll(new RegExp(`(?<!\\w)${name}(?!\\w)`, 'g'), here),
    text,
  )
}

const KAFKA_TOOLS: Readonly<Record<string, string>> = {
  'kafka-configs': 'kafka.admin.ConfigCommand',
  'kafka-acls': 'org.apache.kafka.tools.AclCommand',
}

const wordsOf = (line: string): string[] =>
  (line.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map(word => word.replaceAll("'", ''))

/** Kafka's tools are run where their classes are; everything else by a shell. */
async function run(block: Block, { shell, node }: { shell: DocumentShell; node: LockstepNode }): Promise<void> {
  const text = written(block.text, node)
  const [first = ''] = wordsOf(text)
  if (!(first in KAFKA_TOOLS)) {
    const { failed, output } = await shell.run({ ...block, text })
    equal(failed, '', `${block.file}:${block.line}: ${failed}\n${output}`)
    return
  }
  for (const line of text.trim().split('\n')) {
    const [name = '', ...args] = wordsOf(line)
    const asked = { tool: KAFKA_TOOLS[name], args }
    const answer = await driver.call<{ status: number; out: string; err: string }>('run-tool', asked)
    strictEqual(answer.status, 0, `${line}\n${answer.out}${answer.err}`)
  }
}

async function shellFor(node: LockstepNode): Promise<DocumentShell> {
  const [properties] = blocksOf('docs/migration.md').filter(({ language }) => language === 'properties')
  ok(properties)
  await writeFile(join(folder, 'link.properties'), `${written(properties.text, node)}\n`)
  return DocumentShell.open(folder, {})
}

const runbook = (file: string): Block[] => blocksOf(file).filter(({ flags }) => flags.includes('runbook'))

interface Mirror {
  readonly mirror_status: string
  readonly mirror_lags: readonly { readonly last_source_fetch_offset: number }[]
}

const withLogin = { headers: { authorization: `Basic ${Buffer.from('admin:admin-s3cret').toString('base64')}` } }

/** All topics in that state, with everything that was written. */
async function mirrorsAre(at: LockstepNode, status: string): Promise<void> {
  const links = `${at.rest.origin}/kafka/v3/clusters/${at.clusterId}/links`
  await eventually(async () => {
    for (const topic of TOPICS) {
      const answer = await fetch(`${links}/${LINK}/mirrors/${topic}`, withLogin)
      const mirror = (await answer.json()) as Mirror
      strictEqual(mirror.mirror_status, status)
      strictEqual(
        mirror.mirror_lags.reduce((sum, { last_source_fetch_offset: end }) => sum + end, 0),
        RECORDS,
        JSON.stringify(mirror),
      )
    }
  })
}

test('docs/migration.md moves everything, command by command', { skip }, async () => {
  const [rights, link, move, ...more] = runbook('docs/migration.md')
  ok(rights && link && move)
  strictEqual(more.length, 0)
  const shell = await shellFor(node)
  try {
    await run(rights, { shell, node })
    await run(link, { shell, node })
    await mirrorsAre(node, 'ACTIVE')
    await run(move, { shell, node })
    await mirrorsAre(node, 'STOPPED')
  } finally {
    await shell.close()
  }
})

test('docs/disaster-recovery.md goes on without the source, command by command', { skip }, async () => {
  const users = { ...securedProperties(credentials), 'rest.users': credentials.file('users') }
  const [port = 0] = await freePorts(1)
  const other = await LockstepNode.start({ properties: users, listeners: { SECURE: port } })
  const shell = await shellFor(other)
  try {
    const [, link] = runbook('docs/migration.md')
    const [failover] = runbook('docs/disaster-recovery.md')
    ok(link && failover)
    await run(link, { shell, node: other })
    await mirrorsAre(other, 'ACTIVE')
    await source.kill()
    await run(failover, { shell, node: other })
    await mirrorsAre(other, 'STOPPED')
  } finally {
    await shell.close()
    await other.close()
  }
})
