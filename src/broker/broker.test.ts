/** The broker behind a real listener on a real disk: clients that we did not write create topics, produce and look. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Admin, Producer, stringSerializers } from '@platformatic/kafka'
import { CompressionTypes, Kafka, logLevel, Partitioners } from 'kafkajs'
import { systemClock } from '../core/clock.ts'
import { silentLogger } from '../core/logger.ts'
import { nodeFileSystem } from '../log/node-file-system.ts'
import { unwatchedProgress } from '../network/request-handler.ts'
import { listen } from '../network/server-listener.ts'
import { ProduceApi } from '../protocol/messages/00-produce.ts'
import { TestNode, testClient } from './fakes/test-node.ts'

/** A node whose advertised port is the one it listens on. */
async function startOnDisk() {
  const directory = await mkdtemp(join(tmpdir(), 'lockstep-broker-'))
  const node = await TestNode.start({ clock: systemClock, fs: nodeFileSystem(), directory })
  const server = await listen({
    host: '127.0.0.1',
    port: 0,
    name: 'PLAINTEXT',
    maxRequestBytes: 10 << 20,
    idleTimeoutMs: 60_000,
    served: node.broker.served,
    handler: node.broker.handle,
    clock: systemClock,
    logger: silentLogger,
  })
  await node.controller.changeListeners([
    { name: 'PLAINTEXT', host: '127.0.0.1', port: server.port, securityProtocol: 0 },
  ])
  return {
    node,
    bootstrap: `127.0.0.1:${server.port}`,
    port: server.port,
    async stop() {
      await server.close()
      await node.close()
      await rm(directory, { recursive: true })
    },
  }
}

test('KafkaJS creates a topic, produces with acks and idempotence, and reads the ends', async () => {
  const { bootstrap, stop } = await startOnDisk()
  const kafka = new Kafka({ clientId: 'kafkajs', brokers: [bootstrap], logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  strictEqual(await admin.createTopics({ topics: [{ topic: 'orders', numPartitions: 2 }] }), true)
  for (const idempotent of [false, true]) {
    const producer = kafka.producer({ idempotent, createPartitioner: Partitioners.DefaultPartitioner })
    await producer.connect()
    const [sent] = await producer.send({
      topic: 'orders',
      compression: CompressionTypes.GZIP,
      messages: [1, 2, 3].map(i => ({ partition: 1, key: `k${i}`, value: `v${i}` })),
    })
    strictEqual(sent?.baseOffset, idempotent ? '3' : '0')
    await producer.disconnect()
  }
  const ends = await admin.fetchTopicOffsets('orders')
  deepStrictEqual(
    ends.sort((a, b) => a.partition - b.partition).map(({ low, high }) => [low, high]),
    [
      ['0', '0'],
      ['0', '6'],
    ],
  )
  await admin.disconnect()
  await stop()
})

test('@platformatic/kafka produces and its admin lists', async () => {
  const { bootstrap, node, stop } = await startOnDisk()
  const shared = { clientId: 'platformatic', bootstrapBrokers: [bootstrap] }
  const admin = new Admin(shared)
  await admin.createTopics({ topics: ['orders'], partitions: 1, replicas: 1 })
  const producer = new Producer({ ...shared, serializers: stringSerializers })
  const messages = ['a', 'b'].map(value => ({ topic: 'orders', partition: 0, key: value, value }))
  await producer.send({ messages, acks: -1 })
  deepStrictEqual(await admin.listTopics(), ['orders'])
  strictEqual(node.partition('orders').log.logEndOffset, 2)
  await producer.close()
  await admin.close()
  await stop()
})

test('requests that nobody can answer close the connection, and others go on', async () => {
  const { port, node, stop } = await startOnDisk()
  const refused = (bytes: Buffer) =>
    new Promise<number>((resolve, reject) => {
      let received = 0
      const socket = connect(port, '127.0.0.1', () => socket.end(bytes))
      socket.on('data', chunk => {
        received += chunk.length
      })
      socket.on('error', reject)
      socket.on('close', () => resolve(received))
    })
  const frame = (apiKey: number, version: number, body: Buffer) => {
    const header = Buffer.alloc(14)
    header.writeInt32BE(10 + body.length, 0)
    header.writeInt16BE(apiKey, 4)
    header.writeInt16BE(version, 6)
    header.writeInt16BE(-1, 12)
    return Buffer.concat([header, body])
  }
  strictEqual(await refused(frame(0, 2, Buffer.alloc(20))), 0)
  strictEqual(await refused(frame(11, 0, Buffer.alloc(20))), 0)
  strictEqual(await refused(frame(3, 1, Buffer.from([0x7f, 0xff, 0xff, 0xff]))), 0)
  await node.createTopic('orders')
  strictEqual(node.partition('orders').log.logEndOffset, 0)
  await stop()
})

test('an unexpected failure is UNKNOWN_SERVER_ERROR in the right place, and is logged', async () => {
  const errors: string[] = []
  const logger = { ...silentLogger, error: (message: string) => errors.push(message), child: () => logger }
  const node = await TestNode.start({
    logger,
    writeGate: {
      refusal: () => {
        throw new Error('a bug')
      },
    },
  })
  await node.createTopic('orders')
  node.replicas.lookup = () => {
    throw new TypeError('a bug')
  }
  const request = {
    acks: 1,
    timeoutMs: 1,
    topicData: [{ name: 'orders', partitionData: [{ index: 0, records: null }] }],
  }
  const answer = await node.call(ProduceApi, request, { version: 9 })
  strictEqual(answer?.responses[0]?.partitionResponses[0]?.errorCode, -1)
  strictEqual(errors.includes('a request failed unexpectedly'), true)
  const unknown = {
    apiKey: 999,
    apiVersion: 0,
    correlationId: 1,
    clientId: null,
    body: Buffer.alloc(0),
    receivedMs: 0,
    progress: unwatchedProgress,
  }
  await rejects(node.broker.handle(unknown, testClient()), /not served/)
  await node.close()
})
