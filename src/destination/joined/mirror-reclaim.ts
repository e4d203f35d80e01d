/**
 * Before this node mirrors on where others led meanwhile: their markers behind the mirrored records are cut, by which followers cut
 * them too; where they wrote records, the mirror fails and the partition is theirs. Called by the joined destination's mirror logs.
 */
import type { Uuid } from '../../core/uuid.ts'
import type { MirrorPartition } from '../../replica/mirror-partition.ts'
import type { Partition } from '../../replica/partition.ts'
import { foreignTail } from './foreign-tail.ts'

/** What the replayed state says about a partition; `mirror`: only what was appended in these leader epochs came from its source. */
export type ReclaimedLeadership =
  | { readonly kind: 'unknown' | 'ordinary' }
  | { readonly kind: 'mirror'; readonly ledEpochs: ReadonlySet<number> }

export interface MirrorReclaimOptions {
  readonly leadershipOf: (
    topicId: Uuid,
    of: { readonly topic: string; readonly partition: number },
  ) => ReclaimedLeadership
  /** Durable when it resolves. */
  readonly writtenByOthers: (
    topicId: Uuid,
    of: { readonly partition: number; readonly reason: string },
  ) => Promise<void>
  /** They are cut next: durable when it resolves, or the cut would go untold if this node died, or could not write, behind it. */
  readonly markersCut: (topicId: Uuid, of: { readonly partition: number; readonly reason: string }) => Promise<void>
  /** Gives the partition to the Java brokers that have it. */
  readonly handBack: (topicId: Uuid, partition: number) => Promise<void>
  /** Resolves when this node leads the partition in a later epoch. */
  readonly fork: (topicId: Uuid, partition: number) => Promise<void>
}

export class MirrorReclaim {
  readonly #o: MirrorReclaimOptions
  /** Leader epochs in which partitions were found to be as mirrored; nobody else appends in an epoch of ours. */
  readonly #reclaimed = new WeakMap<Partition, number>()

  constructor(options: MirrorReclaimOptions) {
    this.#o = options
  }

  /** Resolves when the log ends with what was mirrored. Rejects where it does not, or where that is not known yet. */
  async reclaim(partition: Partition, mirror: Pick<MirrorPartition, 'truncateTo'>): Promise<void> {
    const { topicId, topic, index, log, leaderEpoch } = partition
    if (this.#reclaimed.get(partition) === leaderEpoch) return
    const leadership = this.#o.leadershipOf(topicId, { topic, partition: index })
    if (leadership.kind === 'unknown') throw new Error('what was mirrored is not known yet')
    if (leadership.kind === 'mirror') {
      const tail = await foreignTail(log, leadership.ledEpochs)
      if (tail?.firstRecord !== undefined) await this.#giveUp(partition, tail.firstRecord)
      if (tail) await this.#cut(partition, mirror, tail)
    }
    this.#reclaimed.set(partition, leaderEpoch)
  }

  beginEpoch({ topicId, index }: Partition): Promise<void> {
    return this.#o.fork(topicId, index)
  }

  /** Acknowledged records of others are never cut. */
  async #giveUp({ topicId, index }: Partition, offset: number): Promise<never> {
    const reason = `somebody else wrote records from offset ${offset} on, while another broker led it`
    await this.#o.writtenByOthers(topicId, { partition: index, reason })
    await this.#o.handBack(topicId, index)
    throw new Error(reason)
  }

  async #cut(
    { topicId, index, log }: Partition,
    mirror: Pick<MirrorPartition, 'truncateTo'>,
    { start, markers }: { readonly start: number; readonly markers: number },
  ): Promise<void> {
    const reason = `${markers} markers of others were cut (offsets ${start} to ${log.logEndOffset - 1})`
    await this.#o.markersCut(topicId, { partition: index, reason })
    await mirror.truncateTo(start)
  }
}
