// A full disk, a wrong clock, a bug that nobody catches, signals, and more connections than are allowed: nothing acknowledged is lost, the others are served.
import { match, ok, strictEqual } from 'node:assert/strict'
import { after, test } from 'node:test'
import { RawClient } from '../../src/network/fakes/raw-client.ts'
import { ErrorCode, errorName } from '../../src/protocol/errors.ts'
import { MetadataApi } from '../../src/protocol/messages/03-metadata.ts'
import { CreateTopicsApi } from '../../src/protocol/messages/19-create-topics.ts'
import { IncrementalAlterConfigsApi } from '../../src/protocol/messages/44-incremental-alter-configs.ts'
import { eventually } from '../eventually.ts'
import { closeAll, introduce, openMany } from '../hostile/attacks.ts'
import { FaultyNode } from '../hostile/faults.ts'
import {
  createRawTopic,
  fetchFrame,
  producedError,
  produceFrame,
  produceMany,
  readRange,
} from '../hostile/raw-topic.ts'
import { Opened } from '../opened.ts'
import { answerOf, requestFrame } from '../raw-request.ts'

const opened = new Opened()
after(() => opened.close())

/** Connections that a node takes in the tests of its limits; `npm run soak` sets another number. */
const CONNECTIONS = Number(process.env['LOCKSTEP_CONNECTIONS'] ?? 50)
const DAY_MS = 86_400_000

const start = (properties: Readonly<Record<string, string>> = {}) => opened.add(FaultyNode.start(properties))

/** The error of one produced record. */
async function produceOne(topic: { port: number; name: string; partition: number }): Promise<string> {
  const client = await RawClient.connect(topic.port)
  try {
    await client.write(produceFrame(topic, 100))
    return producedError(await client.next())
  } finally {
    await client.close()
  }
}

async function createTopicError(port: number, name: string): Promise<string> {
  const client = await RawClient.connect(port)
  const plan = { name, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }
  await client.write(requestFrame(CreateTopicsApi, { topics: [plan] }))
  const [created] = answerOf(CreateTopicsApi, await client.next()).topics
  await client.close()
  return errorName(created?.errorCode ?? -1)
}

async function alterBroker(port: number, configs: Readonly<Record<string, string>>): Promise<void> {
  const client = await RawClient.connect(port)
  const refused = client.closed.then(() => Promise.reject(new Error('refused')))
  const entries = Object.entries(configs).map(([name, value]) => ({ name, configOperation: 0, value }))
  const resources = [{ resourceType: 4, resourceName: '1', configs: entries }]
  await client.write(requestFrame(IncrementalAlterConfigsApi, { resources, validateOnly: false }))
  const answer = answerOf(IncrementalAlterConfigsApi, await Promise.race([client.next(), refused]))
  strictEqual(answer.responses[0]?.errorCode, ErrorCode.NONE)
  await client.close()
}

test('a full disk is told as such, reads go on, and writes work again once there is room', async () => {
  const faulty = await start()
  const { port, node } = faulty
  const topic = { port, name: 'written', partition: 0 }
  await createRawTopic(port, 'written')
  await produceMany(topic, 20, 1000)
  await faulty.fillDisk()
  strictEqual(await produceOne(topic), 'KAFKA_STORAGE_ERROR')
  strictEqual(await createTopicError(port, 'more'), 'KAFKA_STORAGE_ERROR')
  await faulty.freeDisk()
  await eventually(async () => strictEqual(await produceOne(topic), 'NONE'))
  await eventually(async () => strictEqual(await createTopicError(port, 'more'), 'NONE'))
  ok((await readRange(topic, 0, 21)) > 20_000)
  match(node.output, /ENOSPC/)
  await node.crash()
  ok((await readRange(topic, 0, 21)) > 20_000)
})

for (const where of ['callback', 'promise'] as const)
  test(`a bug in a ${where} ends the process with a line in the log, and loses nothing`, async () => {
    const faulty = await start()
    const topic = { port: faulty.port, name: 'kept', partition: 0 }
    await createRawTopic(topic.port, 'kept')
    await produceMany(topic, 20, 1000)
    await faulty.causeBug(where)
    await eventually(() => strictEqual(faulty.node.pid, undefined))
    match(faulty.node.output, /an error that nobody expected ends the node/)
    match(faulty.node.output, new RegExp(`a bug in a ${where}`))
    await faulty.node.start()
    ok((await readRange(topic, 0, 20)) > 20_000)
  })

test('one signal stops a node with clients that wait and write; a second one ends it at once; nothing is lost', async () => {
  const { node, port } = await start()
  const topic = { port, name: 'busy', partition: 0 }
  await createRawTopic(port, 'busy')
  await produceMany(topic, 20, 1000)
  for (const signals of [1, 2]) {
    const waiting = await openMany(port, 20)
    for (const client of waiting) await client.write(fetchFrame(topic, 20, { waitMs: 60_000 }))
    const { pid } = node
    if (pid === undefined) throw new Error('the node does not run')
    process.kill(pid, 'SIGTERM')
    if (signals > 1) {
      // Two at once would count as one.
      await eventually(() => match(node.output, /"msg":"stopping"/))
      if (node.pid !== undefined) process.kill(pid, 'SIGTERM')
    }
    await eventually(() => strictEqual(node.pid, undefined))
    await Promise.all(waiting.map(client => client.closed))
    await node.start()
    ok((await readRange(topic, 0, 20)) > 20_000)
  }
})

test('a wall clock that jumps forward and back deletes nothing and lets clients go on', async () => {
  const faulty = await start({ 'log.retention.check.interval.ms': '50', 'log.segment.bytes': '1048576' })
  const { port } = faulty
  const topic = { port, name: 'timed', partition: 0 }
  await createRawTopic(port, 'timed')
  await produceMany(topic, 30, 100_000)
  const waiting = await RawClient.connect(port)
  for (const wrongByMs of [365 * DAY_MS, 0]) {
    await faulty.setClock(wrongByMs)
    // As good as ever for those who are connected, and for new ones.
    await introduce(waiting)
    await produceMany(topic, 1, 100)
    ok((await readRange(topic, 0, 30)) > 3_000_000)
  }
  await faulty.setClock(-365 * DAY_MS)
  await introduce(waiting)
  // The timestamps of clients are a year ahead of this clock, and only an hour is allowed.
  strictEqual(await produceOne(topic), 'INVALID_TIMESTAMP')
  await faulty.setClock(0)
  strictEqual(await produceOne(topic), 'NONE')
  await waiting.close()
})

test('connections above the limits are turned away or wait, and limits change while the node runs', async () => {
  const { port } = await start()
  const limits = { 'max.connections.per.ip': String(CONNECTIONS) }
  await alterBroker(port, limits)
  const clients = await openServed(port, CONNECTIONS)
  const tooMany = await RawClient.connect(port)
  await tooMany.closed
  await closeAll(clients.splice(0, 10))
  clients.push(...(await openServed(port, 9)))
  await eventually(() =>
    alterBroker(port, { 'max.connections.per.ip': '2147483647', 'max.connections': String(CONNECTIONS) }),
  )
  clients.push(...(await openServed(port, 1)))
  // One more than may be: it waits, unread, until somebody leaves.
  const waiting = await RawClient.connect(port)
  await waiting.write(requestFrame(MetadataApi, { topics: [] }))
  const answered = waiting.next().then(() => true)
  strictEqual(await Promise.race([answered, introduceAgain(clients)]), false)
  await closeAll(clients.splice(0, 1))
  strictEqual(await answered, true)
  await closeAll([...clients, waiting])
})

/** Connections that are in: the node hears of others that left a moment later than they do. */
async function openServed(port: number, count: number): Promise<RawClient[]> {
  const clients: RawClient[] = []
  while (clients.length < count)
    clients.push(
      await eventually(async () => {
        const client = await RawClient.connect(port)
        const refused = client.closed.then(() => Promise.reject(new Error('refused')))
        await Promise.race([introduce(client), refused])
        return client
      }),
    )
  return clients
}

/** Everybody who is in is served meanwhile. */
const introduceAgain = async (clients: readonly RawClient[]): Promise<false> => {
  await Promise.all(clients.map(introduce))
  return false
}
