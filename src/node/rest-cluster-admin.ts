/** The plain cluster as REST sees it, over the Controller port and the metadata image. */
import { ZERO_UUID } from '../core/uuid.ts'
import {
  ConfigSource,
  configLayers,
  type DescribedConfig,
  describeBrokerConfigs,
  describeDefaultBrokerConfigs,
  describeTopicConfigs,
  type TrueTopicConfigs,
  trueLayers,
} from '../metadata/config-resolution.ts'
import type { Controller } from '../metadata/controller-port.ts'
import { ConfigResourceType, type TopicImage, topicByName } from '../metadata/metadata-image.ts'
import { isInternalTopic } from '../metadata/topic-names.ts'
import { ErrorCode } from '../protocol/errors.ts'
import type { ClientWrite, WriteGate } from '../replica/write-gate.ts'
import type { ClusterAdmin, ConfigChange, ConfigView, NewTopicRequest, TopicView } from '../rest/cluster-ports.ts'
import { gateRefusal, kafkaRefusal, requireSuccess } from './rest/kafka-refusal.ts'

export interface LocalClusterOptions {
  /** Where mirrors have other values than they are meant to have. */
  readonly trueTopicConfigs?: TrueTopicConfigs
  readonly controller: Controller
  readonly writeGate: WriteGate
  readonly brokerId: number
  /** The server's properties file. */
  readonly file: ReadonlyMap<string, string>
}

export const localClusterAdmin = (options: LocalClusterOptions): ClusterAdmin => ({
  clusterId: options.controller.image.clusterId,
  controllerId: options.brokerId,
  ...brokers(options),
  ...topics(options),
  ...changes(options),
})

function brokers({ controller, file }: LocalClusterOptions) {
  return {
    brokers: () =>
      [...controller.image.brokers.values()].flatMap(({ id, listeners, rack }) => {
        const [first] = listeners.values()
        return first ? [{ id, host: first.host, port: first.port, rack }] : []
      }),
    brokerConfigs: (brokerId: number) =>
      describeBrokerConfigs(configLayers(controller.image, { brokerId, file }), null).map(configView),
    clusterConfigs: () =>
      describeDefaultBrokerConfigs(configLayers(controller.image, { brokerId: -1, file }), null).map(configView),
  }
}

function topics({ controller, brokerId, file, trueTopicConfigs }: LocalClusterOptions) {
  const layersOf = (topic: string) => {
    const { image } = controller
    const topicId = image.topicIds.get(topic)
    return trueLayers(configLayers(image, { brokerId, file, topic }), topicId && trueTopicConfigs?.(topicId))
  }
  return {
    topics: () => [...controller.image.topics.values()].map(topicView).sort((a, b) => (a.name < b.name ? -1 : 1)),
    topic: (name: string) => {
      const topic = topicByName(controller.image, name)
      return topic && topicView(topic)
    },
    topicConfigs: (topic: string) => describeTopicConfigs(layersOf(topic), null).map(configView),
    defaultTopicConfigs: (topic: string) =>
      describeTopicConfigs({ ...layersOf(topic), topic: new Map() }, null).map(configView),
  }
}

function changes({ controller, writeGate }: LocalClusterOptions) {
  /** Throws what the write gate has against it. */
  const askGate = (name: string, write: ClientWrite) => {
    const found = topicByName(controller.image, name)
    if ((found === undefined) !== (write === 'create-topic')) return
    const refusal = writeGate.refusal(found?.id ?? ZERO_UUID, name, write)
    if (refusal) throw gateRefusal(refusal)
  }
  return {
    async createTopic(request: NewTopicRequest, options: { validateOnly: boolean }) {
      const { name, partitions = -1, replicationFactor = -1, assignments, configs } = request
      askGate(name, 'create-topic')
      const [result] = await controller.createTopics(
        [{ name, partitions, replicationFactor, assignments, configs }],
        options,
      )
      requireSuccess(result)
      if (!result) throw kafkaRefusal(ErrorCode.UNKNOWN_SERVER_ERROR, null)
      const { topicId, partitions: partitionsCount } = result
      return { topicId, partitionsCount, replicationFactor: result.replicationFactor }
    },
    async deleteTopic(name: string) {
      askGate(name, 'delete-topic')
      const [result] = await controller.deleteTopics([{ name, topicId: ZERO_UUID }])
      requireSuccess(result)
    },
    async createPartitions(name: string, newCount: number) {
      askGate(name, 'create-partitions')
      const [result] = await controller.createPartitions([{ name, newCount }], { validateOnly: false })
      requireSuccess(result)
    },
    async alterTopicConfigs(topic: string, asked: readonly ConfigChange[], options: { validateOnly: boolean }) {
      const keys = asked.map(({ name }) => name)
      if (new Set(keys).size < keys.length)
        throw kafkaRefusal(ErrorCode.INVALID_REQUEST, 'a config may be changed only once in a request')
      askGate(topic, { alterConfigs: keys })
      const resource = { type: ConfigResourceType.TOPIC, name: topic }
      const alteration = asked.map(({ name: key, operation, value }) =>
        operation === 'SET'
          ? ({ key, operation: 'set', value } as const)
          : ({ key, operation: 'delete', value: null } as const),
      )
      const [result] = await controller.incrementalAlterConfigs([{ resource, changes: alteration }], options)
      requireSuccess(result)
    },
  }
}

const SOURCE_NAMES = new Map(Object.entries(ConfigSource).map(([name, code]) => [code as number, name]))

const sourceName = (source: number): string => `${SOURCE_NAMES.get(source) ?? 'UNKNOWN'}_CONFIG`

const configView = (config: DescribedConfig): ConfigView => ({
  name: config.name,
  value: config.value,
  isDefault: config.source === ConfigSource.DEFAULT,
  isReadOnly: config.readOnly,
  isSensitive: config.sensitive,
  source: sourceName(config.source),
  synonyms: config.synonyms.map(({ name, value, source }) => ({ name, value, source: sourceName(source) })),
})

function topicView(topic: TopicImage): TopicView {
  return {
    name: topic.name,
    topicId: topic.id,
    internal: isInternalTopic(topic.name),
    replicationFactor: topic.partitions[0]?.replicas.length ?? 0,
    partitions: topic.partitions.map(({ leader, replicas, isr }, partition) => ({ partition, leader, replicas, isr })),
  }
}
