// Two standalone Lockstep nodes with a bidirectional link between them, written by KafkaJS and read from disk; needs no Java.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Partitioners } from 'kafkajs'
import { isControl } from '../../src/protocol/batches/batch-header.ts'
import { batchesIn, bytesOfBatch } from '../../src/protocol/batches/batch-iteration.ts'
import { patientKafkaJs } from '../clients/kafkajs.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { MirrorLink } from './mirror-link.ts'

/** One of the two. */
export interface Peer {
  readonly node: LockstepNode
  /** Its half of the link. */
  readonly link: MirrorLink
}

export interface PeersWorld {
  readonly east: Peer
  readonly west: Peer
  readonly close: () => Promise<void>
}

type Configs = Readonly<Record<string, string>>

/** The link of both is named `twin`; west creates its half first. */
export async function startPeersWorld(configs: Configs = {}): Promise<PeersWorld> {
  const opened = new Opened()
  try {
    const [east, west] = await opened.all<[LockstepNode, LockstepNode]>([LockstepNode.start(), LockstepNode.start()])
    const linked = { west: await halfOf(west, east, configs), east: await halfOf(east, west, configs) }
    return {
      east: { node: east, link: linked.east },
      west: { node: west, link: linked.west },
      close: () => opened.close(),
    }
  } catch (error) {
    await opened.close()
    throw error
  }
}

const halfOf = (node: LockstepNode, { bootstrap, clusterId }: LockstepNode, configs: Configs) =>
  MirrorLink.createSide(node, 'twin', { bootstrap, clusterId, configs })

export async function createTopic({ node }: Peer, topic: string, numPartitions: number): Promise<void> {
  const admin = patientKafkaJs(node.bootstrap).admin()
  await admin.connect()
  try {
    await admin.createTopics({ topics: [{ topic, numPartitions }] })
  } finally {
    await admin.disconnect()
  }
}

/** Records of several kinds in both partitions: plain ones, a committed transaction and an aborted one. */
export async function fill({ node }: Peer, topic: string, id: string): Promise<void> {
  const kafka = patientKafkaJs(node.bootstrap)
  const plain = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await plain.connect()
  try {
    for (let round = 0; round < 5; round++)
      for (const partition of [0, 1]) await plain.send({ topic, messages: messagesOf(`${id} ${round}`, partition) })
  } finally {
    await plain.disconnect()
  }
  const transactionalId = `${topic}-${id}`
  const createPartitioner = Partitioners.DefaultPartitioner
  const producer = kafka.producer({ transactionalId, idempotent: true, maxInFlightRequests: 1, createPartitioner })
  await producer.connect()
  try {
    for (const end of ['commit', 'abort'] as const) {
      const transaction = await producer.transaction()
      for (const partition of [0, 1]) await transaction.send({ topic, messages: messagesOf(`${id} ${end}`, partition) })
      await transaction[end]()
    }
  } finally {
    await producer.disconnect()
  }
}

const messagesOf = (text: string, partition: number) =>
  [1, 2, 3].map(number => ({ partition, key: `${number}`, value: `${text} ${number}` }))

/** A batch as it lies on disk, in all but its leader epoch, which each side has of its own. */
export interface BatchOnDisk {
  readonly baseOffset: number
  readonly lastOffset: number
  /** 0 for a marker. */
  readonly records: number
  readonly digest: string
}

/** Every batch of a partition of that node. */
export async function batchesOnDisk({ node }: Peer, topic: string, partition: number): Promise<BatchOnDisk[]> {
  const folder = join(node.dataDirectory, `${topic}-${partition}`)
  const names = (await readdir(folder)).filter(name => name.endsWith('.log')).sort()
  const files = await Promise.all(names.map(name => readFile(join(folder, name))))
  return files.flatMap(batchesOf)
}

export const batchesOf = (file: Buffer): BatchOnDisk[] =>
  [...batchesIn(file)].map(header => {
    const bytes = Buffer.from(bytesOfBatch(file, header))
    bytes.writeInt32BE(0, 12)
    const digest = createHash('sha256').update(bytes).digest('base64url')
    const { baseOffset, lastOffset, recordCount } = header
    return { baseOffset, lastOffset, records: isControl(header) ? 0 : recordCount, digest }
  })
