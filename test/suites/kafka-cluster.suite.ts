// The clusters of test/kafka and the Java driver themselves: what every other suite relies on.
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, test } from 'node:test'
import { eventually } from '../eventually.ts'
import { JavaDriver, JavaError } from '../java/driver.ts'
import { KafkaCluster, shortSession } from '../kafka/cluster.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'

const skip = skipWithout('java')
const opened = new Opened()
after(() => opened.close())

test('the driver answers side by side and reports errors by their Java class', { skip }, async () => {
  const driver = await opened.add(JavaDriver.start({ version: '3.9.2' }))
  const text = 'line\nseparator \u2028 and ünïcödé'
  const [first, second] = await Promise.all([driver.call('ping', { text }), driver.call('ping', { n: 2 })])
  deepStrictEqual(first, { echo: { text }, java: (first as { java: number }).java, kafka: '3.9.2' })
  deepStrictEqual((second as { echo: object }).echo, { n: 2 })
  await rejects(driver.call('no-such-thing'), error => {
    return error instanceof JavaError && error.javaClass === 'ClassNotFoundException'
  })
  await driver.close()
  await rejects(driver.call('ping'), /the Java driver ended/)
})

test('a controller with two brokers survives kill -9 of a broker, and leaves nothing behind', { skip }, async () => {
  const [cluster, driver] = await opened.all<[KafkaCluster, JavaDriver]>([
    KafkaCluster.start({ version: '4.3.1', brokers: 2, properties: shortSession }),
    JavaDriver.start({ version: '4.3.1' }),
  ])
  const { bootstrap } = cluster
  const topics = [{ name: 'replicated', replicationFactor: 2, configs: { 'min.insync.replicas': '1' } }]
  await driver.call('create-topics', { bootstrap, topics })
  const describe = async () => {
    const { partitions } = await driver.call<{
      partitions: [{ leader: number; isr: number[]; highWatermark: number }]
    }>('describe-topic', { bootstrap, topic: 'replicated' })
    return partitions[0]
  }
  await driver.call('produce', { bootstrap, topic: 'replicated', generate: { count: 10 } })
  await eventually(async () => strictEqual((await describe()).isr.length, 2))
  const { leader } = await describe()
  const pids = cluster.nodes.map(node => node.pid)
  strictEqual(pids.length, 3)
  await cluster.node(leader).kill()
  // The other one takes over once the session of the dead one has ended.
  await eventually(async () => {
    const { leader: next } = await describe()
    ok(next > 0 && next !== leader)
  })
  await driver.call('produce', { bootstrap, topic: 'replicated', generate: { count: 10 } })
  await cluster.node(leader).start()
  await eventually(async () => strictEqual((await describe()).isr.length, 2))
  strictEqual((await describe()).highWatermark, 20)
  const folders = cluster.nodes.map(node => node.dataDirectory)
  await cluster.close()
  ok(cluster.nodes.every(node => node.pid === undefined))
  ok(folders.every(folder => !existsSync(folder)))
})
