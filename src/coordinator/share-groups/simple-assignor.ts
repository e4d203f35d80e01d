/**
 * The assignor of share groups, `simple`: every partition goes to as many members as it takes to give each member about the same
 * number; members keep what they had where that is balanced. make-share-target.ts calls it.
 */
import type { Uuid } from '../../core/uuid.ts'
import { addPartition, contains, type Partitions } from '../consumer-groups/partition-sets.ts'

export interface SharingMember {
  readonly id: string
  /** Topics that exist. */
  readonly topics: ReadonlySet<Uuid>
  /** The target that the member had before. */
  readonly before: Partitions
}

interface Place {
  readonly topicId: Uuid
  readonly partition: number
}

/**
 * Partitions by member. Where all subscribe to the same topics, their partitions are shared out together, otherwise those of each
 * topic among its subscribers.
 */
export function assignSimply(
  members: readonly SharingMember[],
  assignable: (topicId: Uuid) => Iterable<number>,
): Map<string, Partitions> {
  const given = new Map(members.map(({ id }) => [id, new Map<Uuid, Set<number>>()]))
  for (const { topics, sharers } of pools(members)) {
    const places = topics.flatMap(topicId => [...assignable(topicId)].map(partition => ({ topicId, partition })))
    if (places.length > 0) new Pool(sharers, places).shareOut(given)
  }
  return given
}

function pools(members: readonly SharingMember[]): { topics: Uuid[]; sharers: readonly SharingMember[] }[] {
  const [first] = members
  if (!first) return []
  const isOne = members.every(
    ({ topics }) => topics.size === first.topics.size && [...topics].every(topicId => first.topics.has(topicId)),
  )
  if (isOne) return [{ topics: [...first.topics], sharers: members }]
  const all = new Set(members.flatMap(({ topics }) => [...topics]))
  return [...all].map(topicId => ({
    topics: [topicId],
    sharers: members.filter(({ topics }) => topics.has(topicId)),
  }))
}

/** Members and places by their numbers. */
class Pool {
  readonly #members: readonly SharingMember[]
  readonly #places: readonly Place[]
  /** How many members a place may have. */
  readonly #sharing: number
  readonly #has: Set<number>[]
  readonly #holders: Set<number>[]

  constructor(members: readonly SharingMember[], places: readonly Place[]) {
    this.#members = members
    this.#places = places
    this.#sharing = Math.ceil(members.length / places.length)
    this.#has = members.map(() => new Set())
    this.#holders = places.map(() => new Set())
  }

  shareOut(given: ReadonlyMap<string, Map<Uuid, Set<number>>>): void {
    this.#keep()
    this.#thinOut()
    this.#fill()
    this.#members.forEach(({ id }, member) => {
      const own = given.get(id)
      if (!own) return
      for (const place of this.#hasOf(member)) {
        const found = this.#places[place]
        if (found) addPartition(own, found.topicId, found.partition)
      }
    })
  }

  /** The shares of all add up to every place being shared as often as it may be. */
  #dueTo(member: number): number {
    const precise = (this.#sharing * this.#places.length) / this.#members.length
    return Math.ceil(precise * (member + 1)) - Math.ceil(precise * member)
  }

  #keep(): void {
    this.#members.forEach(({ before }, member) => {
      this.#places.forEach(({ topicId, partition }, place) => {
        if (contains(before, topicId, partition)) this.#take(member, place)
      })
    })
  }

  /** Takes away what makes places shared too often (first from those who have too much), then what members have too much. */
  #thinOut(): void {
    const surplus = (member: number) => this.#hasOf(member).size - this.#dueTo(member)
    this.#places.forEach((_, place) => {
      const excess = this.#holdersOf(place).size - this.#sharing
      if (excess <= 0) return
      const fullest = [...this.#holdersOf(place)].sort((a, b) => surplus(b) - surplus(a))
      for (const member of fullest.slice(0, excess)) this.#giveUp(member, place)
    })
    this.#members.forEach((_, member) => {
      const excess = surplus(member)
      if (excess <= 0) return
      const mostShared = [...this.#hasOf(member)].sort((a, b) => this.#holdersOf(b).size - this.#holdersOf(a).size)
      for (const place of mostShared.slice(0, excess)) this.#giveUp(member, place)
    })
  }

  /** Gives everybody the least shared places. One that has none finds a taker: somebody has less than is due, or all were full. */
  #fill(): void {
    const byHolders = Array.from({ length: this.#sharing + 1 }, () => new Set<number>())
    this.#holders.forEach((holders, place) => {
      byHolders[holders.size]?.add(place)
    })
    this.#members.forEach((_, member) => {
      const has = this.#hasOf(member)
      for (let missing = this.#dueTo(member) - has.size; missing > 0; missing--) {
        const place = leastShared(byHolders.slice(0, this.#sharing), has)
        if (place === undefined) return
        byHolders[this.#holdersOf(place).size]?.delete(place)
        this.#take(member, place)
        byHolders[this.#holdersOf(place).size]?.add(place)
      }
    })
  }

  #hasOf(member: number): ReadonlySet<number> {
    return this.#has[member] ?? new Set()
  }

  #holdersOf(place: number): ReadonlySet<number> {
    return this.#holders[place] ?? new Set()
  }

  #take(member: number, place: number): void {
    this.#has[member]?.add(place)
    this.#holders[place]?.add(member)
  }

  #giveUp(member: number, place: number): void {
    this.#has[member]?.delete(place)
    this.#holders[place]?.delete(member)
  }
}

function leastShared(byHolders: readonly ReadonlySet<number>[], has: ReadonlySet<number>): number | undefined {
  for (const places of byHolders) for (const place of places) if (!has.has(place)) return place
  return undefined
}
