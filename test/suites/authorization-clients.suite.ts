// Kafka's own ACL tool and Java clients of different users against Kafka 4.3.1 and Lockstep, and the users of REST: the same outcomes.
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import { JavaDriver, JavaError } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { setGroups } from '../parity/authorization/group-access-cases.ts'
import { SecuredPeer } from '../parity/authorization/logged-in.ts'
import { securedProperties, setScene, type User } from '../parity/authorization/scene.ts'
import { writeProperties } from '../properties-file.ts'
import { skipWithout } from '../requirements.ts'
import { lockstep } from '../scenarios/command-line.ts'

const skip = skipWithout('java')
const opened = new Opened()
const patient = { timeoutMs: 120_000 }
let java: JavaDriver
let cluster: KafkaCluster
let node: LockstepNode
let folder: string

const loginOf = (user: User) => ({
  'security.protocol': 'SASL_PLAINTEXT',
  'sasl.mechanism': 'PLAIN',
  'sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required username="${user}" password="${user}";`,
})

before(async () => {
  if (skip !== false) return
  folder = await mkdtemp(join(tmpdir(), 'lockstep-access-'))
  const properties = securedProperties()
  ;[java, cluster, node] = await opened.all<[JavaDriver, KafkaCluster, LockstepNode]>([
    JavaDriver.start({ version: '4.3.1' }),
    KafkaCluster.start({ version: '4.3.1', properties }),
    LockstepNode.start({ properties }),
  ])
  const peers = [new SecuredPeer('kafka', cluster.bootstrap), new SecuredPeer('lockstep', node.bootstrap)]
  try {
    await Promise.all(peers.map(setScene))
    await Promise.all(peers.map(setGroups))
  } finally {
    for (const peer of peers) peer.close()
  }
})
after(async () => {
  if (skip !== false) return
  await opened.close()
  await rm(folder, { recursive: true, force: true })
})

/** Runs the same on both and compares what comes out. */
async function onBoth(run: (bootstrap: string, name: string) => Promise<unknown>): Promise<void> {
  const [ofKafka, ofLockstep] = await Promise.all([run(cluster.bootstrap, 'kafka'), run(node.bootstrap, 'lockstep')])
  deepStrictEqual(ofLockstep, ofKafka)
}

interface ToolOutcome {
  readonly status: number
  readonly out: string
  readonly err: string
}

/** Kafka's kafka-acls; ACLs come in no order. */
async function aclTool(bootstrap: string, user: User, ...args: string[]): Promise<string[]> {
  const config = join(folder, `${user}.properties`)
  await writeProperties(config, loginOf(user))
  const { status, out, err } = await java.call<ToolOutcome>('run-tool', {
    tool: 'org.apache.kafka.tools.AclCommand',
    args: ['--bootstrap-server', bootstrap, '--command-config', config, ...args],
  })
  // The tool prints stack traces to either stream.
  const failure = /\.errors\.(\w+Exception)\b/.exec(out + err)?.[1]
  return [`status ${status}`, ...(failure ? [failure] : out.split('\n').flatMap(line => line.trim() || []))].sort()
}

const additions: readonly (readonly string[])[] = [
  ['--add', '--allow-principal', 'User:zed', '--operation', 'Read', '--operation', 'Describe', '--topic', 'zeds'],
  ['--add', '--allow-principal', 'User:zed', '--producer', '--topic', 'zeds', '--transactional-id', 'zeds-id'],
  [
    '--add',
    '--allow-principal',
    'User:zed',
    '--consumer',
    '--topic',
    'zed-',
    '--group',
    'zed-',
    '--resource-pattern-type',
    'prefixed',
  ],
  ['--add', '--deny-principal', 'User:zed', '--deny-host', '10.1.1.1', '--operation', 'All', '--cluster'],
]

const removals: readonly (readonly string[])[] = [
  ['--remove', '--force', '--allow-principal', 'User:zed', '--operation', 'Describe', '--topic', 'zeds'],
  ['--remove', '--force', '--group', 'zed-', '--resource-pattern-type', 'prefixed'],
]

const lists: readonly (readonly string[])[] = [
  ['--list', '--principal', 'User:zed'],
  ['--list', '--topic', 'zeds'],
  ['--list', '--topic', 'zed-one', '--resource-pattern-type', 'match'],
]

test('kafka-acls adds, lists and removes as at a real cluster, and is refused as there', { skip }, async () => {
  for (const part of [additions, removals]) {
    // What the tool prints after a change is what its node has heard of by then.
    for (const change of part)
      await onBoth(async bootstrap =>
        (await aclTool(bootstrap, 'admin', ...change)).filter(line => /^status/.test(line)),
      )
    for (const list of lists) await eventually(() => onBoth(bootstrap => aclTool(bootstrap, 'admin', ...list)), patient)
  }
  await onBoth(bootstrap => aclTool(bootstrap, 'bob', '--list'))
  await onBoth(bootstrap => aclTool(bootstrap, 'carol', ...(additions[0] ?? [])))
})

/**
 * What was answered, or the class of the exception. A producer that was refused in the background throws a KafkaException with
 * that as its cause if it is asked later, and the exception itself if it was asked before: chance.
 */
async function outcome(call: Promise<unknown>): Promise<unknown> {
  try {
    const answer = await call
    if (Array.isArray(answer) && answer[0]?.error) return answer.map(({ error, cause }) => rootOf(error, cause))
    return JSON.stringify(answer).replace(/\d+/g, 'n')
  } catch (error) {
    if (!(error instanceof JavaError)) throw error
    return rootOf(error.javaClass, /^Caused by: (?:[\w$]+\.)*([\w$]+)/m.exec(error.message)?.[1])
  }
}

const rootOf = (error: string, cause: string | undefined): string => (error === 'KafkaException' && cause) || error

async function produced(bootstrap: string, [user, topic]: readonly [User, string], more: Record<string, string> = {}) {
  const id = `${bootstrap} ${user} ${topic} ${Object.values(more)}`
  const run = (op: string, args: object = {}) => java.call('producer', { id, op, ...args })
  await run('open', { bootstrap, properties: { ...loginOf(user), ...more } })
  try {
    const begun = more['transactional.id'] === undefined ? 'not asked' : await outcome(run('init'))
    if (begun !== 'not asked' && begun !== '"ok"') return [begun]
    if (begun === '"ok"') await run('begin')
    return [begun, await outcome(run('send', { topic, partition: 0, records: [{ value: 'v' }] }))]
  } finally {
    await run('close')
  }
}

test('Java producers are let in and kept out as by a real cluster', { skip }, async () => {
  const plain = { 'enable.idempotence': 'false' }
  await onBoth(bootstrap =>
    Promise.all([
      produced(bootstrap, ['alice', 'write']),
      produced(bootstrap, ['alice', 'hidden']),
      produced(bootstrap, ['alice', 'absent'], plain),
      produced(bootstrap, ['alice', 'read'], plain),
      produced(bootstrap, ['bob', 'everybody']),
      produced(bootstrap, ['bob', 'hidden'], plain),
      produced(bootstrap, ['erin', 'team.one']),
      produced(bootstrap, ['alice', 'write'], { 'transactional.id': 'write' }),
      produced(bootstrap, ['alice', 'write'], { 'transactional.id': 'hidden' }),
      produced(bootstrap, ['alice', 'write'], { 'transactional.id': 'describe' }),
    ]),
  )
})

interface ConsumerState {
  readonly records: number
  readonly failure?: object
}

/** Reads a record, or fails; which of them. */
async function consumed(bootstrap: string, user: User, of: { topic: string; group?: string }) {
  const id = `${bootstrap} ${user} ${of.topic} ${of.group}`
  const run = <T>(op: string, args: object = {}) => java.call<T>('consumer', { id, op, ...args })
  const group = of.group === undefined ? {} : { 'group.id': of.group }
  await run('open', { bootstrap, properties: { ...loginOf(user), ...group } })
  try {
    await run(of.group === undefined ? 'assign' : 'subscribe', { partitions: [`${of.topic}-0`], topics: [of.topic] })
    let state: ConsumerState | undefined
    await eventually(async () => {
      state = await run<ConsumerState>('state')
      if (state.records === 0 && !state.failure) throw new Error('nothing happens')
    }, patient)
    return state?.failure ?? 'reads'
  } finally {
    await run('close', { seconds: 5 })
  }
}

test('Java consumers are let in and kept out as by a real cluster', { skip }, async () => {
  await onBoth(async (bootstrap, name) => {
    for (const topic of ['read', 'everybody', 'hidden', 'denied'])
      deepStrictEqual(await produced(bootstrap, ['admin', topic]), ['not asked', '[[n,n]]'], name)
    return await Promise.all([
      consumed(bootstrap, 'alice', { topic: 'read' }),
      consumed(bootstrap, 'alice', { topic: 'hidden' }),
      consumed(bootstrap, 'alice', { topic: 'denied' }),
      consumed(bootstrap, 'bob', { topic: 'everybody' }),
      consumed(bootstrap, 'alice', { topic: 'read', group: 'read' }),
      consumed(bootstrap, 'alice', { topic: 'read', group: 'team.readers' }),
      consumed(bootstrap, 'alice', { topic: 'hidden', group: 'team.others' }),
      consumed(bootstrap, 'alice', { topic: 'read', group: 'hidden' }),
      consumed(bootstrap, 'alice', { topic: 'read', group: 'describe' }),
      consumed(bootstrap, 'bob', { topic: 'everybody', group: 'hidden' }),
    ])
  })
})

test('REST asks who comes, and the command line says so', { skip }, async () => {
  const file = join(folder, 'users')
  await writeFile(file, 'admin: admin-secret\ncarol: carol-secret\n')
  const guarded = await opened.add(
    LockstepNode.start({
      properties: {
        'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
        'super.users': 'User:admin;User:ANONYMOUS',
        'rest.users': file,
      },
    }),
  )
  const as = (user: string, password: string, ...args: string[]) =>
    lockstep(guarded, args, { LOCKSTEP_USER: user, LOCKSTEP_PASSWORD: password })
  const nobody = await lockstep(guarded, ['topic', 'list'])
  match(nobody.stderr, /this needs a login/)
  const wrong = await as('admin', 'guess', 'topic', 'list')
  match(wrong.stderr, /wrong user or password/)
  strictEqual((await as('admin', 'admin-secret', 'topic', 'create', 'orders')).status, 0)
  const denied = await as('carol', 'carol-secret', 'topic', 'create', 'payments')
  match(denied.stderr, /User:carol lacks CREATE on topic "payments"/)
  deepStrictEqual(
    ['admin-secret', 'carol-secret', 'guess'].filter(secret => guarded.output.includes(secret)),
    [],
  )
})
