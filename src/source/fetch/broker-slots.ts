/** The fetch slots of one source broker, and which partition uses which; the fetcher keeps one per broker that leads something. */
import { FetchSlot, type SlotContext } from './fetch-slot.ts'
import type { PartitionFetch } from './partition-fetch.ts'

/** With `connectionsPerBroker` 1 (automatic) a broker gets a slot per partition, up to this many. */
const AUTOMATIC_SLOTS_MAX = 4

/** Partitions stay in their slot while the slots are about evenly used. */
export class BrokerSlots {
  readonly brokerId: number
  readonly #context: SlotContext
  readonly #slots: FetchSlot[] = []
  readonly #slotsMax: number

  constructor(brokerId: number, context: SlotContext) {
    this.brokerId = brokerId
    this.#context = context
    const { connectionsPerBroker } = context.settings.fetch
    this.#slotsMax = connectionsPerBroker > 1 ? connectionsPerBroker : AUTOMATIC_SLOTS_MAX
  }

  get isEmpty(): boolean {
    return this.#slots.length === 0
  }

  /** Puts the partition into the next fetch of a slot. */
  enqueue(partition: PartitionFetch): void {
    const current = this.#slots.find(slot => slot.members.has(partition))
    const best = this.#leastUsed(current)
    if (current && current !== best) current.remove(partition)
    best.enqueue(partition)
  }

  /** Forgets the partition; resolves when a slot that became useless has ended. */
  async remove(partition: PartitionFetch): Promise<void> {
    const slot = this.#slots.find(found => found.members.has(partition))
    slot?.remove(partition)
    if (!slot || slot.members.size > 0) return
    this.#slots.splice(this.#slots.indexOf(slot), 1)
    slot.close()
    await slot.ended
  }

  /** Ends all slots. */
  async close(): Promise<void> {
    const slots = this.#slots.splice(0)
    for (const slot of slots) slot.close()
    await Promise.all(slots.map(slot => slot.ended))
  }

  #leastUsed(current: FetchSlot | undefined): FetchSlot {
    const used = (slot: FetchSlot) => slot.members.size - (slot === current ? 1 : 0)
    const least = this.#slots.toSorted((a, b) => used(a) - used(b))[0]
    if (!least || (used(least) > 0 && this.#slots.length < this.#slotsMax)) {
      const slot = new FetchSlot(this.brokerId, this.#context)
      this.#slots.push(slot)
      return slot
    }
    return current && used(current) <= used(least) + 1 ? current : least
  }
}
