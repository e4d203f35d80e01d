/** A metadata image as the records that make it: the contents of a metadata snapshot. Pure; used by the controller's snapshot writer. */
import { type MetadataRecordInput, MetadataRecordType as T } from '../protocol/metadata-records/registry.ts'
import { parseResourceKey } from './metadata-delta.ts'
import type {
  BrokerImage,
  ControllerImage,
  EndpointImage,
  FeatureRange,
  MetadataImage,
  PartitionImage,
  TopicImage,
} from './metadata-image.ts'
import { type RecordVersions, recordVersions } from './record-versions.ts'

/**
 * Applied to an empty image, the records give `image` again (but for its place in the log). In Kafka's order: the features
 * first, since metadata.version says how to read the rest. What the metadata.version cannot express is left out.
 */
export function* imageRecords(image: MetadataImage): Generator<MetadataRecordInput, void, undefined> {
  const versions = recordVersions(image)
  yield* featureRecords(image)
  for (const broker of image.brokers.values()) yield brokerRecord(broker, versions.registerBroker)
  for (const controller of image.controllers.values()) yield controllerRecord(controller)
  for (const topic of image.topics.values()) yield* topicRecords(topic, versions)
  yield* configRecords(image)
  yield* clientQuotaRecords(image)
  if (image.nextProducerId > 0n)
    yield {
      type: T.ProducerIds,
      version: 0,
      value: { brokerId: -1, brokerEpoch: -1n, nextProducerId: image.nextProducerId },
    }
  yield* securityRecords(image)
}

function* featureRecords({ features }: MetadataImage): Generator<MetadataRecordInput> {
  const first = 'metadata.version'
  for (const name of [first, ...features.keys().filter(other => other !== first)]) {
    const featureLevel = features.get(name)
    if (featureLevel !== undefined) yield { type: T.FeatureLevel, version: 0, value: { name, featureLevel } }
  }
}

const brokerRecord = (broker: BrokerImage, version: number): MetadataRecordInput => ({
  type: T.RegisterBroker,
  version,
  value: {
    brokerId: broker.id,
    incarnationId: broker.incarnationId,
    brokerEpoch: BigInt(broker.epoch),
    endPoints: endpoints(broker.listeners),
    features: features(broker.features),
    rack: broker.rack,
    fenced: broker.fenced,
    inControlledShutdown: broker.inControlledShutdown,
    ...(version >= 3 ? { logDirs: broker.logDirs } : {}),
    ...(version >= 4 ? { cordonedLogDirs: broker.cordonedLogDirs } : {}),
  },
})

const controllerRecord = (controller: ControllerImage): MetadataRecordInput => ({
  type: T.RegisterController,
  version: 0,
  value: {
    controllerId: controller.id,
    incarnationId: controller.incarnationId,
    zkMigrationReady: false,
    endPoints: endpoints(controller.listeners),
    features: features(controller.features),
  },
})

const endpoints = (listeners: ReadonlyMap<string, EndpointImage>): EndpointImage[] => [...listeners.values()]

const features = (ranges: ReadonlyMap<string, FeatureRange>) =>
  Array.from(ranges, ([name, { min, max }]) => ({ name, minSupportedVersion: min, maxSupportedVersion: max }))

function* topicRecords({ name, id, partitions }: TopicImage, versions: RecordVersions): Generator<MetadataRecordInput> {
  yield { type: T.Topic, version: 0, value: { name, topicId: id } }
  for (const [partitionId, partition] of partitions.entries())
    yield partitionRecord(partition, { topicId: id, partitionId, version: versions.partition })
}

function partitionRecord(
  partition: PartitionImage,
  { topicId, partitionId, version }: { topicId: TopicImage['id']; partitionId: number; version: number },
): MetadataRecordInput {
  const { eligibleLeaderReplicas, lastKnownElr, directories, ...rest } = partition
  return {
    type: T.Partition,
    version,
    value: {
      ...rest,
      topicId,
      partitionId,
      ...(version >= 1 ? { directories } : {}),
      // Absent while empty, as Kafka writes them.
      ...(version >= 2 && eligibleLeaderReplicas.length > 0 ? { eligibleLeaderReplicas } : {}),
      ...(version >= 2 && lastKnownElr.length > 0 ? { lastKnownElr } : {}),
    },
  }
}

function* configRecords({ configs }: MetadataImage): Generator<MetadataRecordInput> {
  for (const [key, overrides] of configs) {
    const { type: resourceType, name: resourceName } = parseResourceKey(key)
    for (const [name, value] of overrides)
      yield { type: T.Config, version: 0, value: { resourceType, resourceName, name, value } }
  }
}

function* clientQuotaRecords({ clientQuotas }: MetadataImage): Generator<MetadataRecordInput> {
  for (const quota of clientQuotas.values()) {
    const entity = quota.entity.map(({ type, name }) => ({ entityType: type, entityName: name }))
    for (const [key, value] of quota.values)
      yield { type: T.ClientQuota, version: 0, value: { entity, key, value, remove: false } }
  }
}

function* securityRecords(image: MetadataImage): Generator<MetadataRecordInput> {
  for (const value of image.acls.values()) yield { type: T.AccessControlEntry, version: 0, value }
  for (const { user: name, ...credential } of image.scramCredentials.values())
    yield { type: T.UserScramCredential, version: 0, value: { name, ...credential } }
  for (const value of image.delegationTokens.values()) yield { type: T.DelegationToken, version: 0, value }
}
