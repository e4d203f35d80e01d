/** Clients of the group coordinator of a node in memory, in the short forms that tests of groups need. */
import { TestNode } from '../../broker/fakes/test-node.ts'
import { ManualClock } from '../../core/clock.ts'
import { randomUuid } from '../../core/uuid.ts'
import { MemoryFileSystem } from '../../log/fakes/memory-file-system.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import type { JoinAnswer, MemberDescription } from '../groups/group-member.ts'

export interface JoinChange extends Partial<MemberDescription> {
  readonly client?: string
  readonly memberId?: string
  readonly acceptsMemberIdFirst?: boolean
  readonly mayBeToldToSkip?: boolean
  /** What it tells for protocol p. */
  readonly metadata?: string
}

export interface Member {
  readonly memberId: string
  readonly generationId: number
  readonly groupInstanceId: string | null
}

export const nobody: Member = { memberId: '', generationId: -1, groupInstanceId: null }

export class GroupBench {
  readonly clock: ManualClock
  readonly fs: MemoryFileSystem
  readonly node: TestNode
  group = 'g'
  readonly #file: Readonly<Record<string, string>>

  private constructor(parts: Pick<GroupBench, 'clock' | 'fs' | 'node'>, file: Readonly<Record<string, string>>) {
    this.clock = parts.clock
    this.fs = parts.fs
    this.node = parts.node
    this.#file = file
  }

  /** A node with topics `t` (two partitions) and `__consumer_offsets` (one partition); restarted on the data of another one. */
  static async start(
    options: { file?: Record<string, string>; clusterId?: string; fs?: MemoryFileSystem; clock?: ManualClock } = {},
  ): Promise<GroupBench> {
    const clock = options.clock ?? new ManualClock()
    const fs = options.fs ?? new MemoryFileSystem()
    const file = {
      'group.initial.rebalance.delay.ms': '0',
      'offsets.topic.num.partitions': '1',
      'share.coordinator.state.topic.num.partitions': '1',
      ...options.file,
    }
    const clusterId = options.clusterId ?? randomUuid()
    const node = await TestNode.start({ clock, fs, file: new Map(Object.entries(file)), clusterId })
    const bench = new GroupBench({ clock, fs, node }, file)
    if (!topicByName(node.controller.image, 't')) await node.createTopic('t', { partitions: 2 })
    await node.groups.ensureTopic()
    await node.shareState.partitions.ensureTopic()
    await bench.settle()
    return bench
  }

  get clusterId(): string {
    return this.node.controller.image.clusterId
  }

  /** Lets everything run that does not wait for time. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 30; turn++) await this.clock.advance(0)
  }

  /** The node dies with what is not synced; another one starts on what is left. */
  async crash(random: () => number): Promise<GroupBench> {
    this.fs.crash(random)
    const { fs, clock, clusterId } = this
    const restarted = await GroupBench.start({ fs, clock, clusterId, file: this.#file })
    restarted.group = this.group
    return restarted
  }

  join(change: JoinChange = {}): Promise<JoinAnswer> {
    const { client = 'a', memberId = '', acceptsMemberIdFirst = false, mayBeToldToSkip = true, ...rest } = change
    const { metadata = client, ...description } = rest
    return this.node.groups.join({
      groupId: this.group,
      memberId,
      acceptsMemberIdFirst,
      mayBeToldToSkip,
      reason: null,
      description: {
        groupInstanceId: null,
        clientId: client,
        clientHost: '/127.0.0.1',
        rebalanceTimeoutMs: 60_000,
        sessionTimeoutMs: 30_000,
        protocolType: 'test',
        protocols: [{ name: 'p', metadata: Buffer.from(metadata) }],
        ...description,
      },
    })
  }

  /** Joins a group that is empty or waits for nobody else. */
  async joined(change: JoinChange = {}): Promise<JoinAnswer> {
    const joining = this.join(change)
    await this.settle()
    return await joining
  }

  /** Resolves to the assignment, or the name of the error. */
  async sync(member: Member, given: Readonly<Record<string, string>> = {}): Promise<string> {
    const { errorCode, assignment } = await this.node.groups.sync({
      groupId: this.group,
      ...member,
      protocolType: null,
      protocolName: null,
      assignments: new Map(Object.entries(given).map(([id, text]) => [id, Buffer.from(text)])),
    })
    return errorCode === ErrorCode.NONE ? assignment.toString() : errorName(errorCode)
  }

  /** A group of one. */
  async alone(change: JoinChange = {}): Promise<Member> {
    const member = memberOf(await this.joined(change), change.groupInstanceId ?? null)
    await this.sync(member, { [member.memberId]: 'all' })
    return member
  }

  heartbeat(member: Member): string {
    return errorName(this.node.groups.heartbeat({ groupId: this.group, ...member }))
  }

  async leave(member: Pick<Member, 'memberId' | 'groupInstanceId'>): Promise<string> {
    const { errorCode, members } = await this.node.groups.leave(this.group, [member])
    return errorName(members[0]?.errorCode ?? errorCode)
  }

  async commit(offset: number, member: Member = nobody, change: { partition?: number; metadata?: string } = {}) {
    const { partition = 0, metadata = '' } = change
    const [code] = await this.node.groups.commitOffsets({
      groupId: this.group,
      ...member,
      retentionMs: -1n,
      unknownGroup: ErrorCode.GROUP_ID_NOT_FOUND,
      offsets: [this.#offset({ partition, offset, metadata })],
    })
    return errorName(code ?? ErrorCode.UNKNOWN_SERVER_ERROR)
  }

  async commitInTransaction(offset: number, producerId: bigint, member: Member = nobody): Promise<string> {
    const [code] = await this.node.groups.commitTransactionalOffsets(
      { groupId: this.group, ...member, offsets: [this.#offset({ partition: 0, offset, metadata: '' })] },
      { producerId, producerEpoch: 0 },
    )
    return errorName(code ?? ErrorCode.UNKNOWN_SERVER_ERROR)
  }

  /** -1 = none; or the name of an error. */
  async committed(partition = 0, requireStable = false): Promise<number | string> {
    const { errorCode, topics } = await this.node.groups.fetchOffsets({
      groupId: this.group,
      requireStable,
      topics: [{ name: 't', topicId: this.#topicId, partitions: [partition] }],
      topicIdOf: name => topicByName(this.node.controller.image, name)?.id,
    })
    const found = topics[0]?.partitions[0]
    const code = errorCode || (found?.errorCode ?? ErrorCode.UNKNOWN_SERVER_ERROR)
    return code === ErrorCode.NONE ? Number(found?.committedOffset) : errorName(code)
  }

  /** State, or the name of the error. */
  state(): string {
    const { errorCode, group } = this.node.groups.describeGroup(this.group)
    return group?.groupState ?? errorName(errorCode)
  }

  async close(): Promise<void> {
    await this.node.close()
  }

  get #topicId() {
    const topic = topicByName(this.node.controller.image, 't')
    if (!topic) throw new Error('there is no topic t')
    return topic.id
  }

  #offset({ partition, offset, metadata }: { partition: number; offset: number; metadata: string }) {
    return { topic: 't', topicId: this.#topicId, partition, offset: BigInt(offset), leaderEpoch: -1, metadata }
  }
}

export const memberOf = (answer: JoinAnswer, groupInstanceId: string | null = null): Member => {
  if (answer.errorCode !== ErrorCode.NONE) throw new Error(`JoinGroup: ${errorName(answer.errorCode)}`)
  return { memberId: answer.memberId, generationId: answer.generationId, groupInstanceId }
}
