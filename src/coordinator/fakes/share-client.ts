/** A share consumer of KIP-932 as far as membership goes: heartbeats with its epoch, begins anew when it is fenced. Tests of share groups use it. */
import { randomUuid, type Uuid } from '../../core/uuid.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import type { ShareHeartbeat } from '../share-groups/share-heartbeat.ts'
import type { GroupBench } from './group-bench.ts'

export class ShareClient {
  bench: GroupBench
  readonly memberId = randomUuid() as string
  readonly topics: readonly string[]
  epoch = 0
  /** As it was told last, as `topic-partition`, sorted. */
  partitions: string[] = []

  constructor(bench: GroupBench, topics: readonly string[] = ['t']) {
    this.bench = bench
    this.topics = topics
  }

  /** One heartbeat; the name of its error, or NONE. */
  async beat(change: Partial<ShareHeartbeat> = {}): Promise<string> {
    const { bench, memberId, epoch } = this
    const beating = bench.node.groups.shares.heartbeat({
      groupId: bench.group,
      memberId,
      memberEpoch: epoch,
      rackId: null,
      clientId: 'client',
      clientHost: '/127.0.0.1',
      subscribedTopicNames: epoch === 0 ? this.topics : null,
      ...change,
    })
    await bench.settle()
    const { errorCode, memberEpoch, assignment } = await beating
    if (errorCode === ErrorCode.NONE) {
      this.epoch = memberEpoch
      if (assignment) this.partitions = this.#names(assignment.topicPartitions)
    } else if (errorCode === ErrorCode.FENCED_MEMBER_EPOCH || errorCode === ErrorCode.UNKNOWN_MEMBER_ID) this.epoch = 0
    return errorName(errorCode)
  }

  /** Heartbeats, an assignment interval apart. */
  async beats(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn++) {
      await this.beat()
      await this.bench.clock.advance(1000)
    }
  }

  async leave(): Promise<string> {
    const code = await this.beat({ memberEpoch: -1 })
    this.epoch = 0
    this.partitions = []
    return code
  }

  #names(topics: readonly { readonly topicId: Uuid; readonly partitions: readonly number[] }[]): string[] {
    const { image } = this.bench.node.controller
    return topics
      .flatMap(({ topicId, partitions }) =>
        partitions.map(partition => `${image.topics.get(topicId)?.name}-${partition}`),
      )
      .sort()
  }
}
