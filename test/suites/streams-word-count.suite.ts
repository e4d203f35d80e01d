// Kafka Streams counts words exactly once on a Lockstep node that is killed twice: every count of every word is there once.
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { seededRandom } from '../../src/core/random.ts'
import { type RunningProcess, startProcess } from '../child-process.ts'
import { eventually } from '../eventually.ts'
import { JavaDriver, streamsClassPath } from '../java/driver.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { chosenRounds, chosenSeed, integerBelow, pick } from '../scenarios/chance.ts'
import { TopicSide } from '../scenarios/topic-side.ts'

const opened = new Opened()
after(() => opened.close())

const vocabulary = 'amber birch cedar delta ember flint grove heron ivory jade karst larch'.split(' ')
const partitions = 2
const portions = 8
const linesOfPortion = 60
/** A machine that has other things to do, a node that starts three times, and transactions that time out in between. */
const patient = { timeoutMs: 240_000, intervalMs: 300 }
const properties = {
  'offsets.topic.num.partitions': '4',
  'transaction.state.log.num.partitions': '4',
  'group.initial.rebalance.delay.ms': '0',
}

async function startWordCount(bootstrap: string): Promise<RunningProcess & { close: () => Promise<void> }> {
  const state = await mkdtemp(join(tmpdir(), 'lockstep-streams-'))
  const quick = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']
  const logging = '-Dorg.slf4j.simpleLogger.defaultLogLevel=error'
  const classPath = ['-cp', await streamsClassPath('4.3.1')]
  const main = ['lockstep.streams.WordCount', bootstrap, 'word-count', state]
  const child = await startProcess('java', [...quick, logging, ...classPath, ...main])
  const close = async () => {
    await child.kill()
    await rm(state, { recursive: true, force: true })
  }
  return { ...child, close }
}

/** The counts of each word in the order in which they were written, of committed transactions only. */
async function committedCounts(side: TopicSide): Promise<Map<string, number[]>> {
  const counts = new Map<string, number[]>()
  const read = await side.consume('counts', { isolation: 'read_committed', content: true })
  for (const { records } of Object.values(read))
    for (const row of records) {
      const [word, count] = [String(row[6]), Number(row[7])]
      counts.set(word, [...(counts.get(word) ?? []), count])
    }
  return counts
}

const total = (counts: ReadonlyMap<string, readonly number[]>): number =>
  [...counts.values()].reduce((sum, { length }) => sum + length, 0)

test('a word count with exactly_once_v2 ends exact though the node is killed twice', {
  skip: skipWithout('java'),
}, async (t: TestContext) => {
  const seed = chosenSeed()
  t.diagnostic(`LOCKSTEP_SEED=${seed}`)
  const random = seededRandom(seed)
  const [node, driver] = await opened.all<[LockstepNode, JavaDriver]>([
    LockstepNode.start({ properties }),
    JavaDriver.start({ version: '4.3.1', heapMb: 256 }),
  ])
  const side = new TopicSide(driver, node)
  await side.createTopic('lines', { partitions })
  await side.createTopic('counts', { partitions })
  const application = await opened.add(startWordCount(node.bootstrap))
  const written = new Map<string, number>()
  const write = async () => {
    const records = Array.from({ length: linesOfPortion }, (_, line) => {
      const words = Array.from({ length: 1 + integerBelow(6, random) }, () => pick(vocabulary, random))
      for (const word of words) written.set(word, (written.get(word) ?? 0) + 1)
      return { key: `line-${line}`, value: words.join(' ') }
    })
    const lasting = { 'delivery.timeout.ms': '180000', 'request.timeout.ms': '5000', 'max.block.ms': '120000' }
    await side.produce('lines', { records, batch: 10, properties: lasting })
  }
  const kills = chosenRounds(2)
  for (let kill = 0; kill < kills; kill++) {
    const before = kill === 0 ? 0 : await eventually(() => committedCounts(side).then(total), patient)
    for (let portion = 0; portion < portions / 4; portion++) await write()
    await eventually(async () => {
      ok(application.alive(), application.output())
      ok(total(await committedCounts(side)) > before, `nothing new was counted:\n${application.output()}`)
    }, patient)
    // The node dies while the application works on what is written meanwhile.
    const writing = write()
    await node.kill()

    await node.start()
    await writing
  }
  for (let portion = 0; portion < portions / 2; portion++) await write()
  const words = [...written.values()].reduce((sum, count) => sum + count, 0)
  const counts = await eventually(async () => {
    ok(application.alive(), application.output())
    const found = await committedCounts(side)
    ok(total(found) >= words, `${total(found)} of ${words} words are counted:\n${application.output()}`)
    return found
  }, patient)
  strictEqual(total(counts), words)
  for (const [word, count] of written)
    deepStrictEqual(
      counts.get(word),
      Array.from({ length: count }, (_, index) => index + 1),
      word,
    )
  t.diagnostic(
    `${words} words counted once each; ${application.output().split('replacing').length - 1} threads replaced`,
  )
})
