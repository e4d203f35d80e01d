// A conversation of several clients with one group, written down so that the transcripts of two nodes can be compared.
import type { Uuid } from '../../src/core/uuid.ts'
import { errorName } from '../../src/protocol/errors.ts'
import { OffsetCommitApi, type OffsetCommitRequestInput } from '../../src/protocol/messages/08-offset-commit.ts'
import { FindCoordinatorApi } from '../../src/protocol/messages/10-find-coordinator.ts'
import { JoinGroupApi, type JoinGroupRequestInput } from '../../src/protocol/messages/11-join-group.ts'
import { HeartbeatApi, type HeartbeatRequestInput } from '../../src/protocol/messages/12-heartbeat.ts'
import { LeaveGroupApi, type LeaveGroupRequestInput } from '../../src/protocol/messages/13-leave-group.ts'
import { SyncGroupApi, type SyncGroupRequestInput } from '../../src/protocol/messages/14-sync-group.ts'
import { DescribeGroupsApi } from '../../src/protocol/messages/15-describe-groups.ts'
import type { Api } from '../../src/protocol/schema/message.ts'
import { eventually } from '../eventually.ts'
import type { ParityCase } from './parity-case.ts'
import { ask, type Peer } from './raw-exchange.ts'

/** Ids that the coordinator makes: what the client or instance is called, and a random part. */
const MEMBER_ID = /([\w.]*)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** Some answers wait for what other clients do next, on a machine that may be slow. */
const PATIENCE_MS = 120_000

/** Long enough that nobody is ever too late. */
const SESSION_MS = 300_000

export interface JoinOptions extends Partial<JoinGroupRequestInput> {
  readonly client?: string
  readonly version?: number
  /** What the member tells for protocol p. */
  readonly metadata?: string
  /** Comes again at once when it is told its member id. Default true. */
  readonly twice?: boolean
}

export interface Membership {
  readonly memberId: string
  readonly generationId: number
  readonly groupInstanceId: string | null
}

export class GroupTalk {
  readonly peer: Peer
  readonly group: string
  readonly #lines: string[] = []
  readonly #names = new Map<string, string>()

  constructor(peer: Peer, group: string) {
    this.peer = peer
    this.group = group
  }

  get transcript(): string {
    return this.#lines.join('\n')
  }

  topicId(name: string): Uuid {
    const id = this.peer.topicIds.get(name)
    if (id === undefined) throw new Error(`no topic ${name}`)
    return id
  }

  /** Asks without writing down. */
  async ask<Q, QI, R, RI>(
    api: Api<Q, QI, R, RI>,
    request: QI,
    options: { version?: number; clientId?: string | undefined } = {},
  ): Promise<R> {
    const { version = api.request.versions.max, clientId } = options
    const answer = await ask(this.peer, { api, request, version, clientId, patienceMs: PATIENCE_MS })
    if (typeof answer === 'string') throw new Error(`${api.name} ${version} of ${this.peer.name}: ${answer}`)
    return answer
  }

  /** Writes down what was said about `what`. */
  note(what: string, answer: unknown): void {
    this.#lines.push(`${what}: ${this.#comparable(answer)}`)
  }

  async say<Q, QI, R, RI>(
    what: string,
    api: Api<Q, QI, R, RI>,
    of: { request: QI; version?: number; show?: (answer: R) => unknown },
  ): Promise<R> {
    const answer = await this.ask(api, of.request, of)
    this.note(what, of.show ? of.show(answer) : answer)
    return answer
  }

  async join(what: string, options: JoinOptions = {}) {
    const { client = 'a', version = 9, metadata = client, twice = true, ...change } = options
    const request: JoinGroupRequestInput = {
      groupId: this.group,
      sessionTimeoutMs: SESSION_MS,
      ...(version >= 1 ? { rebalanceTimeoutMs: SESSION_MS } : {}),
      memberId: '',
      protocolType: 'test',
      protocols: [{ name: 'p', metadata: Buffer.from(metadata) }],
      ...change,
    }
    const asking = { version, clientId: client }
    let answer = await this.ask(JoinGroupApi, request, asking)
    if (twice && errorName(answer.errorCode) === 'MEMBER_ID_REQUIRED')
      answer = await this.ask(JoinGroupApi, { ...request, memberId: answer.memberId }, asking)
    this.note(what, answer)
    const { memberId, generationId } = answer
    return { memberId, generationId, groupInstanceId: request.groupInstanceId ?? null, errorCode: answer.errorCode }
  }

  /** A second client's JoinGroup, which waits for others: its answer is not written down. */
  async joinAside(client: string, change: Partial<JoinGroupRequestInput> & { metadata?: string } = {}) {
    const { metadata = client, ...rest } = change
    const request: JoinGroupRequestInput = {
      groupId: this.group,
      sessionTimeoutMs: SESSION_MS,
      rebalanceTimeoutMs: SESSION_MS,
      memberId: '',
      protocolType: 'test',
      protocols: [{ name: 'p', metadata: Buffer.from(metadata) }],
      ...rest,
    }
    return await this.ask(JoinGroupApi, request, { version: 3, clientId: client })
  }

  /** Assignments by member id make it the leader's. */
  async sync(
    what: string,
    member: Membership,
    options: Partial<SyncGroupRequestInput> & { version?: number; given?: Readonly<Record<string, string>> } = {},
  ) {
    const { version = 5, given = {}, ...change } = options
    const { memberId, generationId, groupInstanceId } = member
    const request: SyncGroupRequestInput = {
      groupId: this.group,
      memberId,
      generationId,
      ...(version >= 3 ? { groupInstanceId } : {}),
      ...(version >= 5 ? { protocolType: 'test', protocolName: 'p' } : {}),
      assignments: Object.entries(given).map(([id, text]) => ({ memberId: id, assignment: Buffer.from(text) })),
      ...change,
    }
    return await this.say(what, SyncGroupApi, { request, version })
  }

  /** A group of one member that has its assignment. */
  async settle(options: JoinOptions = {}): Promise<Membership> {
    const member = await this.join('join', options)
    await this.sync('sync', member, { given: { [member.memberId]: 'all' } })
    return member
  }

  heartbeat(what: string, member: Membership, change: Partial<HeartbeatRequestInput> & { version?: number } = {}) {
    const { version = 4, ...rest } = change
    const { memberId, generationId, groupInstanceId } = member
    const identity = { memberId, generationId, ...(version >= 3 ? { groupInstanceId } : {}) }
    return this.say(what, HeartbeatApi, { request: { groupId: this.group, ...identity, ...rest }, version })
  }

  leave(what: string, members: LeaveGroupRequestInput['members'], version = 5) {
    const request = version < 3 ? { memberId: members?.[0]?.memberId ?? '' } : { members: members ?? [] }
    return this.say(what, LeaveGroupApi, { request: { groupId: this.group, ...request }, version })
  }

  /** Partition 0 of topic p. */
  commit(what: string, member: Membership, change: Partial<OffsetCommitRequestInput> & { version?: number } = {}) {
    const { version = 9, ...rest } = change
    const { memberId, generationId, groupInstanceId } = member
    return this.say(what, OffsetCommitApi, {
      request: {
        groupId: this.group,
        memberId,
        generationIdOrMemberEpoch: generationId,
        ...(version >= 7 ? { groupInstanceId } : {}),
        topics: [
          {
            ...(version >= 10 ? { topicId: this.topicId('p') } : { name: 'p' }),
            partitions: [{ partitionIndex: 0, committedOffset: 5n, committedMetadata: 'm' }],
          },
        ],
        ...rest,
      },
      version,
    })
  }

  describe(what: string, version = 6) {
    return this.say(what, DescribeGroupsApi, { request: { groups: [this.group] }, version })
  }

  /** Waits, without writing down, until the group is in the state with so many members. */
  async reaches(state: string, members: number): Promise<void> {
    await eventually(async () => {
      const { groups } = await this.ask(DescribeGroupsApi, { groups: [this.group] })
      const [group] = groups
      if (group?.groupState !== state || group.members.length !== members)
        throw new Error(`${this.group} is ${group?.groupState} with ${group?.members.length} members`)
    })
  }

  /** A SyncGroup that was sent has certainly arrived: another request of another connection was answered since. */
  async waitsForSync(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await this.ask(DescribeGroupsApi, { groups: [this.group] })
  }

  /** JSON with errors by name, members in the order of their names, and member ids by what made them and how many came before. */
  #comparable(value: unknown): string {
    const text = JSON.stringify(value, (key, part: unknown) => {
      if (key === 'throttleTimeMs' || key === 'topicId' || key === 'port' || key.toLowerCase().includes('errormessage'))
        return undefined
      if (key === 'errorCode' && typeof part === 'number') return errorName(part)
      if (typeof part === 'bigint') return String(part)
      if (isBufferJson(part)) return Buffer.from(part.data).toString('latin1')
      if (key === 'members' && Array.isArray(part))
        return part.toSorted((a, b) => (String(a.memberId) < String(b.memberId) ? -1 : 1))
      return part
    })
    return text.replaceAll(MEMBER_ID, (id, prefix: string) => this.#nameOf(id, prefix))
  }

  #nameOf(id: string, prefix: string): string {
    const before = [...this.#names.values()].filter(name => name.startsWith(`${prefix}#`)).length
    const name = this.#names.get(id) ?? `${prefix}#${before + 1}`
    this.#names.set(id, name)
    return name
  }
}

const isBufferJson = (part: unknown): part is { data: number[] } =>
  typeof part === 'object' && part !== null && 'type' in part && part.type === 'Buffer'

/** A conversation as a case; every case has a group of its own. */
export const groupCase = (name: string, run: (talk: GroupTalk) => Promise<void>): ParityCase => ({
  name,
  async ask(peer) {
    const talk = new GroupTalk(peer, `group ${name}`)
    await run(talk)
    return talk.transcript
  },
})

/** Creates the topic of groups, which both nodes do when it is first asked for, and waits until it is served. */
export async function awaitCoordinator(peer: Peer): Promise<void> {
  const talk = new GroupTalk(peer, 'probe')
  await eventually(async () => {
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
      const { coordinators } = await talk.ask(FindCoordinatorApi, { keyType: 0, coordinatorKeys: [key] })
      if (coordinators[0]?.errorCode !== 0) throw new Error('no coordinator yet')
      const { errorCode } = await talk.ask(HeartbeatApi, { groupId: key, generationId: 0, memberId: '' })
      if (errorName(errorCode) !== 'UNKNOWN_MEMBER_ID')
        throw new Error(`groups are not served yet: ${errorName(errorCode)}`)
    }
  })
}
