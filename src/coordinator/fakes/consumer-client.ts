/** A consumer of KIP-848 as Java's is one: heartbeats with its epoch, gives up what it should before it says so, begins anew when it is fenced. Tests of consumer groups use it. */
import { randomUuid, type Uuid } from '../../core/uuid.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import type { ConsumerHeartbeat, ConsumerHeartbeatAnswer } from '../consumer-groups/consumer-heartbeat.ts'
import type { GroupBench } from './group-bench.ts'

export interface ClientOptions {
  readonly topics?: readonly string[]
  readonly regex?: string
  readonly instanceId?: string
  readonly assignor?: string
  readonly rebalanceTimeoutMs?: number
}

export class ConsumerClient {
  bench: GroupBench
  memberId = randomUuid() as string
  epoch = 0
  /** `topic id partition`, as the client holds them. */
  owned = new Set<string>()
  /** What the coordinator wants it to have. */
  #wanted = new Set<string>()
  readonly options: ClientOptions
  /** When the coordinator heard of it last, by the monotonic clock. */
  heardMs = 0
  /** The next heartbeat has to say everything. */
  #full = true

  constructor(bench: GroupBench, options: ClientOptions = {}) {
    this.bench = bench
    this.options = options
  }

  /** Owned partitions as `topic-partition`, sorted. */
  get partitions(): string[] {
    const { image } = this.bench.node.controller
    return [...this.owned]
      .map(place => {
        const [id = '', partition] = place.split(' ')
        return `${image.topics.get(id as Uuid)?.name}-${partition}`
      })
      .sort()
  }

  /** One heartbeat; the name of its error, or NONE. */
  async beat(change: Partial<ConsumerHeartbeat> = {}): Promise<string> {
    return errorName((await this.heartbeat(change)).errorCode)
  }

  async heartbeat(change: Partial<ConsumerHeartbeat> = {}): Promise<ConsumerHeartbeatAnswer> {
    // What it should not have it gives up before it says what it has.
    for (const place of this.owned) if (!this.#wanted.has(place)) this.owned.delete(place)
    const answering = this.bench.node.groups.consumers.heartbeat({ ...this.request(), ...change })
    await this.bench.settle()
    const answer = await answering
    if (answer.errorCode === ErrorCode.NONE) this.heardMs = this.bench.clock.monotonicMs()
    this.#take(answer)
    return answer
  }

  /** One heartbeat whose answer is lost: the next one says everything, to be told everything. */
  async loseAnswer(): Promise<void> {
    const answering = this.bench.node.groups.consumers.heartbeat(this.request())
    await this.bench.settle()
    if ((await answering).errorCode === ErrorCode.NONE) this.heardMs = this.bench.clock.monotonicMs()
    this.#full = true
  }

  request(): ConsumerHeartbeat {
    const {
      topics = ['t'],
      regex = null,
      instanceId = null,
      assignor = null,
      rebalanceTimeoutMs = 60_000,
    } = this.options
    const isFull = this.#full || this.epoch === 0
    return {
      groupId: this.bench.group,
      memberId: this.memberId,
      memberEpoch: this.epoch,
      instanceId,
      rackId: null,
      rebalanceTimeoutMs: isFull ? rebalanceTimeoutMs : -1,
      clientId: 'client',
      clientHost: '/127.0.0.1',
      subscribedTopicNames: isFull ? topics : null,
      subscribedTopicRegex: isFull ? regex : null,
      serverAssignor: isFull ? assignor : null,
      topicPartitions: this.epoch === 0 ? [] : this.#ownedTopics(),
      choosesMemberId: true,
      describable: names => new Set(names),
    }
  }

  async beats(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn++) await this.beat()
  }

  async leave(epoch = -1): Promise<string> {
    const code = await this.beat({ memberEpoch: epoch, topicPartitions: null })
    this.epoch = 0
    this.owned.clear()
    this.#wanted.clear()
    return code
  }

  async commit(offset: number, at: { partition?: number; epoch?: number } = {}): Promise<string> {
    const { partition = 0, epoch = this.epoch } = at
    const member = { memberId: this.memberId, generationId: epoch, groupInstanceId: this.options.instanceId ?? null }
    const committing = this.bench.commit(offset, member, { partition })
    await this.bench.settle()
    return await committing
  }

  #take(answer: ConsumerHeartbeatAnswer): void {
    if (answer.errorCode === ErrorCode.FENCED_MEMBER_EPOCH || answer.errorCode === ErrorCode.UNKNOWN_MEMBER_ID) {
      this.epoch = 0
      this.owned.clear()
      this.#wanted.clear()
    }
    this.#full = answer.errorCode !== ErrorCode.NONE
    if (answer.errorCode !== ErrorCode.NONE || answer.memberEpoch < 0) return
    this.epoch = answer.memberEpoch
    if (answer.assignment) {
      this.#wanted = new Set(
        answer.assignment.topicPartitions.flatMap(({ topicId, partitions }) => partitions.map(p => `${topicId} ${p}`)),
      )
    }
    // Revocations first: they are told with the next heartbeat, and only then it may get others.
    for (const place of this.#wanted) this.owned.add(place)
  }

  #ownedTopics() {
    const topics = new Map<Uuid, number[]>()
    for (const place of this.owned) {
      const [id = '', partition] = place.split(' ')
      const topicId = id as Uuid
      topics.set(topicId, [...(topics.get(topicId) ?? []), Number(partition)])
    }
    return [...topics].map(([topicId, partitions]) => ({ topicId, partitions }))
  }
}
