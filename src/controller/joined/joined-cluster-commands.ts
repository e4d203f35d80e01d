/** Administrators' commands as requests to the active controller: elections, reassignments, features, brokers, the quorum. Part of the joined Controller. */
import { offsetFromWire } from '../../core/offset.ts'
import type {
  ClusterCommands,
  ElectionType,
  FeatureUpdate,
  NamedPartition,
  QuorumDescription,
  Reassignment,
  UpgradeType,
} from '../../metadata/cluster-commands.ts'
import type { ApiError } from '../../metadata/controller-port.ts'
import { explained } from '../../metadata/missing-right.ts'
import { CLUSTER_METADATA_TOPIC } from '../../metadata/topic-names.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { ElectLeadersApi } from '../../protocol/messages/43-elect-leaders.ts'
import {
  AlterPartitionReassignmentsApi,
  type AlterPartitionReassignmentsResponse,
} from '../../protocol/messages/45-alter-partition-reassignments.ts'
import { DescribeQuorumApi, type DescribeQuorumResponse } from '../../protocol/messages/55-describe-quorum.ts'
import { UpdateFeaturesApi } from '../../protocol/messages/57-update-features.ts'
import { UnregisterBrokerApi } from '../../protocol/messages/64-unregister-broker.ts'
import type { CordonLift } from './cordon-lift.ts'
import { COMMAND_MS, type Forwarding } from './forwarded-commands.ts'
import { joinedError } from './joined-errors.ts'

const ELECTION: Readonly<Record<ElectionType, number>> = { preferred: 0, unclean: 1 }
const UPGRADE: Readonly<Record<UpgradeType, number>> = {
  unknown: 0,
  upgrade: 1,
  'safe-downgrade': 2,
  'unsafe-downgrade': 3,
}

type ToldReplica = DescribeQuorumResponse['topics'][number]['partitions'][number]['observers'][number]

export class JoinedClusterCommands implements ClusterCommands {
  readonly #forwarding: Forwarding
  readonly #cordonLift: Pick<CordonLift, 'around'> | undefined

  constructor(forwarding: Forwarding, cordonLift?: Pick<CordonLift, 'around'>) {
    this.#forwarding = forwarding
    this.#cordonLift = cordonLift
  }

  async updateFeatures(
    updates: readonly FeatureUpdate[],
    { validateOnly }: { readonly validateOnly: boolean },
  ): Promise<ApiError> {
    const featureUpdates = updates.map(({ feature, level, upgradeType }) => ({
      feature,
      maxVersionLevel: level,
      upgradeType: UPGRADE[upgradeType],
    }))
    const { errorCode, errorMessage } = await this.#forwarding.changeUnless(validateOnly, UpdateFeaturesApi, {
      request: { timeoutMs: COMMAND_MS, featureUpdates, validateOnly },
      codes: ({ errorCode }) => [errorCode],
      repeatable: true,
    })
    return explained({ errorCode, errorMessage }, ALTER)
  }

  async electLeaders(
    type: ElectionType,
    partitions: readonly NamedPartition[] | null,
  ): Promise<(ApiError & NamedPartition)[]> {
    const topicPartitions =
      partitions &&
      [...byTopic(partitions)].map(([topic, asked]) => ({ topic, partitions: asked.map(p => p.partition) }))
    const { errorCode, replicaElectionResults } = await this.#forwarding.change(
      ElectLeadersApi,
      { electionType: ELECTION[type], topicPartitions, timeoutMs: COMMAND_MS },
      { codes: ({ errorCode }) => [errorCode], repeatable: true },
    )
    if (errorCode !== ErrorCode.NONE)
      return (partitions ?? []).map(partition => explained({ ...partition, errorCode, errorMessage: null }, ALTER))
    return replicaElectionResults.flatMap(({ topic, partitionResult }) =>
      partitionResult.map(({ partitionId: partition, ...told }) => ({ topic, partition, ...errorOf(told) })),
    )
  }

  async alterPartitionReassignments(asked: readonly Reassignment[]): Promise<(ApiError & NamedPartition)[]> {
    const topics = [...byTopic(asked)].map(([name, reassignments]) => ({
      name,
      partitions: reassignments.map(({ partition, replicas }) => ({
        partitionIndex: partition,
        replicas: replicas && [...replicas],
      })),
    }))
    const ask = () =>
      this.#forwarding.change(
        AlterPartitionReassignmentsApi,
        { timeoutMs: COMMAND_MS, topics },
        { codes: ({ errorCode }) => [errorCode], repeatable: true },
      )
    const isRefused = ({ responses }: AlterPartitionReassignmentsResponse) =>
      responses.some(({ partitions }) =>
        partitions.some(({ errorCode: code }) => code === ErrorCode.INVALID_REPLICA_ASSIGNMENT),
      )
    const { errorCode, errorMessage, responses } = await (this.#cordonLift?.around(ask, isRefused) ?? ask())
    if (errorCode !== ErrorCode.NONE)
      return asked.map(({ topic, partition }) => explained({ topic, partition, errorCode, errorMessage }, ALTER))
    return responses.flatMap(({ name: topic, partitions }) =>
      partitions.map(({ partitionIndex: partition, ...told }) => ({ topic, partition, ...errorOf(told) })),
    )
  }

  async unregisterBroker(brokerId: number): Promise<ApiError> {
    const answer = await this.#forwarding.change(
      UnregisterBrokerApi,
      { brokerId },
      { codes: ({ errorCode }) => [errorCode], repeatable: true },
    )
    return explained(errorOf(answer), ALTER)
  }

  async describeQuorum(): Promise<QuorumDescription> {
    const answer = await this.#forwarding.ask(
      DescribeQuorumApi,
      { topics: [{ topicName: CLUSTER_METADATA_TOPIC, partitions: [{ partitionIndex: 0 }] }] },
      // An inactive controller says so like every follower.
      {
        codes: response => codesOfQuorum(response).map(code => (code === NOT_LEADER ? NOT_CONTROLLER : code)),
        repeatable: true,
      },
    )
    const partition = answer.topics[0]?.partitions[0]
    const refused = codesOfQuorum(answer).find(code => code !== ErrorCode.NONE)
    if (partition === undefined || refused !== undefined) {
      const error = errorName(refused ?? ErrorCode.UNKNOWN_SERVER_ERROR)
      throw joinedError('CONTROLLER_REFUSED', { address: 'the active controller', api: 'DescribeQuorum', error })
    }
    return {
      leaderId: partition.leaderId,
      leaderEpoch: partition.leaderEpoch,
      highWatermark: offsetFromWire(partition.highWatermark),
      voters: partition.currentVoters.map(replicaOf),
      observers: partition.observers.map(replicaOf),
    }
  }
}

/** What these commands need, each on the cluster. */
const ALTER = { operation: 'ALTER', resource: 'CLUSTER' } as const

const NOT_LEADER: number = ErrorCode.NOT_LEADER_OR_FOLLOWER
const NOT_CONTROLLER: number = ErrorCode.NOT_CONTROLLER

const codesOfQuorum = ({ errorCode, topics }: DescribeQuorumResponse): number[] => [
  errorCode,
  ...topics.flatMap(({ partitions }) => partitions.map(partition => partition.errorCode)),
]

const replicaOf = ({ replicaId: id, replicaDirectoryId: directoryId, logEndOffset }: ToldReplica) => ({
  id,
  directoryId,
  logEndOffset: offsetFromWire(logEndOffset),
})

const errorOf = ({ errorCode, errorMessage }: ApiError): ApiError => ({ errorCode, errorMessage })

const byTopic = <P extends NamedPartition>(partitions: readonly P[]): Map<string, P[]> =>
  Map.groupBy(partitions, ({ topic }) => topic)
