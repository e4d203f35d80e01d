/** Cuts, holes and growth of mirrors on the real log of a standalone broker in memory. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { TestNode } from '../broker/fakes/test-node.ts'
import { ManualClock } from '../core/clock.ts'
import { silentLogger } from '../core/logger.ts'
import { seededRandom } from '../core/random.ts'
import { randomUuid } from '../core/uuid.ts'
import { Engine } from '../link/engine.ts'
import { batchAt, linkRequest, mirrorRequest } from '../link/fakes/engine-world.ts'
import { FakeSource } from '../link/fakes/fake-source.ts'
import { MemoryFileSystem } from '../log/fakes/memory-file-system.ts'
import { batchesIn } from '../protocol/batches/batch-iteration.ts'
import { LocalDestination } from './local-destination.ts'
import { StateTopic } from './state-topic.ts'

const turns = async (count = 60) => {
  for (let turn = 0; turn < count; turn++) await new Promise<void>(resolve => setImmediate(resolve))
}

async function mirroring(configs: Record<string, string>) {
  const clock = new ManualClock()
  const node = await TestNode.start({ fs: new MemoryFileSystem(), clock, clusterId: randomUuid() })
  const { controller, replicas, producerIds } = node
  const destination = new LocalDestination({
    ...{ brokerId: 1, file: new Map(), controller, replicas, producerIds },
    groups: () => node.groups,
    abortTransactions: async () => ({ aborted: 0, ending: 0 }),
    groupOffsetRetentionMs: 60_000,
    hasAuthorizer: true,
  })
  await controller.subscribe(destination)
  const sources = new FakeSource(clock)
  const source = sources.addTopic('orders', 1).partitions[0]
  ok(source)
  const stateLog = new StateTopic({ controller, replicas, clock })
  const engine = new Engine({ stateLog, destination, sources, clock, random: seededRandom(3), logger: silentLogger })
  await engine.start()
  await engine.createLink(linkRequest('west', configs), { validateOnly: false, validateLink: true })
  await engine.createMirror('west', mirrorRequest('orders'))
  const mirrorAll = async (rounds = 3) => {
    for (let round = 0; round < rounds; round++) {
      await turns()
      await sources.deliver()
    }
    await turns()
  }
  const held = async (partition = 0) => {
    const { log } = node.partition('orders', partition)
    const found: string[] = []
    // A read ends with its segment.
    for (let offset = log.logStartOffset; offset < log.logEndOffset; ) {
      const read = await log.read({ offset, maxBytes: 1 << 20, maxOffset: log.logEndOffset, minOneBatch: true })
      ok(read.kind === 'batches')
      const batches = [...batchesIn(read.records)]
      if (batches.length === 0) break
      found.push(...batches.map(({ baseOffset, lastOffset }) => `${baseOffset}-${lastOffset}`))
      offset = (batches.at(-1)?.lastOffset ?? offset) + 1
    }
    return found
  }
  const stop = async () => {
    await engine.stop()
    await node.close()
  }
  return { node, clock, engine, sources, source, mirrorAll, held, stop }
}

test('a truncated source: the log is cut at a batch, and goes on with what the source has instead', async () => {
  const { node, engine, source, mirrorAll, held, stop } = await mirroring({
    'mirror.unclean.truncation.policy': 'truncate',
  })
  source.append(batchAt(0, 5), batchAt(5, 5), batchAt(20, 5), batchAt(25, 5))
  await mirrorAll()
  source.truncateTo(25)
  source.append(batchAt(27, 3, { epoch: 1 }))
  await mirrorAll()
  deepEqual(await held(), ['0-4', '5-9', '20-24', '27-29'])
  equal(engine.describeMirror('west', 'orders').status, 'ACTIVE')
  // Down to a hole, and then to nothing.
  source.truncateTo(15)
  source.append(batchAt(16, 2, { epoch: 2 }))
  await mirrorAll()
  deepEqual(await held(), ['0-4', '5-9', '16-17'])
  source.truncateTo(0)
  source.append(batchAt(0, 2, { epoch: 3 }))
  await mirrorAll()
  deepEqual(await held(), ['0-1'])
  equal(node.partition('orders').log.logStartOffset, 0)
  equal(engine.incidentCounts().get('truncation'), 3)
  await stop()
})

test('retention that overtook the mirror leaves a hole up to the batch in which the source begins', async () => {
  const { engine, source, mirrorAll, held, stop } = await mirroring({
    'topic.config.sync.include': 'delete.retention.ms',
  })
  source.append(batchAt(0, 5))
  await mirrorAll()
  source.batches = []
  source.append(batchAt(100, 8), batchAt(108, 2))
  source.logStartOffset = 103
  await mirrorAll(5)
  deepEqual(await held(), ['0-4', '100-107', '108-109'])
  equal(engine.incidentCounts().get('out_of_range'), 1)
  await stop()
})

test('a grown source topic: the topic grows, and the new partitions are mirrored and read-only', async () => {
  const { clock, engine, sources, mirrorAll, held, stop } = await mirroring({})
  sources.growTopic('orders', 3)
  sources.topics.get('orders')?.partitions[2]?.append(batchAt(0, 4))
  await clock.advance(31_000)
  await turns()
  await mirrorAll()
  deepEqual(await held(2), ['0-3'])
  equal(engine.describeMirror('west', 'orders').numPartitions, 3)
  await stop()
})

test('a failed mirror is resumed against its real log', async () => {
  const { engine, sources, source, mirrorAll, held, stop } = await mirroring({})
  source.append(batchAt(0, 5), batchAt(9, 2))
  await mirrorAll()
  await sources.trouble({ kind: 'corrupt', message: 'a bad disk' })
  await turns()
  equal(engine.describeMirror('west', 'orders').status, 'FAILED')
  const request = { selection: { names: ['orders'] }, validateOnly: false }
  const [row] = await engine.alterMirrors('west', 'resume', request)
  equal(row?.errorMessage, null)
  source.append(batchAt(11, 2))
  await mirrorAll()
  deepEqual(await held(), ['0-4', '9-10', '11-12'])
  await stop()
})
