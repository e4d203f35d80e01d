/** The plain cluster as REST sees it, over the Controller port and the metadata image. */
import { type ErrorTable, errorFactory } from '../core/errors.ts'
import { ZERO_UUID } from '../core/uuid.ts'
import { ConfigSource, configLayers, describeTopicConfigs } from '../metadata/config-resolution.ts'
import type { Controller } from '../metadata/controller-port.ts'
import { type TopicImage, topicByName } from '../metadata/metadata-image.ts'
import { isInternalTopic } from '../metadata/topic-names.ts'
import { errorName } from '../protocol/errors.ts'
import type { WriteGate } from '../replica/write-gate.ts'
import type { ClusterAdmin, TopicView } from '../rest/ports.ts'

const errors = {
  TOPIC_REFUSED: {
    status: 400,
    restCode: 40002,
    kafka: 'INVALID_REQUEST',
    retriable: false,
    message: (d: { topic: string; reason: string }) => `topic "${d.topic}": ${d.reason}`,
  },
} satisfies ErrorTable
const refused = errorFactory(errors)

const SOURCE_NAMES = new Map(Object.entries(ConfigSource).map(([name, code]) => [code as number, name]))

export function localClusterAdmin(options: {
  controller: Controller
  writeGate: WriteGate
  brokerId: number
  file: ReadonlyMap<string, string>
}): ClusterAdmin {
  const { controller, writeGate, brokerId, file } = options
  return {
    clusterId: controller.image.clusterId,
    controllerId: brokerId,
    brokers: () =>
      [...controller.image.brokers.values()].flatMap(({ id, listeners, rack }) => {
        const [first] = listeners.values()
        return first ? [{ id, host: first.host, port: first.port, rack }] : []
      }),
    topics: () => [...controller.image.topics.values()].map(topicView).sort((a, b) => (a.name < b.name ? -1 : 1)),
    topic: name => {
      const topic = topicByName(controller.image, name)
      return topic && topicView(topic)
    },
    topicConfigs: topic =>
      describeTopicConfigs(configLayers(controller.image, { brokerId, file, topic }), null).map(config => ({
        name: config.name,
        value: config.value,
        isDefault: config.source === ConfigSource.DEFAULT,
        isReadOnly: config.readOnly,
        isSensitive: config.sensitive,
        source: `${SOURCE_NAMES.get(config.source) ?? 'UNKNOWN'}_CONFIG`,
      })),
    async createTopic({ name, partitions = -1, replicationFactor = -1, configs }) {
      const refusal = controller.image.topicIds.has(name)
        ? undefined
        : writeGate.refusal(ZERO_UUID, name, 'create-topic')
      if (refusal) throw refused('TOPIC_REFUSED', { topic: name, reason: refusal.message })
      const topic = { name, partitions, replicationFactor, configs, assignments: new Map() }
      const [result] = await controller.createTopics([topic], { validateOnly: false })
      requireSuccess(name, result)
    },
    async deleteTopic(name) {
      const found = topicByName(controller.image, name)
      const refusal = found && writeGate.refusal(found.id, name, 'delete-topic')
      if (refusal) throw refused('TOPIC_REFUSED', { topic: name, reason: refusal.message })
      const [result] = await controller.deleteTopics([{ name, topicId: ZERO_UUID }])
      requireSuccess(name, result)
    },
  }
}

function requireSuccess(topic: string, result: { errorCode: number; errorMessage: string | null } | undefined): void {
  if (result?.errorCode === 0) return
  throw refused('TOPIC_REFUSED', { topic, reason: result?.errorMessage ?? errorName(result?.errorCode ?? -1) })
}

function topicView(topic: TopicImage): TopicView {
  return {
    name: topic.name,
    topicId: topic.id,
    internal: isInternalTopic(topic.name),
    replicationFactor: topic.partitions[0]?.replicas.length ?? 0,
    partitions: topic.partitions.map(({ leader, replicas, isr }, partition) => ({ partition, leader, replicas, isr })),
  }
}
