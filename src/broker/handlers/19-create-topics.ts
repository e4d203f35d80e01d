/**
 * CreateTopics (19), versions 2–7; the dispatch table calls it.
 *
 * 2: baseline. 4: partitions and replication factor may be -1, the cluster's defaults (KIP-464). 5: flexible; the answer has
 * partitions, replication factor and configs (KIP-525). 6: throttled by quota. 7: topic ids in the answer.
 *
 * Needs CREATE on the cluster or on the topic; the configs in the answer need DESCRIBE_CONFIGS on it.
 *
 * A name for which a link is making a mirror is refused by the write gate. Names given twice and `__cluster_metadata` are
 * INVALID_REQUEST; the controller decides the rest. The answer comes when the topics are durable, published and their logs exist.
 * `validateOnly` changes nothing.
 */
import { configLayers, describeTopicConfigs } from '../../metadata/config-resolution.ts'
import type { CreatedTopic, NewTopic } from '../../metadata/controller-port.ts'
import { CLUSTER_METADATA_TOPIC } from '../../metadata/topic-names.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  CreateTopicsApi,
  type CreateTopicsRequest,
  type CreateTopicsResponseInput,
} from '../../protocol/messages/19-create-topics.ts'
import { allowedNames, creatableTopics } from '../authorization.ts'
import { type BrokerContext, handlerOf } from '../handler.ts'
import { repeated } from '../repeated.ts'
import { creationRefusal } from '../topic-creation.ts'

/** Older clients are not refused but slowed down. */
const STRICT_QUOTA_VERSION = 6

type TopicAnswer = CreateTopicsResponseInput['topics'][number]

export const createTopics = handlerOf(CreateTopicsApi, {
  versions: { min: 2, max: 7 },
  async handle(broker, request, origin) {
    const duplicates = repeated(request.topics.map(topic => topic.name))
    const asked = request.topics.filter(({ name }) => !duplicates.has(name) && name !== CLUSTER_METADATA_TOPIC)
    const names = asked.map(({ name }) => name)
    const creatable = creatableTopics(broker, origin, names)
    const refusals = new Map(
      names.flatMap(name => {
        const refusal = creatable.has(name) ? creationRefusal(broker, origin.image, name) : undefined
        return refusal ? [[name, refusal] as const] : []
      }),
    )
    const wanted = asked.filter(({ name }) => creatable.has(name) && !refusals.has(name))
    const describable = allowedNames(broker, origin, { operation: 'DESCRIBE_CONFIGS', resource: 'TOPIC', names })
    const created = await broker.controller.createTopics(wanted.map(newTopic), {
      validateOnly: request.validateOnly,
      mayMutate: origin.throttle?.mutationGate({ strict: origin.version >= STRICT_QUOTA_VERSION }),
    })
    const topics = created.map(topic => answerOf(topic, broker, describable.has(topic.name)))
    for (const name of names)
      if (!creatable.has(name))
        topics.push({ ...refused(name, 'Authorization failed.'), errorCode: ErrorCode.TOPIC_AUTHORIZATION_FAILED })
    for (const [name, { errorCode, message }] of refusals) topics.push({ ...refused(name, message), errorCode })
    for (const name of duplicates) topics.push(refused(name, 'Duplicate topic name.'))
    if (!duplicates.has(CLUSTER_METADATA_TOPIC) && request.topics.some(({ name }) => name === CLUSTER_METADATA_TOPIC))
      topics.push(
        refused(CLUSTER_METADATA_TOPIC, `Creation of internal topic ${CLUSTER_METADATA_TOPIC} is prohibited.`),
      )
    return { throttleTimeMs: 0, topics }
  },
  failed: (request, errorCode) => ({
    throttleTimeMs: 0,
    topics: [...new Set(request.topics.map(({ name }) => name))].map(name => ({
      name,
      errorCode,
      errorMessage: null,
      configs: [],
    })),
  }),
})

const newTopic = (topic: CreateTopicsRequest['topics'][number]): NewTopic => ({
  name: topic.name,
  partitions: topic.numPartitions,
  replicationFactor: topic.replicationFactor,
  assignments: new Map(topic.assignments.map(({ partitionIndex, brokerIds }) => [partitionIndex, brokerIds])),
  configs: new Map(topic.configs.map(({ name, value }) => [name, value])),
})

const refused = (name: string, errorMessage: string): TopicAnswer => ({
  name,
  errorCode: ErrorCode.INVALID_REQUEST,
  errorMessage,
  configs: [],
})

function answerOf(topic: CreatedTopic, broker: BrokerContext, showConfigs: boolean): TopicAnswer {
  const { name, errorCode, errorMessage } = topic
  if (errorCode !== ErrorCode.NONE) return { name, errorCode, errorMessage, configs: [] }
  if (!showConfigs)
    return {
      name,
      topicId: topic.topicId,
      errorCode,
      errorMessage,
      topicConfigErrorCode: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
      configs: [],
    }
  const layers = configLayers(broker.controller.image, { brokerId: broker.brokerId, file: broker.settings.file })
  return {
    name,
    topicId: topic.topicId,
    errorCode,
    errorMessage,
    numPartitions: topic.partitions,
    replicationFactor: topic.replicationFactor,
    configs: describeTopicConfigs({ ...layers, topic: topic.configs }, null).map(config => ({
      name: config.name,
      value: config.value,
      readOnly: config.readOnly,
      configSource: config.source,
      isSensitive: config.sensitive,
    })),
  }
}
