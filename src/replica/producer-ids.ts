/** Hands out producer ids of this node from blocks of the controller; InitProducerId and the promotion of mirrors use it. */
import { SerialQueue } from '../core/serial-queue.ts'
import type { Controller } from '../metadata/controller-port.ts'

export class ProducerIds {
  readonly #controller: Pick<Controller, 'allocateProducerIds' | 'skipProducerIdsBelow'>
  readonly #queue = new SerialQueue()
  #next = 0n
  #end = 0n

  constructor(controller: Pick<Controller, 'allocateProducerIds' | 'skipProducerIdsBelow'>) {
    this.#controller = controller
  }

  /** A producer id that was never handed out. */
  next(): Promise<bigint> {
    return this.#queue.run(async () => {
      if (this.#next >= this.#end) {
        const block = await this.#controller.allocateProducerIds()
        this.#next = block.firstId
        this.#end = block.firstId + BigInt(block.length)
      }
      return this.#next++
    })
  }

  /** The producer-id barrier: every id handed out after it resolves is above `producerId`, those of the present block too. */
  raiseAbove(producerId: bigint): Promise<void> {
    return this.#queue.run(async () => {
      await this.#controller.skipProducerIdsBelow(producerId)
      if (this.#next <= producerId) this.#next = producerId + 1n
    })
  }
}
