// What clients of the two clusters do: they produce, also in transactions over several topics, and logs get partitions, are deleted from the start and compacted.
import { batchAt } from '../../../src/link/fakes/engine-world.ts'
import type { FakePartition } from '../../../src/link/fakes/fake-mirror-log.ts'
import { isControl, isTransactional } from '../../../src/protocol/batches/batch-header.ts'
import { buildEndMarker } from '../../../src/protocol/batches/control-batch.ts'
import { type PeersWorld, placeOf } from './peers-world.ts'
import type { SimulatedPeer } from './simulated-peer.ts'

/** A batch that its producer was told is kept; every transaction, and everything else, has a producer of its own. */
export interface Acknowledged {
  readonly producerId: bigint
  readonly place: string
  readonly records: number
  readonly by: string
}

interface Place {
  readonly topic: string
  readonly partition: number
}

interface OpenTransaction {
  readonly side: SimulatedPeer
  readonly places: Place[]
}

/** Partitions that a topic has at most. */
const partitionsMax = 3

export const keyOf = (producerId: bigint, place: string): string => `${producerId}@${place}`

export class PeerClients {
  readonly #world: PeersWorld
  readonly acknowledged: Acknowledged[] = []
  /** What retention, compaction or people deleted on either side; as `keyOf`. */
  readonly deleted = new Set<string>()
  readonly #open = new Map<bigint, OpenTransaction>()
  #producers = 100n

  constructor(world: PeersWorld) {
    this.#world = world
    for (const side of world.sides) side.cluster.cluster.coordinator = topic => this.#abortAll(side, topic)
  }

  /** Somebody produces, if the side takes it. */
  produce(side: SimulatedPeer, topic: string, { transactional = false } = {}): void {
    if (!side.isWritable(topic)) return
    const producerId = ++this.#producers
    const open: OpenTransaction = { side, places: [] }
    const topics = transactional
      ? this.#world.topics.filter(name => name === topic || this.#world.random() < 0.5)
      : [topic]
    for (const name of topics)
      if (side.isWritable(name)) open.places.push(this.#write(side, name, { producerId, transactional }))
    if (transactional) this.#open.set(producerId, open)
    const places = open.places.map(place => placeOf(place.topic, place.partition)).join(', ')
    this.#world.note(`${side.name} takes ${producerId} in ${places}${transactional ? ', in a transaction' : ''}`)
  }

  #write(side: SimulatedPeer, topic: string, by: { producerId: bigint; transactional: boolean }): Place {
    const { below } = { below: (limit: number) => this.#world.below(limit) }
    const partition = below(side.logs(topic).length)
    const records = 1 + below(3)
    side.cluster.write(topic, batchAt(side.cluster.end(topic, partition) ?? 0, records, by), partition)
    this.acknowledged.push({ producerId: by.producerId, place: placeOf(topic, partition), records, by: side.name })
    return { topic, partition }
  }

  /** Their coordinators end what is open, where the topics take markers. */
  endTransactions(): void {
    for (const producerId of [...this.#open.keys()]) this.#end(producerId, 'commit')
  }

  #abortAll(side: SimulatedPeer, topic: string): { aborted: number; ending: number } {
    const open = [...this.#open].filter(([, of]) => of.side === side && of.places.some(place => place.topic === topic))
    for (const [producerId] of open) this.#end(producerId, 'abort')
    return { aborted: open.length, ending: 0 }
  }

  #end(producerId: bigint, type: 'commit' | 'abort'): void {
    const open = this.#open.get(producerId)
    if (!open) return
    for (const place of [...open.places]) {
      const log = open.side.logs(place.topic)[place.partition]
      if (!log || !open.side.takesMarkers(place.topic)) continue
      open.places.splice(open.places.indexOf(place), 1)
      if (!log.openTransactions().some(transaction => transaction.producerId === producerId)) continue
      const { logEndOffset: offset, leaderEpoch } = log
      const marker = { producerId, producerEpoch: 0, coordinatorEpoch: 0, offset, timestamp: 0n, leaderEpoch }
      log.append(buildEndMarker({ type, ...marker }))
      log.flushedOffset = log.logEndOffset
      this.#world.note(`${open.side.name} writes ${type} of ${producerId} in ${placeOf(place.topic, place.partition)}`)
    }
    if (open.places.length === 0) this.#open.delete(producerId)
  }

  /** Somebody adds a partition, where that may be done. */
  grow(side: SimulatedPeer, topic: string, count = side.logs(topic).length + 1): void {
    const found = side.cluster.cluster.topicNamed(topic)
    if (!found || !side.isWritable(topic) || count > partitionsMax) return
    side.cluster.cluster.growTopic(found.topicId, count)
    this.#world.note(`${topic} has ${count} partitions at ${side.name}`)
  }

  /** Retention takes the oldest batches of a topic that is written here. */
  retain(side: SimulatedPeer, topic: string): void {
    const partition = this.#world.below(side.logs(topic).length)
    const log = side.logs(topic)[partition]
    const batches = log?.batches.slice(0, this.#world.below(3)) ?? []
    const last = batches.at(-1)
    if (!log || !last || !side.isWritable(topic)) return
    if (log.openTransactions().some(({ firstOffset }) => firstOffset <= last.header.lastOffset)) return
    log.logStartOffset = last.header.lastOffset + 1
    this.#take(log, batches, placeOf(topic, partition))
    this.#world.note(`retention at ${side.name}: ${placeOf(topic, partition)} begins at ${log.logStartOffset}`)
  }

  /** The cleaner takes a batch out of the middle; mirrors are cleaned, too. */
  compact(side: SimulatedPeer, topic: string): void {
    const partition = this.#world.below(side.logs(topic).length)
    const log = side.logs(topic)[partition]
    const batch = log?.batches[this.#world.below(log.batches.length - 1)]
    if (side.isDead || !log || !batch || batch === log.batches.at(-1)) return
    if (isControl(batch.header) || isTransactional(batch.header) || batch.header.lastOffset >= log.flushedOffset) return
    log.cleanedOffset = Math.max(log.cleanedOffset, batch.header.lastOffset + 1)
    this.#take(log, [batch], placeOf(topic, partition))
    const { baseOffset, lastOffset } = batch.header
    this.#world.note(`compaction at ${side.name}: ${placeOf(topic, partition)} loses ${baseOffset}-${lastOffset}`)
  }

  #take(log: FakePartition, batches: FakePartition['batches'], place: string): void {
    for (const { header } of batches) this.deleted.add(keyOf(header.producerId, place))
    log.batches = log.batches.filter(batch => !batches.includes(batch))
  }

  /** People delete a topic: what only it has goes with it, and they know; offsets of groups in it go, too. */
  deleteTopic(side: SimulatedPeer, topic: string): void {
    for (const [partition, log] of side.logs(topic).entries())
      for (const { header } of log.batches) this.deleted.add(keyOf(header.producerId, placeOf(topic, partition)))
    const { cluster } = side.cluster
    cluster.deleteTopic(topic)
    for (const { offsets } of cluster.groups.values())
      for (const [place, offset] of [...offsets]) if (offset.topic === topic) offsets.delete(place)
    this.#world.note(`${topic} is deleted at ${side.name}`)
  }
}
