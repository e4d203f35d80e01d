/** Tests of the local controller with snapshots, on files in memory: when they are written, what a restart reads, crashes at every step. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../core/random.ts'
import { MemoryFileSystem } from '../../log/fakes/memory-file-system.ts'
import { plainImage } from '../../metadata/fakes/plain-image.ts'
import { newTopic } from './fakes/cluster-images.ts'
import { openController } from './fakes/open-controller.ts'
import type { LocalController } from './local-controller.ts'

const folder = '/data/__cluster_metadata-0'
const create = { validateOnly: false }
const often = {
  'metadata.log.max.record.bytes.between.snapshots': '300',
  'internal.metadata.log.segment.bytes': '600',
  'metadata.max.retention.bytes': '0',
}

const open = (fs: MemoryFileSystem, properties: Record<string, string> = often) => openController(fs, properties)

async function files(fs: MemoryFileSystem, kind: string): Promise<string[]> {
  return ((await fs.list(folder)) ?? []).filter(name => name.endsWith(kind)).sort()
}

/** Topics and configs: what commands of the test change and restarts do not. */
function topicsOf(controller: LocalController): unknown {
  const { topicIds, configs } = plainImage(controller.image) as Record<string, unknown>
  return { topicIds, configs }
}

/** Lets the writing of a snapshot end. */
async function settle(fs: MemoryFileSystem): Promise<void> {
  for (let before = -1; before !== fs.operations; ) {
    before = fs.operations
    for (let turn = 0; turn < 5; turn++) await new Promise<void>(resolve => setImmediate(resolve))
  }
}

async function createTopics(controller: LocalController, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++)
    await controller.createTopics([newTopic(`topic-${i}`, { configs: new Map([['retention.ms', '5']]) })], create)
}

test('a snapshot is written when the log has grown enough, and what it covers goes', async () => {
  const fs = new MemoryFileSystem()
  const controller = await open(fs)
  await createTopics(controller, 0, 20)
  await settle(fs)
  assert.equal((await files(fs, '.checkpoint')).length, 1)
  assert.deepEqual(await files(fs, '.part'), [])
  const [firstLog] = await files(fs, '.log')
  assert.notEqual(firstLog, '00000000000000000000.log')
  const before = topicsOf(controller)
  await controller.close()
  const again = await open(fs)
  assert.deepEqual(topicsOf(again), before)
  assert.equal(again.image.epoch, 2)
  await again.close()
})

test('with the default limits nothing is written or dropped after a few commands', async () => {
  const fs = new MemoryFileSystem()
  const controller = await open(fs, {})
  await createTopics(controller, 0, 20)
  await settle(fs)
  assert.deepEqual([await files(fs, '.checkpoint'), await files(fs, '.log')], [[], ['00000000000000000000.log']])
  await controller.close()
})

test('older snapshots stay while retention allows it', async () => {
  const fs = new MemoryFileSystem()
  const controller = await open(fs, { ...often, 'metadata.max.retention.bytes': '-1' })
  for (let i = 0; i < 6; i++) {
    await createTopics(controller, i * 4, i * 4 + 4)
    await settle(fs)
  }
  assert.ok((await files(fs, '.checkpoint')).length > 2)
  assert.equal((await files(fs, '.log'))[0], '00000000000000000000.log')
  await controller.close()
})

test('a torn snapshot is not used: an older one, or the whole log, stands in', async () => {
  for (const retention of ['-1', '1000000']) {
    const fs = new MemoryFileSystem()
    const controller = await open(fs, { ...often, 'metadata.max.retention.bytes': retention })
    await createTopics(controller, 0, 12)
    await settle(fs)
    const before = topicsOf(controller)
    await controller.close()
    for (const name of await files(fs, '.checkpoint')) {
      const size = (await fs.sizeOf(`${folder}/${name}`)) ?? 0
      await fs.file(`${folder}/${name}`).truncate(size - 10)
    }
    const again = await open(fs)
    assert.deepEqual(topicsOf(again), before)
    await again.close()
  }
})

test('a log whose beginning is gone without a usable snapshot is refused with the reason', async () => {
  const fs = new MemoryFileSystem()
  const controller = await open(fs)
  await createTopics(controller, 0, 20)
  await settle(fs)
  await controller.close()
  for (const name of await files(fs, '.checkpoint')) await fs.remove(`${folder}/${name}`)
  await assert.rejects(open(fs), {
    code: 'METADATA_LOG_UNREADABLE',
    message: /starts at offset \d+, and there is no whole snapshot/,
  })
})

test('a log that ends before its snapshot begins anew behind it', async () => {
  const fs = new MemoryFileSystem()
  const controller = await open(fs)
  await createTopics(controller, 0, 20)
  await settle(fs)
  await controller.close()
  for (const kind of ['.log', '.index', '.timeindex', 'leader-epoch-checkpoint'])
    for (const name of await files(fs, kind)) await fs.remove(`${folder}/${name}`)
  const [name] = await files(fs, '.checkpoint')
  const again = await open(fs)
  const covered = Number(name?.slice(0, 20))
  assert.ok(again.image.offset > covered)
  assert.equal(again.image.epoch, 2)
  assert.ok(again.image.topics.size > 10)
  await again.close()
})

test('a power failure at any step of a snapshot loses nothing that was acknowledged', async () => {
  const steps = await stepsOf(async fs => {
    const controller = await open(fs)
    await createTopics(controller, 0, 8)
    await settle(fs)
    await controller.close()
  })
  assert.ok(steps > 100)
  for (let step = 0; step < steps; step += 11) {
    const fs = new MemoryFileSystem()
    const dead = Object.assign(new Error('power failure'), { code: 'EIO' })
    fs.failWhen = () => (fs.operations > step ? dead : undefined)
    let acknowledged: unknown
    try {
      const controller = await open(fs)
      acknowledged = topicsOf(controller)
      for (let i = 0; i < 8; i++) {
        await createTopics(controller, i, i + 1)
        acknowledged = topicsOf(controller)
      }
      await settle(fs)
    } catch {
      // The disk is gone.
    }
    fs.failWhen = () => undefined
    fs.crash(seededRandom(step))
    const again = await open(fs)
    const found = topicsOf(again) as { topicIds: [string, string][] }
    const expected = acknowledged as { topicIds: [string, string][] } | undefined
    for (const topic of expected?.topicIds ?? [])
      assert.ok(
        found.topicIds.some(([name, id]) => name === topic[0] && id === topic[1]),
        `step ${step}: ${topic[0]} is lost`,
      )
    await createTopics(again, 100, 110)
    await settle(fs)
    assert.deepEqual(await files(fs, '.part'), [])
    await again.close()
  }
})

/** File operations of a run on a healthy disk. */
async function stepsOf(run: (fs: MemoryFileSystem) => Promise<void>): Promise<number> {
  const fs = new MemoryFileSystem()
  await run(fs)
  return fs.operations
}
