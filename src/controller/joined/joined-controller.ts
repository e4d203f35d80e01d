/** The Controller of a joined node: commands become requests to the active controller, and resolve when this node's image shows what they changed. Made by the node at start. */
import type { Uuid } from '../../core/uuid.ts'
import type {
  ApiError,
  ConfigAlteration,
  ConfigOperation,
  Controller,
  CreatedTopic,
  DeletedTopic,
  ImageSubscriber,
  IsrChange,
  NewTopic,
  PartitionGrowth,
  ProducerIdBlock,
} from '../../metadata/controller-port.ts'
import { type ConfigResource, ConfigResourceType, type MetadataImage } from '../../metadata/metadata-image.ts'
import { explained, type NeededRight } from '../../metadata/missing-right.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { CreateTopicsApi } from '../../protocol/messages/19-create-topics.ts'
import { DeleteTopicsApi } from '../../protocol/messages/20-delete-topics.ts'
import { CreatePartitionsApi } from '../../protocol/messages/37-create-partitions.ts'
import { IncrementalAlterConfigsApi } from '../../protocol/messages/44-incremental-alter-configs.ts'
import { AlterPartitionApi } from '../../protocol/messages/56-alter-partition.ts'
import { AllocateProducerIdsApi } from '../../protocol/messages/67-allocate-producer-ids.ts'
import type { ControllerQuestions } from './controller-questions.ts'
import type { CordonLift } from './cordon-lift.ts'
import { COMMAND_MS, Forwarding } from './forwarded-commands.ts'
import { alteredPartitions, alterPartitionRequest, codesOfAlterPartition } from './isr-request.ts'
import { JoinedClusterCommands } from './joined-cluster-commands.ts'
import { joinedError } from './joined-errors.ts'
import { joinedQuotaCommands } from './joined-quota-commands.ts'
import { joinedAclCommands, joinedScramCommands } from './joined-security-commands.ts'
import type { MetadataObserver } from './metadata-observer.ts'

export interface JoinedControllerOptions {
  readonly observer: MetadataObserver
  /** Its own client of the quorum. Closed with the controller. */
  readonly questions: ControllerQuestions
  /** Absent: whatever the controller refuses is the answer. */
  readonly cordonLift?: Pick<CordonLift, 'around'>
  /** Of the membership; both change. */
  readonly broker: () => { readonly id: number; readonly epoch: number }
}

const OPERATIONS: Readonly<Record<ConfigOperation, number>> = { set: 0, delete: 1, append: 2, subtract: 3 }

/** Ids are burned a block of 1 000 per request; more than this is no way to get past a producer id. */
const BURNED_BLOCKS_MAX = 10_000

export class JoinedController implements Controller {
  readonly acls
  readonly quotas
  readonly scram
  readonly cluster: JoinedClusterCommands
  readonly #options: JoinedControllerOptions
  readonly #forwarding: Forwarding

  constructor(options: JoinedControllerOptions) {
    this.#options = options
    this.#forwarding = new Forwarding(options)
    this.acls = joinedAclCommands(this.#forwarding)
    this.quotas = joinedQuotaCommands(this.#forwarding)
    this.scram = joinedScramCommands(this.#forwarding)
    this.cluster = new JoinedClusterCommands(this.#forwarding, options.cordonLift)
  }

  get image(): MetadataImage {
    return this.#options.observer.image
  }

  subscribe(subscriber: ImageSubscriber): Promise<void> {
    return this.#options.observer.subscribe(subscriber)
  }

  async createTopics(
    topics: readonly NewTopic[],
    { validateOnly }: { readonly validateOnly: boolean },
  ): Promise<CreatedTopic[]> {
    const asked = topics.map(({ name, partitions: numPartitions, replicationFactor, assignments, configs }) => ({
      name,
      numPartitions,
      replicationFactor,
      assignments: [...assignments].map(([partitionIndex, brokerIds]) => ({
        partitionIndex,
        brokerIds: [...brokerIds],
      })),
      configs: [...configs].map(([name, value]) => ({ name, value })),
    }))
    const ask = () =>
      this.#forwarding.changeUnless(validateOnly, CreateTopicsApi, {
        request: { topics: asked, timeoutMs: COMMAND_MS, validateOnly },
        codes: ({ topics }) => codesOf(topics),
        repeatable: validateOnly,
      })
    // Of several topics some may be there by then.
    const answer = await (topics.length === 1 ? this.#placing(ask, ({ topics }) => codesOf(topics)) : ask())
    return answer.topics.map(({ name, topicId, numPartitions: partitions, replicationFactor, configs, ...told }) => ({
      ...explained(errorOf(told), { operation: 'CREATE', resource: 'TOPIC', name: name ?? '' }),
      name,
      topicId,
      partitions,
      replicationFactor,
      configs: new Map((configs ?? []).flatMap(({ name, value }) => (value === null ? [] : [[name, value]]))),
    }))
  }

  async deleteTopics(
    topics: readonly { readonly name: string | null; readonly topicId: Uuid }[],
  ): Promise<DeletedTopic[]> {
    const { responses } = await this.#forwarding.change(
      DeleteTopicsApi,
      { topics: [...topics], timeoutMs: COMMAND_MS },
      { codes: ({ responses }) => codesOf(responses), repeatable: false },
    )
    return responses.map(told =>
      explained(told, { operation: 'DELETE', resource: 'TOPIC', name: told.name ?? told.topicId }),
    )
  }

  async incrementalAlterConfigs(
    alterations: readonly ConfigAlteration[],
    { validateOnly }: { readonly validateOnly: boolean },
  ): Promise<(ApiError & { readonly resource: ConfigResource })[]> {
    const resources = alterations.map(({ resource, changes }) => ({
      resourceType: resource.type,
      resourceName: resource.name,
      configs: changes.map(({ key: name, operation, value }) => ({
        name,
        configOperation: OPERATIONS[operation],
        value,
      })),
    }))
    const { responses } = await this.#forwarding.changeUnless(validateOnly, IncrementalAlterConfigsApi, {
      request: { resources, validateOnly },
      codes: ({ responses }) => codesOf(responses),
      repeatable: true,
    })
    return responses.map(({ resourceType: type, resourceName: name, ...told }) => ({
      ...explained(errorOf(told), { operation: 'ALTER_CONFIGS', ...configRight(type), name }),
      resource: { type, name },
    }))
  }

  async createPartitions(
    topics: readonly PartitionGrowth[],
    { validateOnly }: { readonly validateOnly: boolean },
  ): Promise<(ApiError & { readonly name: string })[]> {
    const asked = topics.map(({ name, newCount: count, assignments }) => ({
      name,
      count,
      assignments: assignments?.map(brokerIds => ({ brokerIds: [...brokerIds] })) ?? null,
    }))
    const ask = () =>
      this.#forwarding.changeUnless(validateOnly, CreatePartitionsApi, {
        request: { topics: asked, timeoutMs: COMMAND_MS, validateOnly },
        codes: ({ results }) => codesOf(results),
        repeatable: validateOnly,
      })
    const { results } = await (topics.length === 1 ? this.#placing(ask, ({ results }) => codesOf(results)) : ask())
    return results.map(told => explained(told, { operation: 'ALTER', resource: 'TOPIC', name: told.name }))
  }

  /** Compare-and-set: what was carried out already is refused the second time, and the image says which it was. */
  async alterPartition(changes: readonly IsrChange[]): Promise<(ApiError & IsrChange)[]> {
    const broker = this.#registered()
    const answer = await this.#forwarding.change(
      AlterPartitionApi,
      version => alterPartitionRequest(changes, { broker, version }),
      { codes: codesOfAlterPartition, repeatable: true },
    )
    return alteredPartitions(changes, answer).map(change => explained(change, CLUSTER_ACTION))
  }

  /** Only the controller begins epochs, and only when leaders change: promoting is a reassignment here. */
  bumpLeaderEpoch(): Promise<number> {
    return Promise.reject(joinedError('NOT_WHEN_JOINED', { what: 'a new leader epoch under the same leader' }))
  }

  async allocateProducerIds(): Promise<ProducerIdBlock> {
    const { id: brokerId, epoch } = this.#registered()
    const { errorCode, producerIdStart, producerIdLen } = await this.#forwarding.ask(
      AllocateProducerIdsApi,
      { brokerId, brokerEpoch: BigInt(epoch) },
      { codes: ({ errorCode }) => [errorCode], repeatable: true },
    )
    if (errorCode !== ErrorCode.NONE) {
      const error = errorName(errorCode)
      throw joinedError('CONTROLLER_REFUSED', { address: 'the active controller', api: 'AllocateProducerIds', error })
    }
    return { firstId: producerIdStart, length: producerIdLen }
  }

  /** Burns blocks. Java brokers hold blocks that they were given before: their ids are the promote's business. */
  async skipProducerIdsBelow(producerId: bigint): Promise<void> {
    for (let blocks = 0; blocks < BURNED_BLOCKS_MAX; blocks++) {
      const { firstId, length } = await this.allocateProducerIds()
      // The controller gives blocks out in order, so the next one begins at or above this one's end.
      if (firstId + BigInt(length) > producerId) return
    }
    throw joinedError('NOT_WHEN_JOINED', { what: `getting past producer id ${producerId}, which is too far away,` })
  }

  async close(): Promise<void> {
    this.#options.questions.close()
    await this.#options.observer.close()
  }

  /** What gives this node replicas may be refused because it is cordoned. */
  #placing<R>(ask: () => Promise<R>, codes: (answer: R) => readonly number[]): Promise<R> {
    const isRefused = (answer: R) => codes(answer).includes(ErrorCode.INVALID_REPLICA_ASSIGNMENT)
    return this.#options.cordonLift?.around(ask, isRefused) ?? ask()
  }

  #registered(): { readonly id: number; readonly epoch: number } {
    const broker = this.#options.broker()
    if (broker.epoch < 0) throw joinedError('NOT_REGISTERED', undefined)
    return broker
  }
}

const CLUSTER_ACTION = { operation: 'CLUSTER_ACTION', resource: 'CLUSTER' } as const

/** Configs of everything but topics and groups are the cluster's. */
function configRight(type: number): Pick<NeededRight, 'resource'> {
  if (type === ConfigResourceType.TOPIC) return { resource: 'TOPIC' }
  return { resource: type === ConfigResourceType.GROUP ? 'GROUP' : 'CLUSTER' }
}

const codesOf = (answers: readonly { readonly errorCode: number }[]): number[] =>
  answers.map(({ errorCode }) => errorCode)

const errorOf = ({ errorCode, errorMessage }: ApiError): ApiError => ({ errorCode, errorMessage })
