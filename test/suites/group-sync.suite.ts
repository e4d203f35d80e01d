/** Groups of a real Kafka continue on the mirror cluster where they were: offsets follow, nothing is lost or read twice over a promote. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { BrokerConnection } from '../../src/network/broker-connection.ts'
import { OffsetFetchApi } from '../../src/protocol/messages/09-offset-fetch.ts'
import { askBroker } from '../clients/direct.ts'
import {
  confluentGroupReader,
  type GroupReader,
  kafkaJsGroupReader,
  kcatGroupReader,
  platformaticGroupReader,
} from '../clients/group-reader.ts'
import { eventually } from '../eventually.ts'
import { sourceVersion } from '../kafka/jars.ts'
import { skipWithout } from '../requirements.ts'
import { kcatMayLogIn } from '../scenarios/destination.ts'
import { waitUntilInStep } from '../scenarios/equality.ts'
import { assertHandedOver } from '../scenarios/handed-over.ts'
import { type MirrorWorld, startMirrorWorld } from '../scenarios/mirror-world.ts'

const skip = skipWithout('java', 'kcat', 'python')
const groupFilters = [
  { name: '*', patternType: 'LITERAL', filterType: 'INCLUDE' },
  { name: 'private-', patternType: 'PREFIXED', filterType: 'EXCLUDE' },
]
const syncing = {
  'consumer.offset.sync.enable': 'true',
  'consumer.offset.sync.ms': '1000',
  'consumer.offset.group.filters': JSON.stringify({ groupFilters }),
}
const topic = 'orders'
const total = 120
const readers: readonly GroupReader[] = [
  ...(kcatMayLogIn() ? [kcatGroupReader] : []),
  confluentGroupReader,
  kafkaJsGroupReader,
  platformaticGroupReader,
]
let world: MirrorWorld

before(async () => {
  if (skip !== false) return
  world = await startMirrorWorld(sourceVersion(), { link: syncing })
  const { sides, link } = world
  await sides.source.createTopic(topic, { partitions: 2 })
  for (const partition of [0, 1]) await sides.source.produce(topic, { partition, generate: { count: total / 2 } })
  await link.mirror(topic)
  await waitUntilInStep(sides, topic)
})
after(() => world?.close())

interface GroupRow {
  readonly group_id: string
  readonly partition: number
  readonly synced_offset: number | null
  readonly source_offset: number
  readonly state: string
  readonly reason: string | null
}

async function rowsOf(group: string): Promise<GroupRow[]> {
  const answer = await world.node.rest.call('GET', `/links/${world.link.name}/groups`)
  return (answer as { data: GroupRow[] }).data.filter(row => row.group_id === group)
}

test('every client goes on at the mirror after a promote, without a loss and without a repetition', {
  skip,
}, async () => {
  const { sides, link } = world
  const read = new Map<string, string[]>()
  for (const reader of readers) {
    const group = `group-${readers.indexOf(reader)}`
    read.set(group, await reader.read({ bootstrap: sides.source.bootstrap, topic, group, count: 40 }))
  }
  for (const group of read.keys())
    await eventually(async () => {
      const rows = await rowsOf(group)
      ok(rows.length > 0)
      deepStrictEqual(
        rows.map(row => [row.state, row.synced_offset]),
        rows.map(row => ['SYNCED', row.source_offset]),
      )
      strictEqual(
        rows.reduce((sum, row) => sum + row.source_offset, 0),
        read.get(group)?.length,
      )
    })
  await link.must('promote', [topic])
  await link.waitForStatus(topic, 'STOPPED')
  await assertHandedOver(world, topic)
  for (const reader of readers) {
    const group = `group-${readers.indexOf(reader)}`
    const seen = read.get(group) ?? []
    const count = total - seen.length
    seen.push(...(await reader.read({ ...hereAs(world), topic, group, count })))
    strictEqual(new Set(seen).size, total, `${reader.name}: ${seen.length} records`)
    strictEqual(seen.length, total, reader.name)
  }
})

/** How clients reach the destination. */
const hereAs = ({ sides, login }: MirrorWorld) => ({
  bootstrap: sides.mirror.bootstrap,
  ...(login ? { security: login } : {}),
})

/** Asks every broker: one of them coordinates the group. */
async function committedHere(group: string): Promise<number> {
  const request = { groups: [{ groupId: group, topics: null }] }
  const committed = world.sides.mirror.bootstrap.split(',').map(async address => {
    const ask = (connection: BrokerConnection) => connection.send(OffsetFetchApi, request, { version: 8 })
    const { response } = await askBroker(address, ask, world.login)
    return Number(response.groups[0]?.topics[0]?.partitions[0]?.committedOffset ?? 0)
  })
  return Math.max(...(await Promise.all(committed)))
}

test('a group that is in use here is left alone and listed; an excluded one is not looked at', { skip }, async () => {
  const { sides, link } = world
  await sides.source.createTopic('used')
  await sides.source.produce('used', { generate: { count: 30 } })
  await link.mirror('used')
  await waitUntilInStep(sides, 'used')
  const reading = { topic: 'used', count: 10 }
  const here = kafkaJsGroupReader.read({ ...reading, ...hereAs(world), group: 'both', count: 31 })
  // The other one reads once this one is a member that has committed: it would go on where the other one was otherwise.
  await eventually(async () => ok((await committedHere('both')) > 0))
  const there = { ...reading, bootstrap: sides.source.bootstrap }
  await kafkaJsGroupReader.read({ ...there, group: 'both' })
  await kafkaJsGroupReader.read({ ...there, group: 'private-one' })
  await eventually(async () => {
    const [row] = await rowsOf('both')
    // In use while its member is there; what that one has committed is somebody else's in any case.
    ok(row?.state === 'IN_USE' || row?.state === 'CONFLICT', row?.state)
    match(row.reason ?? '', /CONSUMER_GROUP_IN_USE_ERROR|which this link did not write/)
  })
  deepStrictEqual(await rowsOf('private-one'), [])
  // The mirror's member gets its last record once there is one.
  await sides.source.produce('used', { generate: { count: 5 } })
  ok((await here).length >= 31)
})
