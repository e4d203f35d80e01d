/** The share coordinator of a node in memory: fencing, what survives a restart, snapshots, and what is deleted. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { TestNode } from '../../broker/fakes/test-node.ts'
import { ManualClock } from '../../core/clock.ts'
import { randomUuid, type Uuid } from '../../core/uuid.ts'
import { MemoryFileSystem } from '../../log/fakes/memory-file-system.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { ShareKey, ShareWrite } from './share-persister.ts'

class Bench {
  readonly clock = new ManualClock()
  readonly fs = new MemoryFileSystem()
  readonly clusterId = randomUuid()
  readonly #file: ReadonlyMap<string, string>
  #node: TestNode | undefined

  constructor(file: Record<string, string> = {}) {
    this.#file = new Map(Object.entries({ 'share.coordinator.state.topic.num.partitions': '1', ...file }))
  }

  get node(): TestNode {
    if (!this.#node) throw new Error('not started')
    return this.#node
  }

  get state() {
    return this.node.shareState
  }

  get log() {
    return this.node.partition('__share_group_state')
  }

  async start(): Promise<this> {
    const { clock, fs, clusterId } = this
    this.#node = await TestNode.start({ clock, fs, clusterId, file: this.#file })
    if (!topicByName(this.node.controller.image, 't')) await this.node.createTopic('t')
    await this.state.partitions.ensureTopic()
    await this.settle()
    return this
  }

  async restart(): Promise<this> {
    await this.node.close()
    return await this.start()
  }

  key(change: Partial<ShareKey> = {}): ShareKey {
    const topicId = topicByName(this.node.controller.image, 't')?.id as Uuid
    return { groupId: 'g', topicId, partition: 0, ...change }
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 30; turn++) await this.clock.advance(0)
  }

  async after(ms: number): Promise<void> {
    await this.clock.advance(ms)
    await this.settle()
  }
}

const change = (some: Partial<ShareWrite> = {}): ShareWrite => ({
  stateEpoch: 1,
  leaderEpoch: 3,
  startOffset: -1,
  deliveryCompleteCount: 0,
  batches: [],
  ...some,
})

const accepted = (firstOffset: number, lastOffset: number) => ({
  firstOffset,
  lastOffset,
  deliveryState: 2,
  deliveryCount: 1,
})

const refusal = (errorCode: number) => ({ errorCode })

test('what was never initialised cannot be read or written, and its summary says so', async () => {
  const bench = await new Bench().start()
  const { state } = bench
  await rejects(state.read(bench.key(), 0), refusal(ErrorCode.INVALID_REQUEST))
  await rejects(state.write(bench.key(), change()), refusal(ErrorCode.INVALID_REQUEST))
  deepStrictEqual(await state.readSummary(bench.key()), {
    stateEpoch: 0,
    leaderEpoch: 0,
    startOffset: -1,
    deliveryCompleteCount: -1,
  })
  await state.delete(bench.key())
  await bench.node.close()
})

test('a written state is there after a restart, until it is deleted', async () => {
  const bench = await new Bench().start()
  await bench.state.initialize(bench.key(), { stateEpoch: 1, startOffset: 5 })
  await bench.state.read(bench.key(), 3)
  await bench.state.write(bench.key(), change({ startOffset: 6, deliveryCompleteCount: 2, batches: [accepted(8, 9)] }))
  await bench.restart()
  deepStrictEqual(await bench.state.read(bench.key(), 3), { stateEpoch: 1, startOffset: 6, batches: [accepted(8, 9)] })
  deepStrictEqual(await bench.state.readSummary(bench.key()), {
    stateEpoch: 1,
    leaderEpoch: 3,
    startOffset: 6,
    deliveryCompleteCount: 2,
  })
  await bench.state.delete(bench.key())
  await bench.restart()
  await rejects(bench.state.read(bench.key(), 3), refusal(ErrorCode.INVALID_REQUEST))
  await bench.node.close()
})

test('older epochs are fenced', async () => {
  const bench = await new Bench().start()
  const { state } = bench
  await state.initialize(bench.key(), { stateEpoch: 2, startOffset: 0 })
  await state.read(bench.key(), 3)
  await rejects(state.read(bench.key(), 2), refusal(ErrorCode.FENCED_LEADER_EPOCH))
  await rejects(
    state.write(bench.key(), change({ stateEpoch: 2, leaderEpoch: 2 })),
    refusal(ErrorCode.FENCED_LEADER_EPOCH),
  )
  await rejects(state.write(bench.key(), change({ stateEpoch: 1 })), refusal(ErrorCode.FENCED_STATE_EPOCH))
  await rejects(state.initialize(bench.key(), { stateEpoch: 1, startOffset: 0 }), refusal(ErrorCode.FENCED_STATE_EPOCH))
  await rejects(state.initialize(bench.key({ topicId: randomUuid() }), { stateEpoch: 1, startOffset: 0 }), {
    errorCode: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
  })
  await rejects(state.initialize(bench.key({ partition: -1 }), { stateEpoch: 1, startOffset: 0 }), {
    errorCode: ErrorCode.INVALID_REQUEST,
  })
  await bench.node.close()
})

test('after so many updates comes a snapshot, and what is below the last snapshots is deleted', async () => {
  const bench = await new Bench({ 'share.coordinator.snapshot.update.records.per.snapshot': '3' }).start()
  await bench.state.initialize(bench.key(), { stateEpoch: 1, startOffset: 0 })
  for (let offset = 0; offset < 10; offset++)
    await bench.state.write(bench.key(), change({ startOffset: offset, batches: [accepted(offset + 1, offset + 1)] }))
  strictEqual(bench.log.log.logStartOffset, 0)
  await bench.after(300_000)
  strictEqual(bench.log.log.logStartOffset > 0, true)
  await bench.restart()
  deepStrictEqual(await bench.state.read(bench.key(), 0), {
    stateEpoch: 1,
    startOffset: 9,
    batches: [accepted(9, 10)],
  })
  await bench.node.close()
})

test('an idle partition is written anew, so that it does not hold up the deletion', async () => {
  const bench = await new Bench({ 'share.coordinator.snapshot.update.records.per.snapshot': '1' }).start()
  await bench.state.initialize(bench.key({ groupId: 'idle' }), { stateEpoch: 1, startOffset: 4 })
  for (let minute = 0; minute < 12; minute++) {
    await bench.state.initialize(bench.key(), { stateEpoch: 1, startOffset: minute })
    await bench.after(60_000)
  }
  strictEqual(bench.log.log.logStartOffset > 1, true)
  await bench.restart()
  strictEqual((await bench.state.readSummary(bench.key({ groupId: 'idle' }))).startOffset, 4)
  await bench.node.close()
})

test('the state of a deleted topic is forgotten', async () => {
  const bench = await new Bench().start()
  const created = await bench.node.createTopic('gone')
  const key = bench.key({ topicId: created.topicId })
  await bench.state.initialize(key, { stateEpoch: 1, startOffset: 0 })
  strictEqual(bench.state.figures.states, 1)
  await bench.node.controller.deleteTopics([{ name: null, topicId: created.topicId }])
  await bench.settle()
  strictEqual(bench.state.figures.states, 0)
  await bench.restart()
  strictEqual(bench.state.figures.states, 0)
  await bench.node.close()
})

test('the persister of this node creates the topic and waits until it is loaded', async () => {
  const clock = new ManualClock()
  const node = await TestNode.start({ clock })
  const { topicId } = await node.createTopic('t')
  const key = { groupId: 'g', topicId, partition: 0 }
  let done = false
  const initialized = node.sharePersister.initialize(key, { stateEpoch: 0, startOffset: 1 }).then(() => {
    done = true
  })
  for (let turn = 0; turn < 100 && !done; turn++) await clock.advance(100)
  await initialized
  strictEqual((await node.sharePersister.readSummary(key)).startOffset, 1)
  await node.close()
})
