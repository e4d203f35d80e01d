// Watches that nothing is lost without a word: what a restore cuts off is exported, or counted to the record before it goes.

import { decodeStateRecord } from '../../../src/link/state-records/record-codec.ts'
import { isControl } from '../../../src/protocol/batches/batch-header.ts'
import { batchesIn } from '../../../src/protocol/batches/batch-iteration.ts'
import { keyOf, type PeerClients } from './peer-clients.ts'
import { type PeersWorld, placeOf } from './peers-world.ts'
import type { SimulatedPeer } from './simulated-peer.ts'

export class LossWatch {
  readonly #world: PeersWorld
  readonly #clients: PeerClients
  readonly #read = new Map<SimulatedPeer, { records: number; exports: number }>()
  /** Restores that were seen. */
  readonly #known = new Set<string>()
  /** By side, place and cut: records that a restore says it cuts off and exports. */
  readonly #exported = new Map<string, number>()
  /** By place: records that restores said they cut off, and did not export. */
  readonly #declared = new Map<string, number>()
  restores = 0

  constructor(world: PeersWorld, clients: PeerClients) {
    this.#world = world
    this.#clients = clients
  }

  /** To be called again and again: reads what is new. Throws where what was exported is not what was counted. */
  look(): void {
    for (const side of this.#world.sides) {
      const read = this.#read.get(side) ?? { records: 0, exports: 0 }
      this.#read.set(side, read)
      const { stateRecords } = side.cluster.cluster
      for (; read.records < stateRecords.length; read.records++) this.#see(side, read.records)
      for (; read.exports < side.cluster.exports.length; read.exports++) this.#compare(side, read.exports)
    }
  }

  #see(side: SimulatedPeer, index: number): void {
    const record = side.cluster.cluster.stateRecords[index]
    const change = record && decodeStateRecord(record)
    if (change?.kind !== 'mirror' || change.record.state !== 'PENDING_RESTORE') return
    const { restore, topicId, stateEpoch, mirrorTopic } = change.record
    const id = `${topicId} ${stateEpoch} ${change.record.createdTimeMs}`
    if (!restore || this.#known.has(id)) return
    this.#known.add(id)
    this.restores++
    for (const { partition, offset, messages } of restore.cuts) {
      const place = placeOf(mirrorTopic, partition)
      if (restore.exportsTail) this.#exported.set(`${side.name} ${place} ${offset}`, messages)
      else this.#declared.set(place, (this.#declared.get(place) ?? 0) + messages)
    }
  }

  #compare(side: SimulatedPeer, index: number): void {
    const tail = side.cluster.exports[index]
    if (!tail) return
    const place = placeOf(tail.topic, tail.partition)
    const told = this.#exported.get(`${side.name} ${place} ${tail.baseOffset}`)
    const batches = [...batchesIn(tail.bytes)].filter(header => !isControl(header))
    const records = batches.reduce((sum, { recordCount }) => sum + recordCount, 0)
    if (records !== told)
      throw new Error(`${side.name} exported ${records} records of ${place} from ${tail.baseOffset}, and told ${told}`)
  }

  /** Data in a log of either side, or exported from one. */
  #kept(): Set<string> {
    const kept = new Set<string>()
    const keep = (bytes: Buffer, place: string) => {
      for (const header of batchesIn(bytes)) if (!isControl(header)) kept.add(keyOf(header.producerId, place))
    }
    for (const side of this.#world.sides) {
      for (const topic of this.#world.topics)
        for (const [partition, log] of side.logs(topic).entries())
          for (const { bytes } of log.batches) keep(bytes, placeOf(topic, partition))
      for (const { bytes, topic, partition } of side.cluster.exports) keep(bytes, placeOf(topic, partition))
    }
    return kept
  }

  /** Everything that was acknowledged is there, exported, counted, or was deleted by somebody. */
  nothingLost(): void {
    this.look()
    const kept = this.#kept()
    const left = new Map(this.#declared)
    for (const { producerId, place, records, by } of this.#clients.acknowledged) {
      const key = keyOf(producerId, place)
      if (kept.has(key) || this.#clients.deleted.has(key)) continue
      const declared = (left.get(place) ?? 0) - records
      if (declared < 0) throw new Error(`lost without a word: ${producerId} in ${place}, acknowledged by ${by}`)
      left.set(place, declared)
    }
  }
}
