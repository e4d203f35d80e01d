/** 200 mirror partitions (2 000 in `npm run soak`) led by one node in an Apache Kafka cluster: created together, written to, through kill -9 and a clean stop; no leader epoch changes but by the stop. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { residentMib } from '../hostile/node-memory.ts'
import { skipWithout } from '../requirements.ts'
import { ManyMirrors } from '../scenarios/many-mirrors.ts'

const skip = skipWithout('java')
const PARTITIONS = Number(process.env['LOCKSTEP_JOINED_PARTITIONS'] ?? 200)
const plan = { topics: PARTITIONS / 50, partitions: 50 }
let world: ManyMirrors

before(async () => {
  if (skip === false) world = await ManyMirrors.start(plan)
})
after(() => world?.close())

test('every partition is on every Java replica, keeps its leader under load and over kill -9, and comes back after a stop', {
  skip,
  timeout: 240_000 + 240 * PARTITIONS,
}, async () => {
  await world.mirrorAll()
  // In bursts that touch every partition, and one record at a time here and there.
  for (let round = 1; round <= 3; round++) await world.produceToEach(round)
  await world.produceFor(200, 3)
  await world.inStep()
  await world.assertReplicasEqual()
  strictEqual(await world.epochChanges(), 0)
  const resident = (await residentMib(world.node.pid)) ?? 0
  ok(resident < 400 + PARTITIONS / 10, `${resident} MiB with ${PARTITIONS} partitions`)

  await world.node.kill()
  await world.produceToEach(1)
  await world.node.start()
  await world.inStep()
  strictEqual(await world.epochChanges(), 0)

  await world.node.stop()
  await world.produceToEach(1)
  await world.node.start()
  await world.inStep()
  await world.assertReplicasEqual()
  deepStrictEqual(await world.failedMirrors(), [])
})
