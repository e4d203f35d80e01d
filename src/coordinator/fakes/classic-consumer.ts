/** A cooperative consumer of the classic protocol that leads, joins, syncs and gives up as Java's does; tests of groups that change protocol use it. */
import type { Uuid } from '../../core/uuid.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { ConsumerProtocolAssignment } from '../../protocol/messages/consumer-protocol-assignment.ts'
import { ConsumerProtocolSubscription } from '../../protocol/messages/consumer-protocol-subscription.ts'
import { addPartition, eachPartition, NO_PARTITIONS, type Partitions } from '../consumer-groups/partition-sets.ts'
import { assignUniformly } from '../consumer-groups/uniform-assignor.ts'
import type { JoinAnswer } from '../groups/group-member.ts'
import { type GroupBench, type Member, memberOf } from './group-bench.ts'

const VERSION = 3
const SESSION_MS = 30_000

export class ClassicConsumer {
  bench: GroupBench
  /** `topic id partition`, as the client holds them. */
  owned = new Set<string>()
  /** When the coordinator heard of it last, by the monotonic clock. */
  heardMs = 0
  readonly #topic: string
  #member: Member | undefined
  #memberId = ''
  #generation = -1
  #joins = true
  #busy: Promise<void> | undefined

  constructor(bench: GroupBench, topic: string) {
    this.bench = bench
    this.#topic = topic
  }

  /** Begins the next thing it would do, unless it waits for an answer: then it is alive. */
  act(): void {
    if (this.#busy) this.#heard()
    else
      this.#busy = this.#next().finally(() => {
        this.#busy = undefined
      })
  }

  async leave(): Promise<void> {
    const member = this.#member
    this.#forget()
    if (member) await this.bench.leave(member)
  }

  async #next(): Promise<void> {
    if (this.#member && !this.#joins) {
      const code = this.bench.heartbeat(this.#member)
      if (code === 'NONE') return this.#heard()
      if (code !== 'REBALANCE_IN_PROGRESS') this.#forget()
      else this.#heard()
    }
    await this.#join()
  }

  async #join(): Promise<void> {
    this.#joins = true
    const answer = await this.bench.join({
      memberId: this.#memberId,
      protocolType: 'consumer',
      protocols: [{ name: 'cooperative-sticky', metadata: this.#subscription() }],
      sessionTimeoutMs: SESSION_MS,
    })
    if (answer.errorCode === ErrorCode.UNKNOWN_MEMBER_ID) return this.#forget()
    if (answer.errorCode !== ErrorCode.NONE) return
    this.#heard()
    this.#memberId = answer.memberId
    this.#member = memberOf(answer)
    const isLeader = answer.leader === answer.memberId
    const request = { groupId: this.bench.group, ...this.#member, protocolType: null, protocolName: null }
    const assignments = isLeader ? this.#assign(answer) : new Map<string, Buffer>()
    const { errorCode, assignment } = await this.bench.node.groups.sync({ ...request, assignments })
    if (errorCode === ErrorCode.UNKNOWN_MEMBER_ID) return this.#forget()
    if (errorCode !== ErrorCode.NONE) return
    this.#heard()
    this.#generation = answer.generationId
    const given = this.#placesOf(assignment)
    // What it gave up somebody else may have now: all join once more.
    this.#joins = [...this.owned].some(place => !given.has(place))
    this.owned = given
  }

  #heard(): void {
    this.heardMs = this.bench.clock.monotonicMs()
  }

  #forget(): void {
    this.#member = undefined
    this.#memberId = ''
    this.#generation = -1
    this.#joins = true
    this.owned.clear()
  }

  get #topicId(): Uuid {
    const topic = topicByName(this.bench.node.controller.image, this.#topic)
    if (!topic) throw new Error(`there is no topic ${this.#topic}`)
    return topic.id
  }

  #subscription(): Buffer {
    const partitions = [...this.owned].map(place => Number(place.split(' ')[1]))
    const ownedPartitions = partitions.length > 0 ? [{ topic: this.#topic, partitions }] : []
    const generationId = this.#generation
    const body = { topics: [this.#topic], ownedPartitions, generationId }
    return versioned(ConsumerProtocolSubscription.encode(body, VERSION))
  }

  /** Equal shares; nobody gets what another one has and has not given up yet. */
  #assign({ members }: JoinAnswer): ReadonlyMap<string, Buffer> {
    const id = this.#topicId
    const count = this.bench.node.controller.image.topics.get(id)?.partitions.length ?? 0
    const owners = this.#owners(members)
    const before = (memberId: string): Partitions => {
      const owned = new Map<Uuid, Set<number>>()
      for (const [partition, owner] of owners) if (owner === memberId) addPartition(owned, id, partition)
      return owned
    }
    const made = assignUniformly(
      members.map(({ memberId }) => ({
        id: memberId,
        instanceId: null,
        topics: new Set([id]),
        before: before(memberId),
      })),
      () => count,
    )
    return new Map(
      members.map(({ memberId }) => {
        const free = [...eachPartition(made.get(memberId) ?? NO_PARTITIONS)]
          .map(([, partition]) => partition)
          .filter(partition => (owners.get(partition) ?? memberId) === memberId)
        const assignedPartitions = [{ topic: this.#topic, partitions: free }]
        return [memberId, versioned(ConsumerProtocolAssignment.encode({ assignedPartitions }, VERSION))]
      }),
    )
  }

  /** Of two that claim a partition, the one of the later generation has it. */
  #owners(members: JoinAnswer['members']): ReadonlyMap<number, string> {
    const claims = new Map<number, { memberId: string; generation: number }>()
    for (const { memberId, metadata } of members) {
      const told = ConsumerProtocolSubscription.decode(metadata.subarray(2), VERSION)
      for (const { partitions } of told.ownedPartitions)
        for (const partition of partitions) {
          const other = claims.get(partition)
          if (!other || other.generation < told.generationId)
            claims.set(partition, { memberId, generation: told.generationId })
        }
    }
    return new Map([...claims].map(([partition, { memberId }]) => [partition, memberId]))
  }

  #placesOf(bytes: Buffer): Set<string> {
    if (bytes.length === 0) return new Set()
    const { assignedPartitions } = ConsumerProtocolAssignment.decode(bytes.subarray(2), VERSION)
    return new Set(assignedPartitions.flatMap(({ partitions }) => partitions.map(p => `${this.#topicId} ${p}`)))
  }
}

const versioned = (body: Buffer) => Buffer.concat([Buffer.from([0, VERSION]), body])
