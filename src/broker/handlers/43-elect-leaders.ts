/**
 * ElectLeaders (43), versions 0–2; the dispatch table calls it.
 *
 * 0: preferred leaders only. 1: election types 0 preferred, 1 unclean (KIP-460), error of the whole answer. 2: flexible.
 *
 * Partitions of this node that have a leader have their only possible one: ELECTION_NOT_NEEDED. An answer about all partitions
 * names every topic and leaves out the partitions that need no election. Another election type is INVALID_REQUEST.
 */
import type { NamedPartition } from '../../metadata/cluster-commands.ts'
import type { ApiError } from '../../metadata/controller-port.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { ElectLeadersApi, type ElectLeadersRequest } from '../../protocol/messages/43-elect-leaders.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf, RequestFailure } from '../handler.ts'

const electionTypes = ['preferred', 'unclean'] as const

export const electLeaders = handlerOf(ElectLeadersApi, {
  versions: { min: 0, max: 2 },
  async handle(broker, request, origin) {
    requireAllowedOnCluster(broker, origin, 'ALTER')
    const type = electionTypes[request.electionType]
    if (type === undefined)
      throw new RequestFailure(ErrorCode.INVALID_REQUEST, `there is no election type ${request.electionType}`)
    const asked = request.topicPartitions && partitionsOf(request.topicPartitions)
    const results = await broker.controller.cluster.electLeaders(type, asked)
    const { version, image } = origin
    const topics = request.topicPartitions?.map(({ topic }) => topic) ?? [...image.topicIds.keys()]
    return answer(version, { errorCode: ErrorCode.NONE, topics: new Set(topics), results })
  },
  failed(request, errorCode, { version }) {
    const named = request.topicPartitions ?? []
    const results = partitionsOf(named).map(partition => ({ ...partition, errorCode, errorMessage: null }))
    return answer(version, { errorCode, topics: new Set(named.map(({ topic }) => topic)), results })
  },
})

const partitionsOf = (topics: NonNullable<ElectLeadersRequest['topicPartitions']>): NamedPartition[] =>
  topics.flatMap(({ topic, partitions }) => partitions.map(partition => ({ topic, partition })))

function answer(
  version: number,
  of: {
    readonly errorCode: number
    readonly topics: ReadonlySet<string>
    readonly results: readonly (ApiError & NamedPartition)[]
  },
) {
  const byTopic = Map.groupBy(of.results, ({ topic }) => topic)
  return {
    throttleTimeMs: 0,
    ...(version === 0 ? {} : { errorCode: of.errorCode }),
    replicaElectionResults: [...of.topics].map(topic => ({
      topic,
      partitionResult: (byTopic.get(topic) ?? []).map(({ partition, errorCode, errorMessage }) => ({
        partitionId: partition,
        errorCode,
        errorMessage,
      })),
    })),
  }
}
