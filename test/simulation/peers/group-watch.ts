// Consumer groups that move between the two sides, and the check that none ever goes over a record that it has not seen.
import { isControl } from '../../../src/protocol/batches/batch-header.ts'
import { keyOf, type PeerClients } from './peer-clients.ts'
import { type PeersWorld, placeOf } from './peers-world.ts'
import type { SimulatedPeer } from './simulated-peer.ts'

interface Group {
  readonly name: string
  home: SimulatedPeer
  /** Batches of which it has seen something, as `keyOf`, and up to where. */
  readonly seen: Map<string, number>
}

export class GroupWatch {
  readonly #world: PeersWorld
  readonly #clients: PeerClients
  readonly #groups: readonly Group[]
  consumed = 0

  constructor(world: PeersWorld, clients: PeerClients) {
    this.#world = world
    this.#clients = clients
    this.#groups = ['billing', 'search'].map(name => ({ name, home: world.east, seen: new Map() }))
  }

  /** Members of a group go on at the other side. */
  move(): void {
    const group = this.#world.pick(this.#groups)
    if (!group) return
    group.home = this.#world.other(group.home)
    this.#world.note(`${group.name} goes on at ${group.home.name}`)
  }

  /** Every group reads something of everything, from where its offset says, and commits. Throws if that is behind something that it has never seen. */
  consume(): void {
    for (const group of this.#groups)
      for (const topic of this.#world.topics)
        for (const partition of group.home.logs(topic).keys()) this.#consume(group, topic, partition)
  }

  #consume(group: Group, topic: string, partition: number): void {
    const { home, name, seen } = group
    const log = home.logs(topic)[partition]
    if (home.isDead || !log) return
    const position = this.#check(group, topic, partition)
    if (position === undefined || position > log.logEndOffset) return
    const place = placeOf(topic, partition)
    let next = Math.max(position, log.logStartOffset)
    for (const { header } of log.batches.slice(0, this.#world.below(log.batches.length + 1))) {
      if (header.lastOffset < next || header.lastOffset >= log.flushedOffset) continue
      if (!isControl(header)) seen.set(keyOf(header.producerId, place), header.lastOffset + 1)
      next = header.lastOffset + 1
      this.consumed++
    }
    if (next === position) return
    home.cluster.cluster.commit(name, [{ topic, partition, offset: next, metadata: '', leaderEpoch: 1 }])
  }

  /** From where it would go on there; undefined = it could not. */
  #check({ name, home, seen }: Group, topic: string, partition: number): number | undefined {
    const log = home.logs(topic)[partition]
    const place = placeOf(topic, partition)
    const committed = home.cluster.cluster.groups.get(name)?.offsets.get(`${topic}/${partition}`)?.offset
    if (!log) return undefined
    const position = committed ?? log.logStartOffset
    for (const { header } of log.batches) {
      const { lastOffset, producerId } = header
      const key = keyOf(producerId, place)
      if (isControl(header) || lastOffset >= position || lastOffset < log.logStartOffset) continue
      if (this.#clients.deleted.has(key) || (seen.get(key) ?? 0) > lastOffset) continue
      throw new Error(
        `${name} would go on at ${position} of ${place} at ${home.name}, and has never seen ${producerId}`,
      )
    }
    return position
  }

  /** No group has an offset behind the end of a topic whose role is settled. */
  checkEnds(): void {
    for (const side of this.#world.sides)
      for (const topic of this.#world.topics)
        for (const [partition, log] of side.logs(topic).entries())
          for (const { name } of this.#groups) {
            const committed = side.cluster.cluster.groups.get(name)?.offsets.get(`${topic}/${partition}`)?.offset ?? 0
            if (committed > log.logEndOffset)
              throw new Error(
                `${name} has offset ${committed} of ${placeOf(topic, partition)} at ${side.name}, which ends at ${log.logEndOffset}`,
              )
          }
  }

  /** Wherever its members went on, none would go over anything. */
  checkBoth(): void {
    for (const group of this.#groups)
      for (const home of this.#world.sides)
        for (const topic of this.#world.topics)
          for (const partition of home.logs(topic).keys()) this.#check({ ...group, home }, topic, partition)
  }

  /** What is committed on both sides, to see whether it swings. */
  snapshot(): string {
    const of = ({ name, cluster }: SimulatedPeer) =>
      [...cluster.cluster.groups].map(([group, { offsets }]) =>
        [name, group, ...[...offsets].map(([place, { offset }]) => `${place}:${offset}`).sort()].join(' '),
      )
    return this.#world.sides.flatMap(of).sort().join('; ')
  }
}
