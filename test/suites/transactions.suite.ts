// Transactional clients against a Lockstep node: who sees what, kills of the node at every step, fencing, time-outs, Kafka's tools on our log.
import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { transactionStates } from '../../src/coordinator/transactions/transaction-state.ts'
import { UpdateFeaturesApi } from '../../src/protocol/messages/57-update-features.ts'
import { confluentReader, confluentTransactions } from '../clients/confluent.ts'
import { kafkaJsTransactions } from '../clients/kafkajs.ts'
import { kcatReader } from '../clients/kcat.ts'
import { eventually } from '../eventually.ts'
import { JavaDriver, JavaError } from '../java/driver.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { ask } from '../parity/raw-exchange.ts'
import { skipWithout } from '../requirements.ts'
import { TopicSide } from '../scenarios/topic-side.ts'
import { TransactionalProducer } from '../scenarios/transactional-producer.ts'

const skip = skipWithout('java') || skipWithout('kcat') || skipWithout('python')
const opened = new Opened()
after(() => opened.close())

const properties = {
  'transaction.state.log.num.partitions': '4',
  'offsets.topic.num.partitions': '4',
  'transaction.abort.timed.out.transaction.cleanup.interval.ms': '500',
}

interface World {
  readonly node: LockstepNode
  readonly driver: JavaDriver
  readonly side: TopicSide
}
let world: World | undefined

before(async () => {
  if (skip !== false) return
  const [node, driver] = await opened.all<[LockstepNode, JavaDriver]>([
    LockstepNode.start({ properties }),
    JavaDriver.start({ version: '4.3.1' }),
  ])
  const { bootstrap, dataDirectory } = node
  world = { node, driver, side: new TopicSide(driver, { bootstrap, dataDirectory }) }
})

function present(): World {
  ok(world, 'the node did not start')
  return world
}

/** Values by partition, as read_committed readers see them. */
async function committed(topic: string): Promise<string[][]> {
  const read = await present().side.consume(topic, { content: true, isolation: 'read_committed' })
  return Object.keys(read)
    .sort()
    .map(partition => read[partition]?.records.map(row => String(row[7])) ?? [])
}

const open = (transactionalId: string, options: { name?: string; properties?: Record<string, string> } = {}) => {
  const { driver, node } = present()
  return TransactionalProducer.open(driver, { bootstrap: node.bootstrap, transactionalId, ...options })
}

/** The level of `transaction.version`: 2 as a node begins, 1 as after a downgrade. */
async function setTransactionVersion(level: number): Promise<void> {
  const port = Number(present().node.bootstrap.split(':').at(-1))
  const featureUpdates = [{ feature: 'transaction.version', maxVersionLevel: level, upgradeType: level < 2 ? 2 : 1 }]
  const peer = { name: 'lockstep', port, topicIds: new Map() } as const
  const answer = await ask(peer, { api: UpdateFeaturesApi, request: { timeoutMs: 60_000, featureUpdates }, version: 1 })
  if (typeof answer === 'string') throw new Error(`UpdateFeatures: ${answer}`)
  deepStrictEqual([answer.errorCode, ...answer.results.map(({ errorCode }) => errorCode)], [0, 0])
}

const rounds = (client: string) => [
  { values: [`${client} 1`, `${client} 2`], commit: true },
  { values: [`${client} aborted`], commit: false },
  { values: [`${client} 3`], commit: true },
]

for (const level of [2, 1])
  test(`what every client commits is what every reader sees, transaction version ${level}`, { skip }, async () => {
    const { side, node } = present()
    const { bootstrap } = node
    const topic = `seen-${level}`
    await setTransactionVersion(level)
    await side.createTopic(topic)
    const java = await open(`java-${level}`)
    for (const { values, commit } of rounds('java')) {
      await java.begin()
      await java.send(topic, 0, values)
      await (commit ? java.commit() : java.abort())
    }
    for (const { name, write } of [kafkaJsTransactions, confluentTransactions])
      await write({ bootstrap, topic, transactionalId: `${name}-${level}`, transactions: rounds(name) })
    await java.begin()
    await java.send(topic, 0, ['open'])
    const expected = ['java', 'KafkaJS', 'confluent-kafka'].flatMap(name => [1, 2, 3].map(n => `${name} ${n}`))
    await eventually(async () => deepStrictEqual(await committed(topic), [expected]))
    for (const reader of [kcatReader, confluentReader]) {
      const read = await reader.read({ bootstrap }, topic, 'read_committed')
      deepStrictEqual([reader.name, ...read.map(({ value }) => value)], [reader.name, ...expected])
    }
    await java.abort()
    await java.close()
    await setTransactionVersion(2)
  })

async function committedOffset(group: string, topic: string): Promise<number | undefined> {
  const { driver, node } = present()
  const args = { bootstrap: node.bootstrap, op: 'offsets', group }
  const offsets = await driver.call<Record<string, number | number[]>>('admin-groups', args)
  const found = offsets[`${topic}-0`]
  return Array.isArray(found) ? found[0] : found
}

test('a node that is killed in every step of transactions keeps them whole', { skip }, async () => {
  const { side, node } = present()
  await side.createTopic('killed', { partitions: 2 })
  const producer = await open('killed')
  const kept: string[] = []
  let offset = 0
  const steps = ['send', 'offsets', 'commit', 'abort', 'commit', 'none'] as const
  for (const [round, killed] of steps.entries()) {
    const value = `round ${round}`
    const during = <T>(step: string, work: Promise<T>): Promise<T> =>
      step === killed ? Promise.all([work, node.crash()]).then(([result]) => result) : work
    await producer.begin()
    await during('send', producer.send('killed', 0, [value]))
    await producer.send('killed', 1, [value])
    await during('offsets', producer.offsets('group', { 'killed-0': round + 1 }))
    if (killed === 'abort') await during('abort', producer.abort())
    else {
      await during('commit', producer.commit())
      kept.push(value)
      offset = round + 1
    }
  }
  await eventually(async () => deepStrictEqual(await committed('killed'), [kept, kept]))
  await eventually(async () => strictEqual(await committedOffset('group', 'killed'), offset))
  await producer.close()
})

test('the next producer of an id fences the one before, and its open transaction is aborted', { skip }, async () => {
  const { side } = present()
  await side.createTopic('fenced')
  const first = await open('fenced', { name: 'first' })
  await first.begin()
  await first.send('fenced', 0, ['first'])
  const second = await open('fenced', { name: 'second' })
  await rejects(first.commit(), (error: unknown) => error instanceof JavaError && /Fenced/.test(error.javaClass))
  await second.begin()
  await second.send('fenced', 0, ['second'])
  await second.commit()
  await eventually(async () => deepStrictEqual(await committed('fenced'), [['second']]))
  await first.close()
  await second.close()
})

test('a transaction that is open for too long is aborted', { skip }, async () => {
  const { side, driver, node } = present()
  await side.createTopic('slow')
  const producer = await open('slow', { properties: { 'transaction.timeout.ms': '5000' } })
  await producer.begin()
  await producer.send('slow', 0, ['too slow'])
  const list = () => driver.call('admin-transactions', { bootstrap: node.bootstrap, op: 'list', pattern: 'slow' })
  await eventually(async () => deepStrictEqual(await list(), [['slow', 'CompleteAbort']]))
  await rejects(producer.commit(), JavaError)
  deepStrictEqual(await committed('slow'), [[]])
  const next = await open('slow', { name: 'next' })
  await next.begin()
  await next.send('slow', 0, ['in time'])
  await next.commit()
  await eventually(async () => deepStrictEqual(await committed('slow'), [['in time']]))
  await producer.close()
  await next.close()
})

/** Runs `kafka-transactions` and answers what it printed. */
async function tool(...args: string[]): Promise<string> {
  const { driver, node } = present()
  const command = { tool: 'org.apache.kafka.tools.TransactionsCommand' }
  const all = ['--bootstrap-server', node.bootstrap, ...args]
  const answer = await driver.call<{ status: number; out: string; err: string }>('run-tool', { ...command, args: all })
  strictEqual(answer.status, 0, answer.err)
  return answer.out
}

test("Kafka's tool lists, describes, finds and ends transactions", { skip }, async () => {
  const { side } = present()
  await side.createTopic('tooled')
  const producer = await open('tooled')
  await producer.begin()
  await producer.send('tooled', 0, ['open'])
  match(await tool('list'), /tooled\s+\d+\s+\d+\s+Ongoing/)
  match(await tool('describe', '--transactional-id', 'tooled'), /Ongoing\s+\S+\s+\S+\s+\S+\s+tooled-0/)
  match(await tool('describe-producers', '--topic', 'tooled', '--partition', '0'), /CurrentTransactionStartOffset/)
  match(await tool('find-hanging', '--broker-id', '1', '--max-transaction-timeout', '15'), /Topic\s+Partition/)
  await tool('forceTerminateTransaction', '--transactionalId', 'tooled')
  await eventually(async () => match(await tool('list'), /tooled\s+\d+\s+\d+\s+(CompleteAbort|Empty)/))
  await rejects(producer.commit(), JavaError)
  const hanging = await open('hanging')
  await hanging.begin()
  await hanging.send('tooled', 0, ['hangs'])
  await tool('abort', '--topic', 'tooled', '--partition', '0', '--start-offset', '2')
  deepStrictEqual(await committed('tooled'), [[]])
  await producer.close()
  await hanging.close()
})

test("Kafka's decoder reads the transaction log, and finds nothing wrong with it", { skip }, async () => {
  const { node, driver } = present()
  await node.stop()
  const files: string[] = []
  for (const partition of [0, 1, 2, 3]) {
    const folder = join(node.dataDirectory, `__transaction_state-${partition}`)
    ok(existsSync(folder))
    files.push(...(await readdir(folder)).filter(name => name.endsWith('.log')).map(name => join(folder, name)))
  }
  const args = ['--transaction-log-decoder', '--print-data-log']
  const { output, problems } = await driver.call<{ output: string[]; problems: string }>('dump-log', { files, args })
  strictEqual(problems, '')
  const states = new Map<string, number[]>()
  for (const line of output) {
    const found = /"transactionalId":"([^"]+)".*"transactionStatus":(\d)/.exec(line)
    if (found) states.set(String(found[1]), [...(states.get(String(found[1])) ?? []), Number(found[2])])
  }
  const { Empty, Ongoing, PrepareCommit, CompleteCommit, CompleteAbort } = transactionStates
  for (const id of ['killed', 'fenced', 'slow', 'java-1', 'KafkaJS-2', 'confluent-kafka-2'])
    for (const { id: state } of [Empty, Ongoing, PrepareCommit, CompleteCommit])
      ok(states.get(id)?.includes(state), `${id}: ${states.get(id)}`)
  for (const [id, recorded] of states)
    if (id !== 'hanging') ok([Empty.id, CompleteCommit.id, CompleteAbort.id].includes(recorded.at(-1) ?? -1), id)
  await node.start()
})
