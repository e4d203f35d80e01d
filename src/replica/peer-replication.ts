/** The part of a ReplicaSet that only a joined node has: fetchers, ISR changes, and the checkpoint of high watermarks that move without this node's doing. */
import type { Timer } from '../core/clock.ts'
import type { MetadataImage } from '../metadata/metadata-image.ts'
import type { FollowedPartition } from './following/followed-partition.ts'
import { ReplicaFetchers } from './following/replica-fetchers.ts'
import type { HostedReplicas } from './hosted-replicas.ts'
import { Leadership } from './leading/leadership.ts'
import type { Replica } from './replica.ts'
import { type ReplicaPeers, replicationSettings } from './replica-peers.ts'
import type { ReplicaSetOptions } from './replica-set-options.ts'

export interface PeerReplicationOptions
  extends Pick<ReplicaSetOptions, 'brokerId' | 'logs' | 'file' | 'clock' | 'logger'> {
  readonly peers: ReplicaPeers
  readonly image: () => MetadataImage | undefined
  readonly hosted: HostedReplicas
  readonly storageFailed: (partition: FollowedPartition, error: unknown) => void
  readonly flushSoon: (partition: FollowedPartition) => void
}

/** Kafka's `replica.high.watermark.checkpoint.interval.ms`. */
const CHECKPOINT_MS = 5000

export class PeerReplication {
  /** For led partitions. */
  readonly leadership: Leadership
  readonly #o: PeerReplicationOptions
  readonly #fetchers: ReplicaFetchers
  readonly #noted = new WeakMap<Replica, number>()
  #timer: Timer

  constructor(options: PeerReplicationOptions) {
    this.#o = options
    const { peers, brokerId, hosted, file } = options
    const { alterPartition, connections, brokerEpoch } = peers
    const { lagTimeMaxMs, backoffMs, limits } = replicationSettings(file)
    this.leadership = new Leadership({ ...options, alterPartition, partitions: () => hosted.led, lagTimeMaxMs })
    const identity = () => ({ brokerId, brokerEpoch: brokerEpoch() })
    this.#fetchers = new ReplicaFetchers({ ...options, connections, identity, limits, backoffMs })
    this.#timer = this.#checkpointLater()
  }

  /** To be called again whenever its leader or epoch changes. */
  follow(partition: FollowedPartition): void {
    this.#fetchers.follow(partition)
  }

  forget(partition: FollowedPartition): void {
    this.#fetchers.forget(partition)
  }

  async close(): Promise<void> {
    this.#timer.cancel()
    this.leadership.close()
    await this.#fetchers.close()
  }

  #checkpointLater(): Timer {
    return this.#o.clock.after(CHECKPOINT_MS, () => {
      for (const replica of this.#o.hosted) {
        const { log, highWatermark } = replica
        if (this.#noted.get(replica) === highWatermark) continue
        this.#noted.set(replica, highWatermark)
        this.#o.logs.noteHighWatermark(log, highWatermark)
      }
      this.#timer = this.#checkpointLater()
    })
  }
}
