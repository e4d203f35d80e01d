/** Reading what a remote cluster publishes: only what is new, whatever the topic holds, and never for ever. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import type { Uuid } from '../../core/uuid.ts'
import { readBatchHeader } from '../../protocol/batches/batch-header.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { FakeSource } from '../fakes/fake-source.ts'
import type { SourceCluster, SourceConnectionSettings, StateRecord } from '../ports.ts'
import { encodeStateKey } from '../state-records/state-key.ts'
import { readingLimits, SourceStatus } from './source-status.ts'
import { clusterStatusRecord, linkStatusRecord } from './status-codec.ts'
import { linkStatusKey, statusTopicName } from './status-key.ts'

const linkId = 'AAAAAAAAAAAAAAAAAAAABA' as Uuid

function reading() {
  const clock = new ManualClock()
  const source = new FakeSource(clock)
  const connection = source.open({ bootstrapServers: ['source:9092'] } as unknown as SourceConnectionSettings)
  let reads = 0
  /** How the leader answers; changed by tests. */
  const leader: Pick<SourceCluster, 'readBatches'> = { readBatches: connection.readBatches }
  const counted: SourceCluster = {
    ...connection,
    readBatches: (...question) => {
      reads++
      return leader.readBatches(...question)
    },
  }
  const status = new SourceStatus({ source: counted, clusterId: () => source.clusterId, clock })
  const topic = () => source.topics.get(statusTopicName)?.partitions[0]
  const publish = (...records: StateRecord[]) => {
    const batch = records.map(({ key, value }, offsetDelta) => ({ offsetDelta, timestamp: 1n, key, value }))
    topic()?.append(buildBatch({ baseOffset: topic()?.highWatermark ?? 0, records: batch }))
  }
  const kind = async () => (await status.newest()).kind
  const names = async () => {
    const view = await status.newest()
    return view.kind === 'read' ? view.contents.links().map(({ name }) => name) : view.kind
  }
  return { clock, source, status, leader, publish, topic, kind, names, reads: () => reads }
}

const cluster = (clusterId = 'source-cluster') => clusterStatusRecord({ clusterId, takesReverses: true })
const link = (name: string) =>
  linkStatusRecord({
    linkId,
    name,
    mode: 'DESTINATION',
    remoteClusterId: undefined,
    createdTimeMs: 1,
    groupFilters: undefined,
    isPaused: false,
    problem: undefined,
  })

test('a cluster without the topic, or with nothing whole in it, publishes nothing', async () => {
  const { source, kind, publish } = reading()
  equal(await kind(), 'absent')
  source.addTopic(statusTopicName, 1)
  equal(await kind(), 'absent')
  publish(link('west'))
  equal(await kind(), 'absent', 'the first publication has not come to its end')
  publish(cluster())
  equal(await kind(), 'read')
})

test('later only what is new is read, and removals count', async () => {
  const { source, names, publish, reads } = reading()
  source.addTopic(statusTopicName, 1)
  publish(link('west'), cluster())
  deepEqual(await names(), ['west'])
  const before = reads()
  deepEqual(await names(), ['west'])
  equal(reads(), before, 'nothing new, nothing fetched')
  publish(link('east'))
  deepEqual(await names(), ['east'])
  equal(reads(), before + 1)
  publish({ key: encodeStateKey(linkStatusKey(linkId)), value: null })
  deepEqual(await names(), [])
})

test('a topic that was made anew or lost records is read from its start', async () => {
  const { source, names, publish, topic } = reading()
  source.addTopic(statusTopicName, 1)
  publish(link('west'), cluster())
  publish(link('north'))
  deepEqual(await names(), ['north'])
  topic()?.truncateTo(2)
  deepEqual(await names(), ['west'])
  const remade = topic()
  if (remade) Object.assign(remade, { batches: [], highWatermark: 0, leaderEpoch: remade.leaderEpoch + 1 })
  publish(link('other'), cluster(), link('east'))
  deepEqual(await names(), ['east'], 'the same topic with another log')
  source.addTopic(statusTopicName, 1)
  equal(await names(), 'absent')
  publish(cluster(), link('south'))
  deepEqual(await names(), ['south'])
  source.addTopic(statusTopicName, 1)
  publish(cluster(), link('far'))
  deepEqual(await names(), ['far'], 'another topic that is as long, with the same leader epoch')
})

test('a topic that may not be read is refused, and is not asked for again and again', async () => {
  const { source, status, clock } = reading()
  source.unreadable.add(statusTopicName)
  equal((await status.recent()).kind, 'refused')
  source.unreadable.clear()
  equal((await status.recent()).kind, 'refused')
  await clock.advance(61_000)
  equal((await status.recent()).kind, 'absent')
})

test('an outage keeps what was read, and its end brings the rest', async () => {
  const { source, status, publish, names } = reading()
  source.addTopic(statusTopicName, 1)
  publish(link('west'), cluster())
  await status.newest()
  source.questionFailure = { failure: 'tcp', message: 'refused' }
  const view = await status.newest()
  ok(view.kind === 'failed' && view.contents)
  equal(view.contents.links().length, 1)
  source.questionFailure = undefined
  publish(link('east'))
  deepEqual(await names(), ['east'])
})

test('what another cluster published is not believed', async () => {
  const { source, status, publish } = reading()
  source.addTopic(statusTopicName, 1)
  publish(cluster('another-cluster'))
  const view = await status.newest()
  ok(view.kind === 'failed')
  match(String(view.error), /is about cluster another-cluster, not source-cluster/)
})

test('damaged and strange batches are reported, and what follows them is read', async () => {
  const { source, status, publish, topic } = reading()
  source.addTopic(statusTopicName, 1)
  publish(link('west'))
  const damaged = topic()?.batches[0]
  if (damaged) damaged[damaged.length - 1] = 255
  const value = Buffer.from('v')
  const packed = [{ offsetDelta: 0, timestamp: 1n, key: Buffer.from('k'), value }]
  topic()?.append(buildBatch({ baseOffset: 1, compression: 'gzip', records: packed }))
  topic()?.append(buildBatch({ baseOffset: 2, records: [{ offsetDelta: 0, timestamp: 1n, key: null, value }] }))
  publish({ key: Buffer.from('k'), value })
  publish(cluster())
  const view = await status.newest()
  ok(view.kind === 'read')
  match(view.contents.problems.join(), /4 piece\(s\) of it cannot be read/)
  match(view.contents.problemOf('orders') ?? '', /./, 'nobody can say what the damaged record was about')
})

test('bytes that are no batch end the reading, not the node', async () => {
  const { source, status, leader, publish } = reading()
  source.addTopic(statusTopicName, 1)
  publish(cluster())
  publish(link('west'))
  const { readBatches } = leader
  leader.readBatches = async (...question) => {
    const bytes = Buffer.from(await readBatches(...question))
    bytes[readBatchHeader(bytes, 0).sizeBytes + 16] = 9
    return bytes
  }
  const view = await status.newest()
  ok(view.kind === 'read')
  match(view.contents.problems.join(), /1 piece\(s\) of it cannot be read/)
})

test('a cluster that does not answer is not waited for longer than its time', async () => {
  const { source, status, leader, clock, publish } = reading()
  source.addTopic(statusTopicName, 1)
  publish(cluster())
  leader.readBatches = (_topic, _partition, { signal }) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  const asked = status.newest()
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  await clock.advance(readingLimits.timeoutMs)
  const view = await asked
  ok(view.kind === 'failed')
  match(String(view.error), /longer than 15 s/)
})

test('whoever asks while it is being read shares the answer only if it is new enough', async () => {
  const { source, status, publish, reads } = reading()
  source.addTopic(statusTopicName, 1)
  publish(link('west'), cluster())
  const views = await Promise.all([status.newest(), status.newest(), status.newest()])
  deepEqual(new Set(views.map(({ kind }) => kind)), new Set(['read']))
  equal(reads(), 1)
})
