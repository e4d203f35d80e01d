/** The link engine's ports over a whole standalone broker in memory: state topic, mirror logs, write gate, failover. */
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { TestNode } from '../broker/fakes/test-node.ts'
import { ManualClock } from '../core/clock.ts'
import { silentLogger } from '../core/logger.ts'
import { seededRandom } from '../core/random.ts'
import { randomUuid, ZERO_UUID } from '../core/uuid.ts'
import { Engine } from '../link/engine.ts'
import { batchAt, linkRequest, mirrorRequest } from '../link/fakes/engine-world.ts'
import { FakeSource } from '../link/fakes/fake-source.ts'
import { MirrorLogConflict, NotLinkCoordinator, type SourceClusterFactory, type StateRecord } from '../link/ports.ts'
import { MemoryFileSystem } from '../log/fakes/memory-file-system.ts'
import { linkWriteGate } from './link-write-gate.ts'
import { LocalDestination } from './local-destination.ts'
import { StateTopic, stateTopicName } from './state-topic.ts'

const record = (key: string, value: string | null): StateRecord => ({
  key: Buffer.from(key),
  value: value === null ? null : Buffer.from(value),
})

const texts = (records: readonly StateRecord[]) => records.map(({ key, value }) => `${key}=${value}`)

async function startNode(fs = new MemoryFileSystem(), clusterId = randomUuid()) {
  const clock = new ManualClock()
  const node = await TestNode.start({ fs, clock, clusterId })
  const { controller, replicas, producerIds } = node
  const destination = new LocalDestination({
    ...{ brokerId: 1, file: new Map(), controller, replicas, producerIds },
    groups: () => node.groups,
    abortTransactions: async () => ({ aborted: 0, ending: 0 }),
    groupOffsetRetentionMs: 60_000,
    hasAuthorizer: true,
  })
  await controller.subscribe(destination)
  const stateTopic = () => new StateTopic({ controller, replicas, clock })
  return { node, clock, destination, stateTopic }
}

test('the state topic gives back every batch in order, to its writer and to the next one', async () => {
  const { node, stateTopic } = await startNode()
  const seen: string[][] = []
  const first = stateTopic()
  await first.open(records => seen.push(texts(records)))
  await first.append([record('a', '1'), record('b', '2')])
  await first.append([record('a', null)])
  deepEqual(seen, [['a=1', 'b=2'], ['a=null']])
  const again: string[][] = []
  const second = stateTopic()
  await second.open(records => again.push(texts(records)))
  deepEqual(again, seen)
  // Whoever is not up to date any more finds out, and nothing of theirs is written.
  await second.append([record('c', '3')])
  equal(node.partition(stateTopicName).log.logEndOffset, 4)
  await node.close()
  await rejects(first.append([record('d', '4')]), NotLinkCoordinator)
})

test('a topic grows to a number of partitions, once', async () => {
  const { node, destination } = await startNode()
  const { topicId } = await node.createTopic('orders')
  await destination.createPartitions(topicId, 3)
  equal(destination.topicById(topicId)?.partitions, 3)
  equal((await destination.openMirrorLog(topicId, 2)).state().logEndOffset, 0)
  await destination.createPartitions(topicId, 2)
  equal(destination.topicById(topicId)?.partitions, 3)
  await rejects(destination.createPartitions(ZERO_UUID, 2), /does not exist here/)
  await node.close()
})

test('a mirror log appends with compare-and-set, and says who is wrong', async () => {
  const { node, destination } = await startNode()
  const { topicId } = await node.createTopic('orders')
  const log = await destination.openMirrorLog(topicId, 0)
  await log.startAt(100)
  const state = await log.append(batchAt(100, 5, { producerId: 9n, transactional: true }), { expectedEndOffset: 100 })
  equal(state.logEndOffset, 105)
  await rejects(log.append(batchAt(105, 1), { expectedEndOffset: 100 }), MirrorLogConflict)
  equal(log.producerIdMax(), 9n)
  deepEqual(
    log.openTransactions().map(({ firstOffset }) => firstOffset),
    [100],
  )
  equal((await log.lastBatch())?.lastOffset, 104)
  equal((await log.readBatches({ offset: 100, maxBytes: 1000 })).length > 0, true)
  await log.abortOpenTransactions()
  equal(log.state().logEndOffset, 106)
  deepEqual(log.openTransactions(), [])
  await rejects(destination.openMirrorLog(ZERO_UUID, 0))
  await node.close()
})

// A full disk or a failed sync takes the log out of service; the node opens it again by itself. The mirror held on to the log
// that had failed, and waited for it until the node was restarted.
test('a mirror log goes on with the log that was opened again after a failure', async () => {
  const fs = new MemoryFileSystem()
  const { node, clock, destination } = await startNode(fs)
  const { topicId } = await node.createTopic('orders')
  const log = await destination.openMirrorLog(topicId, 0)
  await log.append(batchAt(0, 5), { expectedEndOffset: 0 })
  fs.failWhen = ({ name, path }) =>
    name === 'sync' && path.includes('/orders-0/') ? new Error('input/output error') : undefined
  await rejects(log.flush())
  await rejects(log.append(batchAt(5, 1), { expectedEndOffset: 5 }), MirrorLogConflict)
  equal(log.state().logEndOffset, 5)
  fs.failWhen = () => undefined
  await clock.advance(60_000)
  equal((await log.append(batchAt(5, 1), { expectedEndOffset: log.state().logEndOffset })).logEndOffset, 6)
  await log.flush()
  equal(node.partition('orders').log.logEndOffset, 6)
  await node.close()
})

// Same fault in the state topic: every later operation was refused until the node was restarted.
test('the state topic goes on after its log was opened again', async () => {
  const fs = new MemoryFileSystem()
  const { node, clock, stateTopic } = await startNode(fs)
  const seen: string[][] = []
  const log = stateTopic()
  await log.open(records => seen.push(texts(records)))
  await log.append([record('a', '1')])
  fs.failWhen = ({ name, path }) =>
    name === 'sync' && path.includes(stateTopicName) ? new Error('input/output error') : undefined
  await rejects(log.append([record('b', '2')]))
  await rejects(log.append([record('c', '3')]), NotLinkCoordinator)
  fs.failWhen = () => undefined
  await clock.advance(60_000)
  // What became of 'b' is known only now: whoever decided without it decides anew.
  await rejects(log.append([record('a', 'decided without b')]), NotLinkCoordinator)
  deepEqual(seen, [['a=1'], ['b=2']])
  await log.append([record('a', '2')])
  deepEqual(seen, [['a=1'], ['b=2'], ['a=2']])
  await node.close()
})

// A damaged batch was taken for what it said, or passed over: a mirror that it names could become writable.
test('a state topic with a damaged batch is not replayed further', async () => {
  const fs = new MemoryFileSystem()
  const clusterId = randomUuid()
  const first = await startNode(fs, clusterId)
  const log = first.stateTopic()
  await log.open(() => {})
  await log.append([record('a', '1')])
  await log.append([record('b', '2')])
  await first.node.close()
  const path = `/data/${stateTopicName}-0/00000000000000000000.log`
  const { length } = await fs.readFile(path)
  await fs.file(path).write([Buffer.from('x')], length - 2)
  const second = await startNode(fs, clusterId)
  const seen: string[][] = []
  await rejects(
    second.stateTopic().open(records => seen.push(texts(records))),
    /__lockstep_state-0 is damaged at offset 1/,
  )
  deepEqual(seen, [['a=1']])
  await second.node.close()
})

test('topics are created, found and their going is told', async () => {
  const { node, destination } = await startNode()
  let changes = 0
  const unsubscribe = destination.onTopicsChanged(() => changes++)
  const request = {
    name: 'orders',
    partitions: 2,
    replicationFactor: -1,
    configs: new Map([['cleanup.policy', 'compact']]),
  }
  const created = await destination.createTopic(request, { validateOnly: false })
  ok(created.ok)
  deepEqual(destination.topic('orders'), created.topic)
  deepEqual(destination.topicById(created.topic.topicId), created.topic)
  const again = await destination.createTopic(request, { validateOnly: false })
  equal(again.ok ? '' : again.reason, 'exists')
  const invalid = await destination.createTopic(
    { ...request, name: 'x', configs: new Map([['retention.ms', 'never']]) },
    { validateOnly: true },
  )
  equal(invalid.ok ? '' : invalid.reason, 'invalid')
  equal(destination.defaultTopicConfig('cleanup.policy'), 'delete')
  equal(destination.defaultTopicConfig('no.such.key'), undefined)
  equal(changes, 1)
  unsubscribe()
  await node.controller.deleteTopics([{ name: 'orders', topicId: ZERO_UUID }])
  equal(destination.topic('orders'), undefined)
  equal(changes, 1)
  await node.close()
})

test('a mirror on a real log: fetched, read-only, failed over, writable above its barrier', async () => {
  const fs = new MemoryFileSystem()
  const { node, clock, destination, stateTopic } = await startNode(fs)
  const source = new FakeSource(clock)
  const partition = source.addTopic('orders', 1).partitions[0]
  ok(partition)
  partition.append(batchAt(0, 3), batchAt(10, 2, { producerId: 5000n, transactional: true }))
  const engine = new Engine({
    stateLog: stateTopic(),
    destination,
    sources: source,
    clock,
    random: seededRandom(3),
    logger: silentLogger,
  })
  await engine.start()
  const gate = linkWriteGate((topicId, topic) => engine.writeStatus(topicId, topic))
  await engine.createLink(linkRequest('west'), { validateOnly: false, validateLink: true })
  await engine.createMirror('west', mirrorRequest('orders'))
  await eventually(() => source.fetched.length === 1)
  await source.deliver()
  const topicId = destination.topic('orders')?.topicId ?? ''
  equal(node.partition('orders').log.logEndOffset, 12)
  equal(gate.refusal(topicId, 'orders', 'produce')?.errorCode, 44)
  match(gate.refusal(topicId, 'orders', 'produce')?.message ?? '', /'orders' is a mirror of link 'west'/)
  equal(gate.refusal(topicId, 'orders', { alterConfigs: ['min.insync.replicas'] }), undefined)
  equal(gate.refusal(topicId, 'orders', { alterConfigs: ['retention.ms'] })?.errorCode, 44)
  equal(gate.refusal(topicId, stateTopicName, 'produce')?.errorCode, 44)
  equal(gate.refusal(topicId, stateTopicName, 'delete-topic')?.errorCode, 44)
  equal(gate.refusal(topicId, 'orders', 'delete-topic'), undefined)
  equal(gate.refusal(topicId, stateTopicName, { alterConfigs: ['cleanup.policy'] })?.errorCode, 44)
  equal(gate.refusal(topicId, stateTopicName, { alterConfigs: ['min.insync.replicas'] }), undefined)
  equal(gate.refusal(ZERO_UUID, 'other', 'produce'), undefined)
  const epoch = node.partition('orders').leaderEpoch
  const [row] = await engine.alterMirrors('west', 'failover', { selection: { names: ['orders'] }, validateOnly: false })
  equal(row?.errorMessage, null)
  deepEqual(row?.partitions[0], { partition: 0, endOffset: 13, stopOffset: 12, lastKnownLag: 0, waitingFor: null })
  equal(row?.openTransactions, 1)
  equal(node.partition('orders').leaderEpoch > epoch, true)
  equal((await node.producerIds.next()) > 5000n, true)
  equal(gate.refusal(topicId, 'orders', 'produce'), undefined)
  await engine.stop()
  await node.close()
})

// The record that was on its way when the name was taken lay below the mirrored ones for ever.
test('a topic that is being written does not become a mirror', async () => {
  const { node, clock, destination, stateTopic } = await startNode()
  const source = new FakeSource(clock)
  source.addTopic('orders', 1)
  const slow = Promise.withResolvers<void>()
  const writeMeanwhile = async () => {
    if (destination.topic('orders')) return
    await node.createTopic('orders')
    const partition = node.partition('orders')
    void partition.writes.run(async () => {
      await slow.promise
      await partition.log.appendAsLeader(batchAt(0, 1), { leaderEpoch: partition.leaderEpoch })
    })
  }
  const sources: SourceClusterFactory = {
    open: settings => {
      const cluster = source.open(settings)
      return {
        ...cluster,
        listOffsets: async (...asked) => {
          await writeMeanwhile()
          return cluster.listOffsets(...asked)
        },
      }
    },
  }
  const rest = { clock, random: seededRandom(3), logger: silentLogger }
  const engine = new Engine({ stateLog: stateTopic(), destination, sources, ...rest })
  await engine.start()
  await engine.createLink(linkRequest('west'), { validateOnly: false, validateLink: true })
  const refused = rejects(engine.createMirror('west', mirrorRequest('orders')), /already exists/)
  for (let turn = 0; turn < 50; turn++) await new Promise<void>(resolve => setImmediate(resolve))
  slow.resolve()
  await refused
  await engine.stop()
  await node.close()
})

async function eventually(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 200 && !condition(); turn++) await new Promise<void>(resolve => setImmediate(resolve))
  equal(condition(), true)
}
