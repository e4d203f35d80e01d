/** Leading beside peers: who may join an ISR by the image, which followers lag, and the changes on their way to the controller. ReplicaSet owns one. */
import type { Clock, Timer } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import type { Partition } from '../partition.ts'
import { IsrChanges } from './isr-changes.ts'
import type { IsrHolder } from './isr-proposal.ts'
import type { LeaderContext } from './leader-context.ts'

export interface LeadershipOptions {
  readonly alterPartition: Controller['alterPartition']
  readonly image: () => MetadataImage | undefined
  /** Those that this node leads. */
  readonly partitions: () => Iterable<Partition>
  readonly lagTimeMaxMs: number
  readonly clock: Clock
  readonly logger: Logger
}

export class Leadership implements LeaderContext {
  readonly lagTimeMaxMs: number
  readonly #o: LeadershipOptions
  readonly #changes: IsrChanges
  #timer: Timer

  constructor(options: LeadershipOptions) {
    this.#o = options
    this.lagTimeMaxMs = options.lagTimeMaxMs
    this.#changes = new IsrChanges(options)
    this.#timer = this.#checkLater()
  }

  nowMs(): number {
    return this.#o.clock.monotonicMs()
  }

  isEligible(brokerId: number, brokerEpoch: number): boolean {
    const broker = this.#o.image()?.brokers.get(brokerId)
    if (!broker || broker.fenced || broker.inControlledShutdown) return false
    return brokerEpoch === -1 || brokerEpoch === broker.epoch
  }

  brokerEpoch(brokerId: number): number | undefined {
    return this.#o.image()?.brokers.get(brokerId)?.epoch
  }

  isrChangeWanted(partition: IsrHolder): void {
    this.#changes.add(partition)
  }

  close(): void {
    this.#timer.cancel()
    this.#changes.close()
  }

  /** As often as Kafka looks, so that a follower is out after one and a half lag times at most. */
  #checkLater(): Timer {
    return this.#o.clock.after(Math.max(1, this.lagTimeMaxMs / 2), () => {
      for (const partition of this.#o.partitions()) partition.checkFollowers()
      this.#timer = this.#checkLater()
    })
  }
}
