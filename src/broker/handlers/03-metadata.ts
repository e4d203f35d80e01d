/**
 * Metadata (3), versions 0–13; the dispatch table calls it.
 *
 * 0: an empty list means all topics; unreachable replicas are left out and marked. 1: null means all, empty means none; rack,
 * controller, internal flag. 2: cluster id. 4: auto-creation can be declined. 5: offline replicas. 6: LISTENER_NOT_FOUND instead
 * of LEADER_NOT_AVAILABLE. 7: leader epochs. 8: authorized operations (of the cluster up to 10). 9: flexible. 10: topic ids in
 * answers. 12: topics may be asked for by id. 13: error of the whole answer.
 *
 * Everything comes from one image. Endpoints are those of the listener that the client came on; the "controller" is a
 * live broker, since clients send admin requests to any broker. Unknown topics are created if the client allows it and
 * `auto.create.topics.enable` is on, and the answer has the new topic at once. Needs DESCRIBE on each topic (a list of all topics
 * leaves the others out), and to create one CREATE on it or on the cluster.
 */
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import { type MetadataImage, type PartitionImage, type TopicImage, topicByName } from '../../metadata/metadata-image.ts'
import { isInternalTopic, topicNameProblem } from '../../metadata/topic-names.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { MetadataApi, type MetadataRequest, type MetadataResponseInput } from '../../protocol/messages/03-metadata.ts'
import { allowedNames, creatableTopics } from '../authorization.ts'
import { authorizedClusterOperations, authorizedOperations, OPERATIONS_UNKNOWN } from '../authorized-operations.ts'
import { adminBroker, aliveEndpoints, endpointOf } from '../endpoints.ts'
import { type BrokerContext, handlerOf, RequestFailure, type RequestOrigin } from '../handler.ts'
import { createWithDefaults } from '../joined/automatic-topics.ts'
import { creationRefusal } from '../topic-creation.ts'

type TopicAnswer = MetadataResponseInput['topics'][number]
type PartitionAnswer = TopicAnswer['partitions'][number]

/** First version in which topics may be named by id. */
const TOPIC_IDS_VERSION = 12
/** First version that distinguishes a missing listener from a missing leader. */
const LISTENER_NOT_FOUND_VERSION = 6
/** First version whose clients take a topic's operations, and the versions with the cluster's. */
const OPERATIONS_VERSION = 8
const CLUSTER_OPERATIONS_VERSION_MAX = 10

export const metadata = handlerOf(MetadataApi, {
  versions: { min: 0, max: 13 },
  async handle(broker, request, origin) {
    const topics = await topicAnswers(broker, request, origin)
    const { image, version } = origin
    const brokers = aliveEndpoints(image, origin.client.listener)
    const operationsAsked = version >= OPERATIONS_VERSION && request.includeTopicAuthorizedOperations
    const clusterAsked = version >= OPERATIONS_VERSION && version <= CLUSTER_OPERATIONS_VERSION_MAX
    return {
      throttleTimeMs: 0,
      brokers,
      clusterId: image.clusterId,
      controllerId: adminBroker(image, origin.client.listener),
      topics: operationsAsked ? topics.map(topic => withOperations(broker, origin, topic)) : topics,
      clusterAuthorizedOperations:
        clusterAsked && request.includeClusterAuthorizedOperations
          ? authorizedClusterOperations(broker, origin)
          : OPERATIONS_UNKNOWN,
    }
  },
  failed: (request, errorCode) => ({
    throttleTimeMs: 0,
    brokers: [],
    topics: (request.topics ?? []).map(({ name, topicId }) => ({
      errorCode,
      name: name ?? '',
      topicId,
      partitions: [],
    })),
    errorCode,
  }),
})

/** Topics that are hidden, or unknown by their id, have no operations. */
function withOperations(broker: BrokerContext, origin: RequestOrigin, topic: TopicAnswer): TopicAnswer {
  const { name, errorCode } = topic
  if (name === null || errorCode === ErrorCode.TOPIC_AUTHORIZATION_FAILED) return topic
  return { ...topic, topicAuthorizedOperations: authorizedOperations(broker, origin, { resource: 'TOPIC', name }) }
}

const hidden = (name: string | null, topicId: Uuid, isInternal: boolean): TopicAnswer => ({
  errorCode: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
  name,
  topicId,
  isInternal,
  partitions: [],
})

async function topicAnswers(
  broker: BrokerContext,
  request: MetadataRequest,
  origin: RequestOrigin,
): Promise<TopicAnswer[]> {
  const { topics } = request
  const { image, version } = origin
  const describable = (names: Iterable<string>) =>
    allowedNames(broker, origin, { operation: 'DESCRIBE', resource: 'TOPIC', names })
  if (topics === null || (version === 0 && topics.length === 0)) {
    const shown = describable(image.topicIds.keys())
    const all = [...image.topics.values()].filter(({ name }) => shown.has(name))
    return all.sort(byName).map(topic => describe(topic, image, origin))
  }
  if (version < TOPIC_IDS_VERSION && topics.some(({ name, topicId }) => name === null || topicId !== ZERO_UUID))
    throw new RequestFailure(ErrorCode.INVALID_REQUEST, 'topic ids need Metadata version 12')
  const ids = new Set(topics.map(({ topicId }) => topicId).filter(id => id !== ZERO_UUID))
  if (ids.size > 0)
    return [...ids].map(topicId => {
      const topic = image.topics.get(topicId)
      if (!topic) return { errorCode: ErrorCode.UNKNOWN_TOPIC_ID, name: null, topicId, partitions: [] }
      // Ids are no secret, names are.
      return describable([topic.name]).has(topic.name) ? describe(topic, image, origin) : hidden(null, topicId, false)
    })
  const names = [...new Set(topics.flatMap(({ name }) => name ?? []))]
  const shown = describable(names)
  const created = await createMissing(broker, request, { names: [...shown], origin })
  return names.map(name => {
    if (!shown.has(name)) return hidden(name, ZERO_UUID, false)
    if (created.refused.has(name)) return hidden(name, ZERO_UUID, isInternalTopic(name))
    const topic = topicByName(created.image, name)
    return topic ? describe(topic, created.image, origin) : missing(name, created.errors.get(name))
  })
}

const byName = (a: TopicImage, b: TopicImage) => (a.name < b.name ? -1 : 1)

function missing(name: string, createError: number | undefined): TopicAnswer {
  const errorCode = topicNameProblem(name) ? ErrorCode.INVALID_TOPIC_EXCEPTION : ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
  return {
    errorCode: createError ?? errorCode,
    name,
    topicId: ZERO_UUID,
    isInternal: isInternalTopic(name),
    partitions: [],
  }
}

/** Creates what does not exist, where allowed; the image afterwards, and why a topic was not created. */
async function createMissing(
  broker: BrokerContext,
  request: MetadataRequest,
  asked: { readonly names: readonly string[]; readonly origin: RequestOrigin },
): Promise<{ image: MetadataImage; errors: ReadonlyMap<string, number>; refused: ReadonlySet<string> }> {
  const errors = new Map<string, number>()
  const { image } = asked.origin
  const none = new Set<string>()
  if (!broker.settings.autoCreateTopics || !request.allowAutoTopicCreation) return { image, errors, refused: none }
  const absent = asked.names.filter(name => !topicByName(image, name))
  const creatable = creatableTopics(broker, asked.origin, absent)
  const refused = new Set(absent.filter(name => !creatable.has(name)))
  const names = absent.filter(
    name => creatable.has(name) && !topicNameProblem(name) && !creationRefusal(broker, image, name),
  )
  if (names.length === 0) return { image, errors, refused }
  await createOwnTopics(broker, names)
  const others = names.filter(name => !isInternalTopic(name))
  const results = await createWithDefaults(broker, asked.origin, others)
  // Who is over the quota of mutations asks again, as for any topic that is not there yet.
  for (const { name, errorCode } of results)
    if (errorCode === ErrorCode.THROTTLING_QUOTA_EXCEEDED) errors.set(name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    else if (errorCode !== ErrorCode.NONE && errorCode !== ErrorCode.TOPIC_ALREADY_EXISTS) errors.set(name, errorCode)
  return { image: broker.controller.image, errors, refused }
}

/** Those that coordinators keep their state in have their own settings. One that cannot be created now is answered as missing. */
async function createOwnTopics({ groups, transactions }: BrokerContext, names: readonly string[]): Promise<void> {
  for (const state of [groups, transactions.partitions])
    if (names.includes(state.topic)) await state.ensureTopic().catch(() => {})
}

const describe = (topic: TopicImage, image: MetadataImage, origin: RequestOrigin): TopicAnswer => ({
  errorCode: ErrorCode.NONE,
  name: topic.name,
  topicId: topic.id,
  isInternal: isInternalTopic(topic.name),
  partitions: topic.partitions.map((partition, index) => describePartition(partition, index, { image, origin })),
})

function describePartition(
  partition: PartitionImage,
  partitionIndex: number,
  from: { readonly image: MetadataImage; readonly origin: RequestOrigin },
): PartitionAnswer {
  const { image, origin } = from
  const reachable = (id: number) => endpointOf(image, id, origin.client.listener) !== undefined
  const shown = (ids: readonly number[]) => (origin.version === 0 ? ids.filter(reachable) : [...ids])
  const replicaNodes = shown(partition.replicas)
  const isrNodes = shown(partition.isr)
  const leaderReachable = reachable(partition.leader)
  return {
    errorCode: partitionError(partition, { leaderReachable, replicaNodes, isrNodes, image, version: origin.version }),
    partitionIndex,
    leaderId: leaderReachable ? partition.leader : -1,
    leaderEpoch: partition.leaderEpoch,
    replicaNodes,
    isrNodes,
    offlineReplicas: partition.replicas.filter(id => !reachable(id)),
  }
}

function partitionError(
  partition: PartitionImage,
  seen: {
    readonly leaderReachable: boolean
    readonly replicaNodes: readonly number[]
    readonly isrNodes: readonly number[]
    readonly image: MetadataImage
    readonly version: number
  },
): number {
  if (!seen.leaderReachable) {
    const known = seen.image.brokers.has(partition.leader)
    return known && seen.version >= LISTENER_NOT_FOUND_VERSION
      ? ErrorCode.LISTENER_NOT_FOUND
      : ErrorCode.LEADER_NOT_AVAILABLE
  }
  const complete =
    seen.replicaNodes.length === partition.replicas.length && seen.isrNodes.length === partition.isr.length
  return complete ? ErrorCode.NONE : ErrorCode.REPLICA_NOT_AVAILABLE
}
