// Two standalone Lockstep nodes with a bidirectional link between them, written by KafkaJS and read from disk; needs no Java.
import { strictEqual } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Admin, Partitioners } from 'kafkajs'
import { isControl, isTransactional } from '../../src/protocol/batches/batch-header.ts'
import { batchesIn, bytesOfBatch } from '../../src/protocol/batches/batch-iteration.ts'
import { decodeControlRecord } from '../../src/protocol/batches/control-batch.ts'
import { recordsOf } from '../../src/protocol/batches/records-of.ts'
import { patientKafkaJs } from '../clients/kafkajs.ts'
import { eventually } from '../eventually.ts'
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

/** The link of both is named `twin`, with these configs; west creates its half first. `properties` of both nodes. */
export async function startPeersWorld(configs: Configs = {}, properties: Configs = {}): Promise<PeersWorld> {
  const opened = new Opened()
  try {
    const [east, west] = await opened.all<[LockstepNode, LockstepNode]>([
      LockstepNode.start({ properties }),
      LockstepNode.start({ properties }),
    ])
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

/** The other node is ready: it has published its status, without which there is no link. */
const halfOf = (node: LockstepNode, { bootstrap, clusterId }: LockstepNode, configs: Configs) =>
  MirrorLink.createSide(node, 'twin', { bootstrap, clusterId, configs })

export const createTopic = (peer: Peer, topic: string, numPartitions: number): Promise<unknown> =>
  administer(peer, admin => admin.createTopics({ topics: [{ topic, numPartitions }] }))

/** KafkaJS as an administrator of that node. */
export async function administer<T>({ node }: Peer, action: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = patientKafkaJs(node.bootstrap).admin()
  await admin.connect()
  try {
    return await action(admin)
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
  // Markers are written after the answers.
  for (const partition of [0, 1])
    await eventually(async () => strictEqual(openIn(await segmentsOf({ node }, topic, partition)), 0))
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
export async function batchesOnDisk(peer: Peer, topic: string, partition: number): Promise<BatchOnDisk[]> {
  return (await segmentsOf(peer, topic, partition)).flatMap(batchesOf)
}

async function segmentsOf({ node }: Pick<Peer, 'node'>, topic: string, partition: number): Promise<Buffer[]> {
  const folder = join(node.dataDirectory, `${topic}-${partition}`)
  const names = (await readdir(folder)).filter(name => name.endsWith('.log')).sort()
  return await Promise.all(names.map(name => readFile(join(folder, name))))
}

/** A record that consumers of committed records read. */
export interface VisibleRecord {
  readonly partition: number
  readonly offset: number
  readonly value: string
}

/** All records of these partitions, those of transactions only if they were committed. */
export async function visibleRecords(
  peer: Peer,
  topic: string,
  partitions: readonly number[] = [0, 1],
): Promise<VisibleRecord[]> {
  const ofPartitions = partitions.map(async partition =>
    visibleIn(await segmentsOf(peer, topic, partition)).map(record => ({ partition, ...record })),
  )
  return (await Promise.all(ofPartitions)).flat()
}

/** The same in files of batches. */
export function visibleIn(files: readonly Buffer[]): Omit<VisibleRecord, 'partition'>[] {
  const found: Omit<VisibleRecord, 'partition'>[] = []
  const open = new Map<bigint, typeof found>()
  for (const file of files)
    for (const header of batchesIn(file)) {
      const { producerId } = header
      if (isControl(header)) {
        if (decodeControlRecord(file, header)?.type === 'commit') found.push(...(open.get(producerId) ?? []))
        open.delete(producerId)
        continue
      }
      const records = recordsOf(file, header).map(({ offset, value }) => ({ offset, value: String(value) }))
      if (isTransactional(header)) open.set(producerId, [...(open.get(producerId) ?? []), ...records])
      else found.push(...records)
    }
  return found
}

/** How many producers have a transaction that no marker has ended. */
function openIn(files: readonly Buffer[]): number {
  const open = new Set<bigint>()
  for (const header of files.flatMap(file => [...batchesIn(file)]))
    if (isControl(header)) open.delete(header.producerId)
    else if (isTransactional(header)) open.add(header.producerId)
  return open.size
}

export const valuesOf = async (peer: Peer, topic: string): Promise<string[]> =>
  (await visibleRecords(peer, topic)).map(({ value }) => value)

export const batchesOf = (file: Buffer): BatchOnDisk[] =>
  [...batchesIn(file)].map(header => {
    const bytes = Buffer.from(bytesOfBatch(file, header))
    bytes.writeInt32BE(0, 12)
    const digest = createHash('sha256').update(bytes).digest('base64url')
    const { baseOffset, lastOffset, recordCount } = header
    return { baseOffset, lastOffset, records: isControl(header) ? 0 : recordCount, digest }
  })
