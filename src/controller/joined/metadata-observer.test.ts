/** The observer against a quorum in memory: commits, leaders that change, snapshots, and what it must not follow. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { MetadataDelta } from '../../metadata/metadata-delta.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import { metadataBatch } from '../metadata-batches.ts'
import { feature, imageWhere, observe, startQuorum } from './fakes/observe-quorum.ts'

const T = MetadataRecordType

test('the observer applies what is committed and nothing above it', async t => {
  const quorum = await startQuorum(t)
  quorum.append([feature('group.version', 1)])
  quorum.append([feature('share.version', 1)], { committed: false })
  const { observer } = observe(t, quorum)
  await imageWhere(observer, image => image.features.get('group.version') === 1)
  strictEqual(observer.image.features.get('share.version'), undefined)
  quorum.commit()
  await imageWhere(observer, image => image.features.get('share.version') === 1)
  strictEqual(observer.image.offset, 1)
})

test('uncommitted records that a new leader does not have are never applied', async t => {
  const quorum = await startQuorum(t, { controllers: 3 })
  quorum.append([feature('group.version', 1)])
  const { observer } = observe(t, quorum)
  await imageWhere(observer, image => image.features.size === 1)
  quorum.append([feature('share.version', 1)], { committed: false })
  while (!quorum.fetches.includes('2@3000')) await new Promise(resolve => setImmediate(resolve))
  quorum.elect(3002, 1)
  quorum.append([feature('streams.version', 1)])
  const image = await imageWhere(observer, image => image.features.has('streams.version'))
  deepStrictEqual([...image.features.keys()], ['group.version', 'streams.version'])
  strictEqual(image.epoch, 2)
})

test('a leader that dies is replaced by the next one, at the same offset', async t => {
  const quorum = await startQuorum(t, { controllers: 3 })
  quorum.append([feature('group.version', 1)])
  const { observer } = observe(t, quorum)
  await imageWhere(observer, image => image.features.size === 1)
  await quorum.stopController(3000)
  // For a while the others still name the dead one.
  await new Promise(resolve => setImmediate(resolve))
  quorum.elect(3001)
  quorum.append([feature('share.version', 1)])
  await imageWhere(observer, image => image.features.size === 2)
  ok(quorum.fetches.includes('1@3001'))
})

test('a log that does not reach back is begun with its snapshot, piece by piece', async t => {
  const quorum = await startQuorum(t)
  for (let i = 0; i < 20; i++) quorum.append([feature(`feature.${i}`, 1)])
  quorum.takeSnapshot(Array.from({ length: 20 }, (_, i) => feature(`feature.${i}`, 1)))
  quorum.append([feature('group.version', 1)])
  const { observer } = observe(t, quorum)
  const image = await imageWhere(observer, image => image.features.has('group.version'))
  strictEqual(image.features.size, 21)
  strictEqual(image.offset, 20)
})

test('a snapshot in place of what was missed tells subscribers what is gone', async t => {
  const quorum = await startQuorum(t)
  const topicId = 'dG9waWMtb2YtdGhlLXRlcw' as never
  quorum.append([
    { type: T.Topic, version: 0, value: { name: 'gone', topicId } },
    {
      type: T.Partition,
      version: 1,
      value: {
        partitionId: 0,
        topicId,
        replicas: [1],
        isr: [1],
        removingReplicas: [],
        addingReplicas: [],
        leader: 1,
        leaderEpoch: 0,
        partitionEpoch: 0,
        directories: [topicId],
      },
    },
  ])
  const { observer } = observe(t, quorum)
  await imageWhere(observer, image => image.topicIds.has('gone'))
  const deltas: MetadataDelta[] = []
  await observer.subscribe({ name: 'deltas', onImage: (_image, delta) => void deltas.push(delta) })
  quorum.append([feature('group.version', 1)], { committed: false })
  quorum.takeSnapshot([feature('group.version', 1)])
  quorum.elect(3000)
  quorum.append([feature('share.version', 1)])
  await imageWhere(observer, image => image.features.has('share.version'))
  strictEqual(observer.image.topics.size, 0)
  ok(deltas.some(({ deletedTopics }) => deletedTopics.has(topicId)))
})

test('a metadata transaction shows all at once', async t => {
  const quorum = await startQuorum(t)
  quorum.append([{ type: T.BeginTransaction, version: 0, value: {} }, feature('group.version', 1)])
  const { observer } = observe(t, quorum)
  while (!quorum.fetches.includes('2@3000')) await new Promise(resolve => setImmediate(resolve))
  strictEqual(observer.image.offset, -1)
  quorum.append([feature('share.version', 1), { type: T.EndTransaction, version: 0, value: {} }])
  const image = await imageWhere(observer, image => image.offset >= 0)
  strictEqual(image.features.size, 2)
})

test('a record of an unknown type is skipped, one of a newer version ends the following', async t => {
  const quorum = await startQuorum(t)
  const raw = metadataBatch([feature('group.version', 1)], { timestamp: 1n, baseOffset: 0, leaderEpoch: 1 })
  quorum.appendBytes(raw)
  quorum.appendBytes(rewritten(1, 120, 0))
  const { observer, failures } = observe(t, quorum)
  await imageWhere(observer, image => image.offset === 1)
  quorum.appendBytes(rewritten(2, T.FeatureLevel, 9))
  await rejects(async () => {
    while (failures.length === 0) await observer.reached()
    await observer.reached()
  }, /type 12 in version 9/)
  strictEqual(failures.length, 1)
})

test('a cluster above the metadata.version that this node knows is not followed', async t => {
  const quorum = await startQuorum(t)
  quorum.append([feature('metadata.version', 99)])
  const { observer } = observe(t, quorum)
  await rejects(observer.reached(), /metadata.version 99; this node understands 7 to/)
  match(observer.failure?.hint ?? '', /upgrade this node/)
})

test('another cluster is refused', async t => {
  const quorum = await startQuorum(t)
  const { observer } = observe(t, quorum, 'another-cluster-id-abc')
  await rejects(observer.reached(), /belongs to another cluster/)
})

test('whoever waits for the image waits until what was committed before is in it', async t => {
  const quorum = await startQuorum(t)
  quorum.append([feature('group.version', 1)])
  const { observer } = observe(t, quorum)
  await observer.reached()
  quorum.append([feature('share.version', 1)])
  await observer.reached()
  strictEqual(observer.image.features.get('share.version'), 1)
  const closed = observer.reached()
  const refused = rejects(closed, /shutting down/)
  await observer.close()
  await refused
})

test('Fetch of version 12, which names the topic, works too', async t => {
  const quorum = await startQuorum(t, { fetchVersion: 12 })
  quorum.append([feature('group.version', 1)])
  const { observer } = observe(t, quorum)
  await imageWhere(observer, image => image.features.size === 1)
})

/** A batch with one record of any type and version. */
function rewritten(offset: number, type: number, version: number): Buffer {
  return metadataRecordBatch(Buffer.from([1, type, version, 0]), offset)
}

function metadataRecordBatch(value: Buffer, baseOffset: number): Buffer {
  return buildBatch({ baseOffset, leaderEpoch: 1, records: [{ timestamp: 1n, key: null, value }] })
}
