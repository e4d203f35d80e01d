/** A node that dies at any write or sync of a transaction, by kill or power loss, and what the next start makes of it. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../core/clock.ts'
import { seededRandom } from '../core/random.ts'
import { randomUuid } from '../core/uuid.ts'
import { MemoryFileSystem } from '../log/fakes/memory-file-system.ts'
import { TestNode } from './fakes/test-node.ts'
import { TransactionalClient, turn } from './fakes/transactional-client.ts'

const TIMEOUT_MS = 5000
const PARTITIONS = [0, 1]
const clusterId = randomUuid()
const file = new Map([['transaction.state.log.num.partitions', '1']])

interface Scenario {
  readonly generation: 1 | 2
  readonly committed: boolean
}

/** What the client was told before the node died. */
interface Told {
  readonly produced: number[]
  ended: boolean
}

async function start(fs: MemoryFileSystem, clock: ManualClock): Promise<TestNode> {
  const node = await TestNode.start({ file, fs, clock, clusterId })
  while (node.transactions.partitions.loading) await turn()
  return node
}

async function prepare(fs: MemoryFileSystem): Promise<TestNode> {
  const node = await start(fs, new ManualClock())
  await node.createTopic('orders', { partitions: PARTITIONS.length })
  await node.transactions.partitions.ensureTopic()
  while (node.transactions.partitions.loading) await turn()
  return node
}

async function runTransaction(node: TestNode, { generation, committed }: Scenario): Promise<Told> {
  const client = new TransactionalClient(node, { generation })
  const told: Told = { produced: [], ended: false }
  if ((await client.init({ timeoutMs: TIMEOUT_MS })) !== 'NONE') return told
  for (const partition of PARTITIONS) {
    if (generation === 1 && (await client.add('orders', partition)) !== 'NONE') return told
    if ((await client.produce('orders', partition)) !== 'NONE') return told
    told.produced.push(partition)
  }
  told.ended = (await client.end(committed)) === 'NONE'
  for (let turns = 0; turns < 50 && node.transactions.completing > 0; turns++) await turn()
  return told
}

/** The transaction is over everywhere, with one outcome that agrees with what the client was told. */
async function checkAfterRestart(fs: MemoryFileSystem, scenario: Scenario, told: Told): Promise<void> {
  const clock = new ManualClock()
  const node = await start(fs, clock)
  const client = new TransactionalClient(node, { generation: scenario.generation })
  await client.settled()
  if ((await client.describe())?.transactionState === 'Ongoing') {
    ok(!told.ended, 'an end that was acknowledged is not forgotten')
    await clock.advance(TIMEOUT_MS + 10_000)
    await client.settled()
  }
  const described = await client.describe()
  const state = described?.errorCode === 0 ? described.transactionState : 'unknown'
  if (told.ended) strictEqual(state, scenario.committed ? 'CompleteCommit' : 'CompleteAbort')
  ok(['unknown', 'Empty', 'CompleteCommit', 'CompleteAbort'].includes(state), state)
  for (const partition of PARTITIONS) {
    const { log, highWatermark } = node.partition('orders', partition)
    strictEqual(log.lastStableOffset(highWatermark), log.logEndOffset, 'nothing stays open')
    if (told.produced.includes(partition)) ok(log.logEndOffset >= 2, 'acknowledged records and a marker are there')
    const aborted = await log.abortedTransactions(0, log.logEndOffset)
    // Records that were never acknowledged may be there too; with this one outcome.
    if (log.logEndOffset >= 2) deepStrictEqual([partition, aborted.length > 0], [partition, state === 'CompleteAbort'])
  }
  strictEqual(await client.init(), 'NONE')
  if (scenario.generation === 1) strictEqual(await client.add('orders'), 'NONE')
  strictEqual(await client.produce('orders'), 'NONE')
  strictEqual(await client.end(true), 'NONE')
  await client.settled()
  await node.close()
}

/** Lets the node die at the `at`-th write or sync of a log of the scenario; false if there are not so many. */
async function dieAt(at: number, scenario: Scenario, how: 'kill' | 'power loss'): Promise<boolean> {
  const fs = new MemoryFileSystem()
  const node = await prepare(fs)
  let operations = 0
  let dead = false
  fs.failWhen = ({ name, path }) => {
    const counts = (name === 'write' || name === 'sync') && path.endsWith('.log')
    if (counts && operations++ === at) dead = true
    return dead ? new Error('the node is dead') : undefined
  }
  const told = await runTransaction(node, scenario)
  const reached = dead
  fs.failWhen = () => new Error('the node is dead')
  await node.close().catch(() => {})
  if (how === 'kill') fs.kill()
  else fs.crash(seededRandom(at + 1))
  fs.failWhen = () => undefined
  await checkAfterRestart(fs, scenario, told)
  return reached
}

const scenarios = [
  { generation: 2, committed: true, how: 'power loss', every: 1 },
  { generation: 1, committed: true, how: 'kill', every: 2 },
  { generation: 2, committed: false, how: 'kill', every: 3 },
  { generation: 1, committed: false, how: 'power loss', every: 3 },
] as const

for (const { how, every, ...scenario } of scenarios)
  test(`a transaction of generation ${scenario.generation} that is to ${scenario.committed ? 'commit' : 'abort'} is finished after a ${how} anywhere in it`, async () => {
    let at = 0
    while (await dieAt(at, scenario, how)) at += every
    ok(at >= 10, `${at} places to die`)
  })
