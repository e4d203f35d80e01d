/** Offsets of the groups of a joined cluster for links: requests to their coordinators, committed as somebody who is no member (semantics §5). */
import { Backoff } from '../../core/backoff.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import type { Random } from '../../core/random.ts'
import { type DestinationGroup, type GroupCommit, type GroupOffset, NotLinkCoordinator } from '../../link/ports.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { OffsetCommitApi } from '../../protocol/messages/08-offset-commit.ts'
import { OffsetFetchApi, type OffsetFetchResponse } from '../../protocol/messages/09-offset-fetch.ts'
import { DescribeGroupsApi } from '../../protocol/messages/15-describe-groups.ts'
import { ConsumerGroupDescribeApi } from '../../protocol/messages/69-consumer-group-describe.ts'
import { commitAsNobody, refusalText } from '../group-commit.ts'
import type { BrokerLink, BrokerLinks, GroupCoordinators } from './group-coordinators.ts'
import { readStarts, setStarts } from './share-group-requests.ts'

export interface GroupRequestsOptions {
  readonly coordinators: GroupCoordinators
  readonly brokers: BrokerLinks
  /** Asked right before every write: a link coordinator that was deposed writes nothing any more. */
  readonly mayWrite: () => boolean
  readonly clock: Clock
  readonly random: Random
}

/** Versions that name groups in plenty, and topics by name. */
const OFFSET_FETCH = { min: 8, max: 9 }
const OFFSET_COMMIT = { min: 2, max: 9 }
/** A version that answers about a group that it does not know, or that is of another protocol, with the state Dead. */
const DESCRIBE_GROUPS = { min: 0, max: 5 }

/** So long a coordinator that moves or loads is asked again. */
const PATIENCE_MS = 15_000

/** A commit is not on its way for longer: a new link coordinator waits as long before it stops a mirror. */
const COMMIT_MS = 10_000

/** A coordinator of these is somewhere else, or will be ready soon. */
const MOVED: ReadonlySet<number> = new Set([
  ErrorCode.NOT_COORDINATOR,
  ErrorCode.COORDINATOR_NOT_AVAILABLE,
  ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
])

type GroupAnswer = OffsetFetchResponse['groups'][number]

interface Asked {
  readonly groupId: string
  readonly resolve: (group: DestinationGroup) => void
}

export class GroupRequests {
  readonly #o: GroupRequestsOptions
  #asked: Asked[] = []

  constructor(options: GroupRequestsOptions) {
    this.#o = options
  }

  /** Groups that are asked about in the same turn share the requests. Never rejects. */
  read(groupId: string): Promise<DestinationGroup> {
    return new Promise(resolve => {
      this.#asked.push({ groupId, resolve })
      if (this.#asked.length === 1) void Promise.resolve().then(() => this.#readAsked())
    })
  }

  /** All or none. */
  async commit(groupId: string, offsets: readonly GroupOffset[]): Promise<GroupCommit> {
    return await commitAsNobody({ groupId, offsets }, asked => this.#commit(groupId, asked))
  }

  /** Start offsets of a share group; never rejects. */
  async readShareStarts(groupId: string): Promise<DestinationGroup> {
    const found = await this.#answered([groupId], async connection =>
      answerOf(groupId, await readStarts(connection, groupId, MOVED)),
    )
    return found.get(groupId) ?? { kind: 'retriable', message: this.#whyUnanswered(groupId) }
  }

  async setShareStarts(groupId: string, offsets: readonly GroupOffset[]): Promise<GroupCommit> {
    const found = await this.#answered([groupId], async connection => {
      this.#assertMayWrite()
      const by = { moved: MOVED, timeoutMs: COMMIT_MS }
      return answerOf(groupId, await setStarts(connection, { groupId, offsets }, by))
    })
    return found.get(groupId) ?? { kind: 'failed', message: this.#whyUnanswered(groupId) }
  }

  #assertMayWrite(): void {
    if (!this.#o.mayWrite()) throw new NotLinkCoordinator('this node is not the link coordinator any more')
  }

  async #readAsked(): Promise<void> {
    const asked = this.#asked
    this.#asked = []
    const found = await this.#answered([...new Set(asked.map(({ groupId }) => groupId))], readFrom)
    for (const { groupId, resolve } of asked)
      resolve(found.get(groupId) ?? { kind: 'retriable', message: this.#whyUnanswered(groupId) })
  }

  #whyUnanswered(groupId: string): string {
    return this.#o.coordinators.isRefused(groupId)
      ? refusalText(ErrorCode.GROUP_AUTHORIZATION_FAILED, { groupId })
      : 'its coordinator did not answer'
  }

  async #commit(groupId: string, offsets: readonly GroupOffset[]): Promise<number[]> {
    const found = await this.#answered([groupId], async connection => {
      this.#assertMayWrite()
      const codes = await commitTo(connection, groupId, offsets)
      return new Map(codes.some(code => MOVED.has(code)) ? [] : [[groupId, codes]])
    })
    const unanswered = this.#o.coordinators.isRefused(groupId)
      ? ErrorCode.GROUP_AUTHORIZATION_FAILED
      : ErrorCode.COORDINATOR_NOT_AVAILABLE
    return found.get(groupId) ?? offsets.map(() => unanswered)
  }

  /** Asks again, for a while, where `ask` has no answer about a group, or its broker none at all; not where we may not ask. */
  async #answered<T>(
    groupIds: readonly string[],
    ask: (connection: BrokerLink, groupIds: readonly string[]) => Promise<Map<string, T>>,
  ): Promise<Map<string, T>> {
    const { coordinators, clock, random } = this.#o
    const backoff = new Backoff({ initialMs: 100, maxMs: 2000, random })
    const untilMs = clock.monotonicMs() + PATIENCE_MS
    const found = new Map<string, T>()
    const refused = new Set<string>()
    for (;;) {
      const missing = groupIds.filter(groupId => !found.has(groupId) && !refused.has(groupId))
      if (missing.length === 0 || clock.monotonicMs() >= untilMs) return found
      if (backoff.attempts > 0) await sleep(clock, backoff.nextMs())
      else backoff.nextMs()
      for (const [groupId, answer] of await this.#askOnce(missing, ask)) found.set(groupId, answer)
      const unanswered = missing.filter(groupId => !found.has(groupId))
      for (const groupId of unanswered) if (coordinators.isRefused(groupId)) refused.add(groupId)
      coordinators.forget(unanswered)
    }
  }

  async #askOnce<T>(
    groupIds: readonly string[],
    ask: (connection: BrokerLink, groupIds: readonly string[]) => Promise<Map<string, T>>,
  ): Promise<Map<string, T>> {
    const { coordinators, brokers } = this.#o
    const found = new Map<string, T>()
    const byBroker = await coordinators.of(groupIds).catch(() => new Map<number, string[]>())
    await Promise.all(
      [...byBroker].map(async ([brokerId, groups]) => {
        try {
          for (const [groupId, answer] of await ask(await brokers.to(brokerId), groups)) found.set(groupId, answer)
        } catch (error) {
          if (error instanceof NotLinkCoordinator) throw error
        }
      }),
    )
    return found
  }
}

const answerOf = <T>(groupId: string, answer: T | undefined): Map<string, T> =>
  new Map(answer === undefined ? [] : [[groupId, answer]])

/** Without groups whose coordinator has moved. */
async function readFrom(connection: BrokerLink, groupIds: readonly string[]): Promise<Map<string, DestinationGroup>> {
  const version = connection.versionFor(OffsetFetchApi.key, OFFSET_FETCH)
  const request = { groups: groupIds.map(groupId => ({ groupId, topics: null })) }
  const { response } = await connection.send(OffsetFetchApi, request, { version })
  const members = await withMembers(connection, groupIds)
  const found = new Map<string, DestinationGroup>()
  for (const group of response.groups)
    if (!MOVED.has(group.errorCode)) found.set(group.groupId, groupOf(group, members.has(group.groupId)))
  return found
}

function groupOf({ groupId, errorCode, topics }: GroupAnswer, hasMembers: boolean): DestinationGroup {
  if (errorCode !== ErrorCode.NONE) return { kind: 'retriable', message: refusalText(errorCode, { groupId }) }
  const offsets = topics.flatMap(({ name: topic, partitions }) =>
    partitions
      .filter(({ committedOffset, errorCode }) => committedOffset >= 0n && errorCode === ErrorCode.NONE)
      .map(({ partitionIndex: partition, committedOffset, metadata }) => {
        return { topic, partition, offset: Number(committedOffset), metadata: metadata ?? '' }
      }),
  )
  return { kind: 'offsets', offsets, hasMembers }
}

/** Those that have members now, of the classic protocol or the newer one. */
async function withMembers(connection: BrokerLink, groupIds: readonly string[]): Promise<Set<string>> {
  const version = connection.versionFor(DescribeGroupsApi.key, DESCRIBE_GROUPS)
  const { response } = await connection.send(DescribeGroupsApi, { groups: [...groupIds] }, { version })
  const members = new Set(response.groups.filter(({ members }) => members.length > 0).map(({ groupId }) => groupId))
  const others = response.groups.filter(({ groupState }) => groupState === 'Dead').map(({ groupId }) => groupId)
  if (others.length === 0 || connection.versionFor(ConsumerGroupDescribeApi.key) === undefined) return members
  const newer = await connection.send(ConsumerGroupDescribeApi, {
    groupIds: others,
    includeAuthorizedOperations: false,
  })
  for (const { groupId, members: of } of newer.response.groups) if (of.length > 0) members.add(groupId)
  return members
}

/** An error code per offset. */
async function commitTo(connection: BrokerLink, groupId: string, offsets: readonly GroupOffset[]): Promise<number[]> {
  const topics = Map.groupBy(offsets, ({ topic }) => topic)
  const version = connection.versionFor(OffsetCommitApi.key, OFFSET_COMMIT)
  const request = {
    groupId,
    memberId: '',
    topics: [...topics].map(([name, partitions]) => ({
      name,
      // Epochs of the source mean nothing here.
      partitions: partitions.map(({ partition: partitionIndex, offset, metadata: committedMetadata }) => {
        return { partitionIndex, committedOffset: BigInt(offset), committedLeaderEpoch: -1, committedMetadata }
      }),
    })),
  }
  const { response } = await connection.send(OffsetCommitApi, request, { version, timeoutMs: COMMIT_MS })
  const codes = new Map(
    response.topics.flatMap(({ name, partitions }) =>
      partitions.map(({ partitionIndex, errorCode }) => [`${name}/${partitionIndex}`, errorCode]),
    ),
  )
  return offsets.map(({ topic, partition }) => codes.get(`${topic}/${partition}`) ?? ErrorCode.UNKNOWN_SERVER_ERROR)
}
