// Classic consumer groups: requests answered as Kafka answers them; real clients go on where they were after a kill; Kafka's tools see and read everything.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { CreateTopicsApi } from '../../src/protocol/messages/19-create-topics.ts'
import {
  confluentGroupReader,
  type GroupReader,
  kafkaJsGroupReader,
  kcatGroupReader,
  platformaticGroupReader,
} from '../clients/group-reader.ts'
import { Side } from '../conformance/side.ts'
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { groupCases, slowGroupCases } from '../parity/group-cases.ts'
import { groupOffsetCases } from '../parity/group-offset-cases.ts'
import { awaitCoordinator, GroupTalk } from '../parity/group-talk.ts'
import type { ParityCase } from '../parity/parity-case.ts'
import type { Peer } from '../parity/raw-exchange.ts'
import { skipWithout, type Tool } from '../requirements.ts'

const skip = skipWithout('java')
const TOOL = 'org.apache.kafka.tools.consumer.group.ConsumerGroupCommand'

/** Of both nodes. */
const properties = {
  'group.initial.rebalance.delay.ms': '0',
  'group.min.session.timeout.ms': '100',
  'group.max.size': '4',
  'offsets.topic.num.partitions': '4',
}

interface World {
  readonly peers: readonly [Peer, Peer]
  readonly node: LockstepNode
  readonly driver: JavaDriver
  readonly side: Side
}

const opened = new Opened()
after(() => opened.close())
let started: World | undefined

function world(): World {
  if (started === undefined) throw new Error('the nodes did not start')
  return started
}

before(async () => {
  if (skip !== false) return
  const [cluster, node, driver] = await opened.all<[KafkaCluster, LockstepNode, JavaDriver]>([
    KafkaCluster.start({ version: '4.3.1', properties }),
    LockstepNode.start({ properties }),
    JavaDriver.start({ version: '4.3.1' }),
  ])
  const peers = [peer('kafka', cluster.bootstrap), peer('lockstep', node.bootstrap)] as const
  await Promise.all(peers.map(prepare))
  const { bootstrap, dataDirectory } = node
  started = { peers, node, driver, side: new Side({ name: 'lockstep', bootstrap, dataDirectory, driver }) }
})

const peer = (name: Peer['name'], bootstrap: string): Peer => ({
  name,
  port: Number(bootstrap.split(':').at(-1)),
  topicIds: new Map(),
})

/** The topics of the cases, and the one of groups. */
async function prepare(one: Peer): Promise<void> {
  const topics = ['p', 'q'].map(name => ({
    name,
    numPartitions: 3,
    replicationFactor: 1,
    assignments: [],
    configs: [],
  }))
  const answer = await new GroupTalk(one, '').ask(CreateTopicsApi, { topics, timeoutMs: 30_000 })
  for (const { name, topicId } of answer.topics) one.topicIds.set(name, topicId)
  await awaitCoordinator(one)
}

/** One after the other, each on both nodes at the same time. */
async function compare(cases: readonly ParityCase[]): Promise<void> {
  const [kafka, lockstep] = world().peers
  for (const one of cases) {
    const [wanted, found] = await Promise.all([one.ask(kafka), one.ask(lockstep)])
    deepStrictEqual(found.split('\n'), wanted.split('\n'), one.name)
  }
}

const membership = groupCases.length + slowGroupCases.length

test(`membership: ${membership} conversations go as with Kafka 4.3.1`, { skip }, async () => {
  // Every case has a group of its own.
  await Promise.all([compare(groupCases), ...slowGroupCases.map(one => compare([one]))])
})

test(`offsets: ${groupOffsetCases.length} conversations go as with Kafka 4.3.1`, { skip }, () =>
  compare(groupOffsetCases),
)

const readers: readonly { needs: readonly Tool[]; reader: GroupReader }[] = [
  { needs: ['java', 'kcat'], reader: kcatGroupReader },
  { needs: ['java', 'python'], reader: confluentGroupReader },
  { needs: ['java'], reader: kafkaJsGroupReader },
  { needs: ['java'], reader: platformaticGroupReader },
]

test('after a kill members go on in their generation, and every client where it had committed', { skip }, async () => {
  const { node, side } = world()
  await side.createTopics({ name: 'before', partitions: 3 }, { name: 'live', partitions: 4 })
  await side.write('before', 30)
  await side.write('live', 20)
  const members = await Promise.all(
    ['a', 'b'].map(async client => {
      // Java's consumer forgets what it knows of the cluster when no broker answers, and then rebalances on its own account.
      const staysCalm = { 'metadata.recovery.strategy': 'none' }
      const consumer = await side.consumer(`live-${client}`, { 'group.id': 'live', 'client.id': client, ...staysCalm })
      await consumer.subscribe('live')
      return consumer
    }),
  )
  await Promise.all(members.map(member => member.assigned(2)))
  const clients = readers.filter(({ needs }) => skipWithout(...needs) === false).map(({ reader }) => reader)
  const read = ({ name, read }: GroupReader, count: number) =>
    read({ bootstrap: node.bootstrap, topic: 'before', group: `reads-with-${name.replaceAll(/\W/g, '-')}`, count })
  const seen = await Promise.all(clients.map(reader => read(reader, 30)))
  for (const rows of seen) strictEqual(new Set(rows).size, 30)
  for (const member of members) await member.run('commit', { offsets: {} })
  const generations = await Promise.all(members.map(async member => (await member.state()).generation))

  await node.kill()
  await node.start()

  await side.write('before', 9)
  const ends = await Promise.all(clients.map(reader => read(reader, 9)))
  clients.forEach(({ name }, index) => {
    const twice = ends[index]?.filter(row => seen[index]?.includes(row))
    deepStrictEqual([name, ends[index]?.length, twice], [name, 9, []])
  })
  await side.write('live', 20)
  for (const member of members) await member.takeUntil(1)
  deepStrictEqual(await Promise.all(members.map(async member => (await member.state()).generation)), generations)
  for (const member of members) await member.close()
})

test("Kafka's tool for groups lists, describes, resets and deletes", { skip }, async () => {
  const { side } = world()
  const run = async (...args: string[]): Promise<string> => {
    const { status, out, err } = await side.tool(TOOL, ['--bootstrap-server', '{bootstrap}', ...args])
    strictEqual(status, 0, `${args.join(' ')}: ${out}${err}`)
    return out
  }
  await side.createTopics({ name: 'tooled', partitions: 2 })
  await side.write('tooled', 10, { partition: 0 })
  const consumer = await side.consumer('tooled', { 'group.id': 'tooled', 'client.id': 'tool' })
  await consumer.subscribe('tooled')
  await consumer.takeUntil(10)
  await consumer.run('commit', { offsets: { 'tooled-0': 4 } })
  match(await run('--list', '--state'), /^tooled\s+Stable/m)
  match(await run('--describe', '--group', 'tooled'), /tooled\s+tooled\s+0\s+4\s+10\s+6\s+tool-/)
  match(await run('--describe', '--group', 'tooled', '--members', '--verbose'), /tooled\s+tool-\S+\s+\/127\.0\.0\.1/)
  match(await run('--describe', '--group', 'tooled', '--state'), /range\s+Stable\s+1/)
  await consumer.close({ leave: true })
  const reset = ['--reset-offsets', '--group', 'tooled', '--topic', 'tooled:0', '--execute']
  match(await run(...reset, '--to-offset', '7'), /tooled\s+tooled\s+0\s+7/)
  match(await run('--describe', '--group', 'tooled'), /tooled\s+tooled\s+0\s+7\s+10\s+3/)
  match(await run('--delete-offsets', '--group', 'tooled', '--topic', 'tooled'), /tooled\s+0\s+Successful/)
  match(await run('--delete', '--group', 'tooled'), /successful/)
  ok(!/^tooled\s/m.test(await run('--list')))
})

test("Kafka's dump tool decodes everything in __consumer_offsets", { skip }, async () => {
  const { node, driver } = world()
  const folders = (await readdir(node.dataDirectory)).filter(name => name.startsWith('__consumer_offsets-'))
  const files = folders.map(folder => join(node.dataDirectory, folder, '00000000000000000000.log'))
  const { output, problems } = await driver.call<{ output: string[]; problems: string }>('dump-log', {
    files,
    args: ['--offsets-decoder', '--deep-iteration'],
  })
  strictEqual(problems, '')
  const kinds = { offsets: /"type":"1"/, groups: /"type":"2"/, tombstones: /payload: null|payload: <DELETE>/ }
  for (const [kind, pattern] of Object.entries(kinds))
    ok(
      output.some(line => pattern.test(line)),
      kind,
    )
  const records = output.filter(line => line.includes(' key: '))
  deepStrictEqual(
    records.filter(line => !/ key: \{.*\} payload: (\{|<DELETE>|null)/.test(line)),
    [],
  )
})
