/** A Kafka cluster with Lockstep nodes in memory, as far as commands about topics, configs and ACLs change its metadata; for tests of fences and releases. */
import { randomUuid } from '../../../core/uuid.ts'
import { type AclEntry, type AclImage, aclKey } from '../../../metadata/acl.ts'
import type { NamedPartition, Reassignment } from '../../../metadata/cluster-commands.ts'
import type { ConfigAlteration } from '../../../metadata/controller-port.ts'
import { joinedImage, partitionOn } from '../../../metadata/fakes/joined-images.ts'
import { applyRecords } from '../../../metadata/metadata-editor.ts'
import type { BrokerImage, MetadataImage, PartitionImage } from '../../../metadata/metadata-image.ts'
import { ErrorCode } from '../../../protocol/errors.ts'
import { MetadataRecordType } from '../../../protocol/metadata-records/registry.ts'

const accepted = { errorCode: 0, errorMessage: null }

export class FakeJoinedCluster {
  readonly brokers = new Map<number, BrokerImage>()
  readonly topics = new Map<string, PartitionImage[]>()
  readonly configs = new Map<string, Record<string, string>>()
  acls: AclImage[] = []
  /** Commands in order, in words. */
  readonly commands: string[] = []
  /** Set: the command after so many more fails, once it has happened or before. */
  failure: { after: number; side: 'before' | 'after' } | undefined

  constructor(brokers: readonly BrokerImage[]) {
    for (const broker of brokers) this.brokers.set(broker.id, broker)
  }

  get image(): MetadataImage {
    const topics = Object.fromEntries(this.topics)
    const topicConfigs = Object.fromEntries(this.configs)
    const image = joinedImage({ brokers: [...this.brokers.values()], topics, topicConfigs })
    const records = this.acls.map(
      value => ({ type: MetadataRecordType.AccessControlEntry, version: 0, value }) as const,
    )
    return applyRecords(image, records, { offset: 2, epoch: 1, controllerId: 100 }).image
  }

  addTopic(name: string, partitions: readonly (readonly number[])[]): void {
    this.topics.set(
      name,
      partitions.map(replicas => partitionOn(replicas)),
    )
  }

  /** What a joined Controller does of it. */
  readonly controller = this.#controller()

  #controller() {
    const cluster = this
    return {
      get image() {
        return cluster.image
      },
      cluster: {
        alterPartitionReassignments: (moves: readonly Reassignment[]) =>
          this.#command(
            moves.map(({ topic, partition, replicas }) => `${topic}-${partition} to ${replicas?.join()}`),
            () => {
              for (const move of moves) this.#reassign(move)
              return moves.map(({ topic, partition }) => ({ topic, partition, ...accepted }))
            },
          ),
        electLeaders: (_type: string, partitions: readonly NamedPartition[] | null) =>
          this.#command(
            (partitions ?? []).map(({ topic, partition }) => `elect ${topic}-${partition}`),
            () => (partitions ?? []).map(named => ({ ...named, ...this.#elect(named) })),
          ),
      },
      incrementalAlterConfigs: ([alteration]: readonly ConfigAlteration[]) => {
        const { resource, changes = [] } = alteration ?? {}
        const words = changes.map(
          ({ key, operation, value }) => `${operation} ${key}${value === null ? '' : ` ${value}`}`,
        )
        return this.#command(words, () => {
          const values = new Map(Object.entries(this.configs.get(resource?.name ?? '') ?? {}))
          for (const { key, value } of changes) {
            if (value === null) values.delete(key)
            else values.set(key, value)
          }
          this.configs.set(resource?.name ?? '', Object.fromEntries(values))
          return resource ? [{ ...accepted, resource }] : []
        })
      },
      acls: {
        createAcls: (entries: readonly AclEntry[]) =>
          this.#command(
            entries.map(acl => `create ${wordOf(acl)}`),
            () => {
              this.acls.push(...entries.map(acl => ({ ...acl, id: randomUuid() })))
              return entries.map(() => accepted)
            },
          ),
        deleteAcls: (filters: readonly unknown[]) =>
          this.#command(
            (filters as readonly AclEntry[]).map(acl => `delete ${wordOf(acl)}`),
            () => {
              const gone = new Set((filters as readonly AclEntry[]).map(aclKey))
              this.acls = this.acls.filter(acl => !gone.has(aclKey(acl)))
              return filters.map(() => ({ ...accepted, acls: [] }))
            },
          ),
      },
    }
  }

  /** Completes where an in-sync replica is left and none is to be waited for, as the real controller. */
  #reassign({ topic, partition, replicas }: Reassignment): void {
    const partitions = this.topics.get(topic)
    const placed = partitions?.[partition]
    if (!placed || !replicas) return
    const adding = replicas.filter(id => !placed.replicas.includes(id))
    const isr = placed.isr.filter(id => replicas.includes(id))
    if (isr.length === 0) return
    const leader = replicas.includes(placed.leader) ? placed.leader : (replicas.find(id => isr.includes(id)) ?? -1)
    const begins = leader !== placed.leader || placed.replicas.some(id => !replicas.includes(id))
    const leaderEpoch = placed.leaderEpoch + (begins ? 1 : 0)
    if (partitions) partitions[partition] = { ...placed, replicas, isr, leader, leaderEpoch, addingReplicas: adding }
  }

  /** The first replica leads, in a new epoch, if it is in sync. */
  #elect({ topic, partition }: NamedPartition): { errorCode: number; errorMessage: string | null } {
    const partitions = this.topics.get(topic)
    const placed = partitions?.[partition]
    const [leader = -1] = placed?.replicas ?? []
    if (!partitions || !placed?.isr.includes(leader))
      return { errorCode: ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, errorMessage: null }
    if (leader === placed.leader) return { errorCode: ErrorCode.ELECTION_NOT_NEEDED, errorMessage: null }
    partitions[partition] = { ...placed, leader, leaderEpoch: placed.leaderEpoch + 1 }
    return accepted
  }

  async #command<T>(words: readonly string[], happen: () => T): Promise<T> {
    const { failure } = this
    const fails = failure?.after === 0
    if (failure) this.failure = fails ? undefined : { ...failure, after: failure.after - 1 }
    if (fails && failure?.side === 'before') throw new Error('the controller is gone')
    this.commands.push(...words)
    const answer = happen()
    if (fails) throw new Error('the answer is lost')
    return answer
  }
}

const wordOf = ({ permissionType }: AclEntry): string => (permissionType === 2 ? 'DENY' : 'ALLOW')
