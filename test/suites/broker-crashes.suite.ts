// A node is killed again and again under producers, transactions and committing groups: it keeps every promise that it made.
import { ok } from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Random, seededRandom } from '../../src/core/random.ts'
import { eventually } from '../eventually.ts'
import { JavaDriver } from '../java/driver.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { chosenRounds, chosenSeed, integerBelow } from '../scenarios/chance.ts'
import { CrashLoad } from '../scenarios/crash-load.ts'

const opened = new Opened()
after(() => opened.close())

const properties = {
  'offsets.topic.num.partitions': '4',
  'transaction.state.log.num.partitions': '4',
  'group.initial.rebalance.delay.ms': '0',
  // Segments that roll and are cleaned while the node dies.
  'log.segment.bytes': '1048576',
  'offsets.topic.segment.bytes': '1048576',
  'transaction.state.log.segment.bytes': '1048576',
  'log.cleaner.backoff.ms': '500',
}

/** The ways in which a node dies; each leaves it running. */
const deaths: Readonly<Record<string, (node: LockstepNode, random: Random) => Promise<void>>> = {
  'under load': async node => {
    await node.crash()
  },
  'while it starts': async (node, random) => {
    await node.kill()
    const starting = node.start().catch(() => {})
    // Not waiting for something: this is the moment.
    await delay(integerBelow(1_200, random))
    await node.kill()
    await starting
    if (node.pid === undefined) await node.start()
  },
  'while it stops': async (node, random) => {
    const stopping = node.stop()
    await delay(integerBelow(60, random))
    await node.kill()
    await stopping
    await node.start()
  },
}

test('a node that is killed again and again keeps every record, commit and offset that it acknowledged', {
  skip: skipWithout('java'),
}, async (t: TestContext) => {
  const seed = chosenSeed()
  t.diagnostic(`LOCKSTEP_SEED=${seed}`)
  const random = seededRandom(seed)
  const [node, driver] = await opened.all<[LockstepNode, JavaDriver]>([
    LockstepNode.start({ properties }),
    JavaDriver.start({ version: '4.3.1', heapMb: 384 }),
  ])
  const load = await CrashLoad.start(driver, node, seed)
  const ways = Object.keys(deaths)
  for (let kill = 0; kill < chosenRounds(5); kill++) {
    const before = await load.progress()
    const more = 20 + integerBelow(200, random)
    const patient = { timeoutMs: 180_000, intervalMs: 100 }
    await eventually(async () => ok((await load.progress()).count >= before.count + more, node.output), patient)
    const when = ways[kill % ways.length] ?? ''
    // A pause just before, so that what comes after the restart does not hide what the kill took away.
    await load.pause()
    await deaths[when]?.(node, random)
    await load.checkOffsets()
    await load.resume()
    t.diagnostic(`killed ${when}, after ${(await load.progress()).count} promises`)
  }
  const promises = await load.stop()
  t.diagnostic(
    `${promises.written.length} records, ${promises.committed.length} commits, ${promises.aborted.length} aborts, ` +
      `${promises.unknown.length} ends that nobody knows`,
  )
  await load.check(promises)
  await node.crash()
  await load.check(promises)
})
