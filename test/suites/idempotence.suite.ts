// The Java producer with idempotence when answers are lost and the node is killed: every record once, in order.
import { deepStrictEqual, ok } from 'node:assert/strict'
import { after, test } from 'node:test'
import { seededRandom } from '../../src/core/random.ts'
import { freePorts } from '../free-port.ts'
import { LossyProxy } from '../hostile/lossy-proxy.ts'
import { JavaDriver } from '../java/driver.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { type ProduceArgs, TopicSide } from '../scenarios/topic-side.ts'

const skip = skipWithout('java')
const RECORDS = 3000
const opened = new Opened()
after(() => opened.close())

/** Small batches, many in flight, quick retries. */
const properties = {
  'linger.ms': '0',
  'batch.size': '150',
  'max.in.flight.requests.per.connection': '5',
  'reconnect.backoff.ms': '5',
  'reconnect.backoff.max.ms': '50',
  'retry.backoff.ms': '10',
  'retry.backoff.max.ms': '100',
  'request.timeout.ms': '5000',
  'delivery.timeout.ms': '300000',
  'max.block.ms': '300000',
}

const numbered = (): ProduceArgs => ({
  partition: 0,
  properties,
  records: Array.from({ length: RECORDS }, (_, i) => ({ key: null, value: `record ${i}` })),
})

/** A node whose clients are told to come through the proxy. */
async function start(topic: string) {
  const [proxyPort = 0] = await freePorts(1)
  const [node, driver] = await opened.all<[LockstepNode, JavaDriver]>([
    LockstepNode.start({ properties: { 'advertised.listeners': `PLAINTEXT://127.0.0.1:${proxyPort}` } }),
    JavaDriver.start({ version: '4.3.1' }),
  ])
  const nodePort = Number(node.bootstrap.split(':').at(-1))
  const proxy = await opened.add(LossyProxy.start(proxyPort, nodePort, seededRandom(5)))
  const side = new TopicSide(driver, { bootstrap: `127.0.0.1:${proxyPort}`, dataDirectory: node.dataDirectory })
  await side.createTopic(topic)
  return { node, proxy, side }
}

async function expectEachOnce(side: TopicSide, topic: string): Promise<void> {
  const [partition] = Object.values(await side.consume(topic, { content: true }))
  const values = partition?.records.map(row => row[7])
  deepStrictEqual(
    values,
    Array.from({ length: RECORDS }, (_, i) => `record ${i}`),
  )
}

test('answers that are lost make no record come twice or out of order', { skip }, async () => {
  const { proxy, side } = await start('lossy')
  proxy.lossRate = 0.05
  await side.produce('lossy', numbered())
  proxy.lossRate = 0
  ok(proxy.cuts >= 5, `${proxy.cuts} connections were cut`)
  await expectEachOnce(side, 'lossy')
})

test('a node that is killed over and over keeps every record once and in order', { skip }, async () => {
  const { node, proxy, side } = await start('killed')
  proxy.lossRate = 0.01
  let kills = 0
  let done = false
  const producing = side.produce('killed', numbered()).finally(() => {
    done = true
  })
  while (!done && kills < 3) {
    await node.crash()
    kills++
  }
  await producing
  proxy.lossRate = 0
  ok(kills > 0)
  await expectEachOnce(side, 'killed')
})
