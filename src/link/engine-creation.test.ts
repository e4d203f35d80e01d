/** What is checked and copied when links and mirrors are created. */
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { OperationalError } from '../core/errors.ts'
import { EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'

const created = { validateOnly: false, validateLink: true }
const code = (expected: string) => (error: unknown) => (error as OperationalError).code === expected

async function worldWithMirror(configs: Record<string, string> = {}) {
  const world = new EngineWorld()
  await world.start()
  world.source.addTopic('orders', 2)
  await world.engine.createLink(linkRequest('west', configs), created)
  await world.engine.createMirror('west', mirrorRequest('orders'))
  return world
}

test('the initial configs make effective values equal, and synced keys cannot be given', async () => {
  const world = new EngineWorld()
  await world.start()
  const { configs } = world.source.addTopic('orders', 1)
  configs.set('cleanup.policy', { value: 'compact', overridden: true })
  configs.set('max.message.bytes', { value: '1048588', overridden: false })
  configs.set('retention.ms', { value: '3600000', overridden: false })
  configs.set('min.insync.replicas', { value: '2', overridden: true })
  await world.engine.createLink(linkRequest('west'), created)
  await rejects(
    world.engine.createMirror('west', mirrorRequest('orders', { 'retention.ms': '1' })),
    code('TOPIC_CONFIG_SYNCED'),
  )
  await world.engine.createMirror('west', mirrorRequest('orders', { 'min.insync.replicas': '1' }))
  deepEqual([...(world.cluster.topicNamed('orders')?.configs ?? [])].sort(), [
    ['cleanup.policy', 'compact'],
    ['min.insync.replicas', '1'],
    ['retention.ms', '3600000'],
  ])
  await world.engine.stop()
})

test('creation is refused with the reason of the semantics', async () => {
  const world = await worldWithMirror({ 'cluster.link.prefix': '' })
  const { engine } = world
  world.source.addTopic('__consumer_offsets', 1)
  world.source.addTopic('taken', 1)
  world.cluster.addTopic('taken', 1)
  await rejects(engine.createMirror('west', mirrorRequest('orders')), code('TOPIC_EXISTS'))
  await rejects(engine.createMirror('west', mirrorRequest('taken')), code('TOPIC_EXISTS'))
  await rejects(engine.createMirror('west', mirrorRequest('__consumer_offsets')), code('SOURCE_TOPIC_REFUSED'))
  await rejects(engine.createMirror('west', mirrorRequest('missing')), code('SOURCE_TOPIC_NOT_FOUND'))
  await rejects(engine.createMirror('west', mirrorRequest('a/b')), code('TOPIC_NAME_INVALID'))
  await rejects(engine.createMirror('nobody', mirrorRequest('taken')), code('LINK_NOT_FOUND'))
  await rejects(
    engine.createMirror('west', { ...mirrorRequest('orders'), mirrorTopicName: 'other' }),
    code('MIRROR_NAME_NOT_PREFIXED'),
  )
  await rejects(engine.createLink(linkRequest('west'), created), code('LINK_EXISTS'))
  await rejects(
    engine.createLink({ ...linkRequest('x'), sourceClusterId: 'wrong' }, created),
    code('LINK_REMOTE_ID_MISMATCH'),
  )
  await rejects(
    engine.createLink({ ...linkRequest('x'), remoteClusterId: 'source-cluster' }, created),
    code('LINK_CLUSTER_ID_MISPLACED'),
  )
  await rejects(engine.createLink({ ...linkRequest('x'), clusterLinkId: 'x' }, created), code('LINK_ID_NOT_ALLOWED'))
  await rejects(engine.createLink(linkRequest('-'), created), code('LINK_NAME_INVALID'))
  world.source.clusterId = 'destination-cluster'
  await rejects(engine.createLink(linkRequest('self'), created), code('LINK_REMOTE_IS_SELF'))
  world.source.failure = { failure: 'dns', message: 'no such host' }
  await rejects(engine.createLink(linkRequest('x'), created), code('LINK_VALIDATION_FAILED'))
  await engine.stop()
})

test('validate_only checks and changes nothing', async () => {
  const world = new EngineWorld()
  await world.start()
  world.source.addTopic('orders', 1)
  await world.engine.createLink(linkRequest('west'), { validateOnly: true, validateLink: true })
  deepEqual(world.engine.listLinks(), [])
  await world.engine.createLink(linkRequest('west'), created)
  await world.engine.createMirror('west', mirrorRequest('orders'), { validateOnly: true })
  deepEqual(world.engine.listMirrors({ link: undefined, status: undefined }), [])
  equal(world.cluster.topicNamed('orders'), undefined)
  await world.engine.stop()
})

test('a prefix is put before the source name and belongs to one link', async () => {
  const world = new EngineWorld()
  await world.start()
  world.source.addTopic('orders', 1)
  await world.engine.createLink(linkRequest('west', { 'link.prefix': 'w.' }), created)
  await rejects(
    world.engine.createLink(linkRequest('w2', { 'cluster.link.prefix': 'w.' }), created),
    code('LINK_PREFIX_TAKEN'),
  )
  await world.engine.createMirror('west', mirrorRequest('orders'))
  equal(world.engine.describeMirror('west', 'w.orders').sourceTopicName, 'orders')
  await world.engine.stop()
})

// A topic that appeared while the source was being asked was empty, and so was taken for one that an earlier attempt had made.
test('a topic that somebody creates meanwhile does not become the mirror', async () => {
  const world = new EngineWorld()
  await world.start()
  world.source.addTopic('orders', 1)
  await world.engine.createLink(linkRequest('west'), created)
  world.source.afterListOffsets = () => {
    if (!world.cluster.topicNamed('orders')) world.cluster.addTopic('orders', 1)
  }
  await rejects(world.engine.createMirror('west', mirrorRequest('orders')), code('TOPIC_EXISTS'))
  equal(world.engine.writeStatus(world.cluster.topicNamed('orders')?.topicId ?? '', 'orders').kind, 'writable')
  await world.engine.stop()
})

test('a mirror on a link whose cluster was never reached pins the one that answers, and follows it', async () => {
  const world = new EngineWorld()
  await world.start()
  world.source.addTopic('orders', 1)
  world.source.failure = { failure: 'tcp', message: 'connection refused' }
  await world.engine.createLink(linkRequest('west'), { validateOnly: false, validateLink: false })
  await world.settle()
  await rejects(world.engine.createMirror('west', mirrorRequest('orders')), code('SOURCE_NOT_AVAILABLE'))
  world.source.failure = undefined
  equal(world.engine.describeLink('west').sourceClusterId, null)
  await world.engine.createMirror('west', mirrorRequest('orders'))
  equal(world.engine.describeLink('west').sourceClusterId, 'source-cluster')
  deepEqual(world.source.fetched, ['orders-0'])
  await world.engine.stop()
})
