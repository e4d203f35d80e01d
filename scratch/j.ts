import { KafkaCluster } from '../test/kafka/cluster.ts'
import { startJoinedNode } from '../test/kafka/joined-node.ts'
const t0 = Date.now()
const cluster = await KafkaCluster.start({ version: '4.3.1', brokers: 2 })
console.log('cluster', Date.now() - t0)
try {
  const node = await startJoinedNode(cluster)
  console.log('node', Date.now() - t0)
  console.log(node.output.slice(-3000))
  await node.close()
} catch (e) { console.log('failed', Date.now() - t0, e) }
await cluster.close()
