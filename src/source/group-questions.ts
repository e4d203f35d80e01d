/** Questions about the groups of a source cluster: which there are, and what they have committed; the source cluster exposes them. */
import type { GroupOffset, SourceGroup, SourceGroupOffsets } from '../link/ports.ts'
import { SourceError } from '../link/ports.ts'
import type { BrokerConnection } from '../network/broker-connection.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { OffsetFetchApi } from '../protocol/messages/09-offset-fetch.ts'
import { FindCoordinatorApi } from '../protocol/messages/10-find-coordinator.ts'
import { ListGroupsApi } from '../protocol/messages/16-list-groups.ts'
import {
  DescribeShareGroupOffsetsApi,
  type DescribeShareGroupOffsetsResponse,
} from '../protocol/messages/90-describe-share-group-offsets.ts'
import type { BrokerPool } from './broker-pool.ts'
import { sourceErrorForCode, sourceErrorOf } from './source-error-of.ts'
import { metadataOf } from './topic-questions.ts'

/** Groups in one question. */
const GROUPS_MAX = 200
/** From these versions on a request names many groups. */
const BATCHED_COORDINATORS = 4
const BATCHED_OFFSETS = 8
/** Last version that names topics. */
const NAMED_OFFSETS_MAX = 9

/** All groups of all brokers; a broker that does not answer fails the question, or its groups would seem gone. */
export async function listGroups(pool: BrokerPool, signal?: AbortSignal): Promise<SourceGroup[]> {
  const { brokers } = await metadataOf(pool, [], { signal })
  const lists = await Promise.all(
    brokers.map(async ({ id }) => {
      const connection = await pool.questionsTo(id, signal)
      const { response } = await connection.send(ListGroupsApi, {}, { signal })
      if (response.errorCode !== ErrorCode.NONE) throw sourceErrorForCode(response.errorCode, 'listing the groups')
      return response.groups
    }),
  )
  return lists.flat().map(({ groupId, protocolType, groupType }) => ({
    groupId,
    protocolType,
    type: groupType === '' ? 'classic' : groupType.toLowerCase(),
  }))
}

/** What these groups have committed, each asked of its coordinator. One group that cannot be told fails alone. */
export const groupOffsets = (
  pool: BrokerPool,
  groupIds: readonly string[],
  signal?: AbortSignal,
): Promise<SourceGroupOffsets> => askCoordinators(pool, groupIds, { ask: askOffsets, signal })

/** Where these share groups start to read, in the same way; undefined where the source has no DescribeShareGroupOffsets. */
export async function shareGroupOffsets(
  pool: BrokerPool,
  groupIds: readonly string[],
  signal?: AbortSignal,
): Promise<SourceGroupOffsets | undefined> {
  const answers = (connection: BrokerConnection) =>
    connection.versionFor(DescribeShareGroupOffsetsApi.key) !== undefined
  const hasThem = await pool.askAny(async connection => answers(connection), signal)
  return hasThem ? await askCoordinators(pool, groupIds, { ask: askStarts, signal }) : undefined
}

async function askCoordinators(
  pool: BrokerPool,
  groupIds: readonly string[],
  { ask, signal }: { readonly ask: typeof askOffsets; readonly signal: AbortSignal | undefined },
): Promise<SourceGroupOffsets> {
  const offsets = new Map<string, readonly GroupOffset[]>()
  const failures = new Map<string, SourceError>()
  for (let from = 0; from < groupIds.length; from += GROUPS_MAX) {
    const asked = groupIds.slice(from, from + GROUPS_MAX)
    const byCoordinator = await coordinatorsOf(pool, asked, { failures, signal })
    await Promise.all(
      [...byCoordinator].map(async ([brokerId, groups]) => {
        try {
          const connection = await pool.questionsTo(brokerId, signal)
          await ask(connection, groups, { offsets, failures, signal })
        } catch (error) {
          signal?.throwIfAborted()
          for (const group of groups) if (!offsets.has(group)) failures.set(group, sourceErrorOf(error))
        }
      }),
    )
  }
  return { offsets, failures }
}

interface Failing {
  readonly failures: Map<string, SourceError>
  readonly signal: AbortSignal | undefined
}

function coordinatorsOf(
  pool: BrokerPool,
  groups: readonly string[],
  { failures, signal }: Failing,
): Promise<Map<number, string[]>> {
  return pool.askAny(async connection => {
    const byCoordinator = new Map<number, string[]>()
    const take = (group: string, { errorCode, nodeId }: { errorCode: number; nodeId: number }) => {
      if (errorCode !== ErrorCode.NONE)
        failures.set(group, sourceErrorForCode(errorCode, `finding the coordinator of group ${group}`))
      else byCoordinator.set(nodeId, [...(byCoordinator.get(nodeId) ?? []), group])
    }
    const version = connection.versionFor(FindCoordinatorApi.key) ?? 0
    if (version >= BATCHED_COORDINATORS) {
      const { response } = await connection.send(FindCoordinatorApi, { coordinatorKeys: [...groups] }, { signal })
      for (const answer of response.coordinators) take(answer.key, answer)
    } else
      for (const key of groups) take(key, (await connection.send(FindCoordinatorApi, { key }, { signal })).response)
    return byCoordinator
  }, signal)
}

async function askOffsets(
  connection: BrokerConnection,
  groups: readonly string[],
  { offsets, failures, signal }: Failing & { readonly offsets: Map<string, readonly GroupOffset[]> },
): Promise<void> {
  const version = connection.versionFor(OffsetFetchApi.key, { min: 2, max: NAMED_OFFSETS_MAX })
  if (version === undefined) throw new SourceError('unsupported-version', 'the source serves no usable OffsetFetch')
  const take = (group: string, errorCode: number, topics: readonly CommittedTopic[]) => {
    if (errorCode === ErrorCode.NONE) offsets.set(group, committedOffsets(topics))
    else failures.set(group, sourceErrorForCode(errorCode, `reading the offsets of group ${group}`))
  }
  if (version >= BATCHED_OFFSETS) {
    const request = { groups: groups.map(groupId => ({ groupId, topics: null })) }
    const { response } = await connection.send(OffsetFetchApi, request, { version, signal })
    for (const { groupId, errorCode, topics } of response.groups) take(groupId, errorCode, topics)
    return
  }
  for (const groupId of groups) {
    const { response } = await connection.send(OffsetFetchApi, { groupId, topics: null }, { version, signal })
    take(groupId, response.errorCode, response.topics)
  }
}

async function askStarts(
  connection: BrokerConnection,
  groups: readonly string[],
  { offsets, failures, signal }: Parameters<typeof askOffsets>[2],
): Promise<void> {
  const request = { groups: groups.map(groupId => ({ groupId, topics: null })) }
  const { response } = await connection.send(DescribeShareGroupOffsetsApi, request, { signal })
  for (const { groupId, errorCode, topics } of response.groups) {
    if (errorCode === ErrorCode.NONE) offsets.set(groupId, startOffsets(topics))
    else failures.set(groupId, sourceErrorForCode(errorCode, `reading the start offsets of share group ${groupId}`))
  }
}

/** Without partitions that nobody has read yet. */
const startOffsets = (topics: DescribeShareGroupOffsetsResponse['groups'][number]['topics']): GroupOffset[] =>
  topics.flatMap(({ topicName: topic, partitions }) =>
    partitions
      .filter(({ startOffset, errorCode }) => startOffset >= 0n && errorCode === ErrorCode.NONE)
      .map(({ partitionIndex: partition, startOffset }) => {
        return { topic, partition, offset: Number(startOffset), metadata: '' }
      }),
  )

interface CommittedTopic {
  readonly name: string
  readonly partitions: readonly {
    readonly partitionIndex: number
    readonly committedOffset: bigint
    readonly committedLeaderEpoch: number
    readonly metadata: string | null
    readonly errorCode: number
  }[]
}

const committedOffsets = (topics: readonly CommittedTopic[]): GroupOffset[] =>
  topics.flatMap(({ name, partitions }) =>
    partitions
      .filter(({ committedOffset, errorCode }) => committedOffset >= 0n && errorCode === ErrorCode.NONE)
      .map(({ partitionIndex, committedOffset, committedLeaderEpoch, metadata }) => ({
        topic: name,
        partition: partitionIndex,
        offset: Number(committedOffset),
        leaderEpoch: committedLeaderEpoch,
        metadata: metadata ?? '',
      })),
  )
