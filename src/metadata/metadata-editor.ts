/** Applies metadata records to a copy of an image and says what changed; called by the replay loop for each batch or group of batches. */
import { type MetadataRecord, MetadataRecordType } from '../protocol/metadata-records/registry.ts'
import { BrokerChanges } from './broker-changes.ts'
import type { MetadataDelta } from './metadata-delta.ts'
import type { MetadataImage } from './metadata-image.ts'
import { SecurityChanges } from './security-changes.ts'
import { SettingChanges } from './setting-changes.ts'
import { TopicChanges } from './topic-changes.ts'

/** Where in the metadata log an image stands. */
export interface LogPosition {
  /** Offset of the last record applied. */
  readonly offset: number
  readonly epoch: number
  readonly controllerId: number
}

export interface AppliedRecords {
  readonly image: MetadataImage
  readonly delta: MetadataDelta
}

interface Changes {
  readonly topics: TopicChanges
  readonly brokers: BrokerChanges
  readonly settings: SettingChanges
  readonly security: SecurityChanges
}

type RecordType = MetadataRecord['type']
type Rule<K extends RecordType> = (to: Changes, record: Extract<MetadataRecord, { readonly type: K }>['value']) => void

const T = MetadataRecordType
const nothing = () => {}

/** What each record type does to an image; a new type of Kafka must be given its rule here. */
const rules: { readonly [K in RecordType]: Rule<K> } = {
  [T.RegisterBroker]: (to, record) => to.brokers.register(record),
  [T.UnregisterBroker]: (to, record) => to.brokers.unregister(record.brokerId, record.brokerEpoch),
  [T.FenceBroker]: (to, record) => to.brokers.fence(record.id, record.epoch, true),
  [T.UnfenceBroker]: (to, record) => to.brokers.fence(record.id, record.epoch, false),
  [T.BrokerRegistrationChange]: (to, record) => to.brokers.change(record),
  [T.RegisterController]: (to, record) => to.brokers.registerController(record),
  [T.Topic]: (to, record) => to.topics.addTopic(record),
  [T.Partition]: (to, record) => to.topics.addPartition(record),
  [T.PartitionChange]: (to, record) => to.topics.changePartition(record),
  [T.RemoveTopic]: (to, record) => to.settings.topicRemoved(to.topics.removeTopic(record.topicId)),
  [T.ClearElr]: (to, record) => to.topics.clearEligibleLeaders(record),
  [T.Config]: (to, record) => to.settings.config(record),
  [T.FeatureLevel]: (to, record) => to.settings.feature(record),
  [T.ProducerIds]: (to, record) => to.settings.producerIds(record.nextProducerId),
  [T.AccessControlEntry]: (to, record) => to.security.addAcl(record),
  [T.RemoveAccessControlEntry]: (to, record) => to.security.removeAcl(record.id),
  [T.UserScramCredential]: (to, record) => to.security.scramCredential(record),
  [T.RemoveUserScramCredential]: (to, record) => to.security.removeScramCredential(record),
  [T.DelegationToken]: (to, record) => to.security.delegationToken(record),
  [T.RemoveDelegationToken]: (to, record) => to.security.removeDelegationToken(record.tokenId),
  [T.ClientQuota]: (to, record) => to.security.clientQuota(record),
  [T.NoOp]: nothing,
  [T.ZkMigrationState]: nothing,
  // Resolved before they get here: metadata-transactions.ts.
  [T.BeginTransaction]: nothing,
  [T.EndTransaction]: nothing,
  [T.AbortTransaction]: nothing,
}

/**
 * One step from image to image. The base stays as it is; untouched parts are shared.
 * `apply` throws MetadataReplayError when a record contradicts the image: the editor is then unusable.
 */
export class MetadataEditor {
  readonly #base: MetadataImage
  readonly #changes: Changes

  constructor(base: MetadataImage) {
    this.#base = base
    this.#changes = {
      topics: new TopicChanges(base),
      brokers: new BrokerChanges(base),
      settings: new SettingChanges(base),
      security: new SecurityChanges(base),
    }
  }

  apply(record: MetadataRecord): void {
    const rule = rules[record.type] as Rule<RecordType>
    rule(this.#changes, record.value as never)
  }

  finish(position: LogPosition): AppliedRecords {
    const { changedTopics, deletedTopics, topics, topicIds } = this.#changes.topics.finish()
    const { changedBrokers, brokers, controllers } = this.#changes.brokers.finish()
    const { changedConfigs, configs, features, nextProducerId } = this.#changes.settings.finish()
    const security = this.#changes.security.finish()
    const base = this.#base
    const image: MetadataImage = {
      clusterId: base.clusterId,
      ...position,
      topics,
      topicIds,
      brokers,
      controllers,
      configs,
      features,
      nextProducerId,
      ...security,
    }
    const delta: MetadataDelta = {
      fromOffset: base.offset,
      changedTopics,
      deletedTopics,
      changedConfigs,
      changedBrokers,
      featuresChanged: features !== base.features,
      aclsChanged: security.acls !== base.acls,
      scramCredentialsChanged: security.scramCredentials !== base.scramCredentials,
      clientQuotasChanged: security.clientQuotas !== base.clientQuotas,
      delegationTokensChanged: security.delegationTokens !== base.delegationTokens,
    }
    return { image, delta }
  }
}

/** Applies all records in one step. Throws MetadataReplayError. */
export function applyRecords(
  image: MetadataImage,
  records: Iterable<MetadataRecord>,
  position: LogPosition,
): AppliedRecords {
  const editor = new MetadataEditor(image)
  for (const record of records) editor.apply(record)
  return editor.finish(position)
}
