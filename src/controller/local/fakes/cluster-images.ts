/** Images of a one-node cluster and the way to apply decisions to them, for tests of the controller's commands. */
import assert from 'node:assert/strict'
import type { Uuid } from '../../../core/uuid.ts'
import type { NewTopic } from '../../../metadata/controller-port.ts'
import { applyRecords } from '../../../metadata/metadata-editor.ts'
import { emptyImage, type MetadataImage } from '../../../metadata/metadata-image.ts'
import {
  decodeMetadataRecord,
  encodeMetadataRecord,
  type MetadataRecordInput,
  MetadataRecordType as T,
} from '../../../protocol/metadata-records/registry.ts'
import { createTopics } from '../create-topics.ts'
import { type OwnBroker, registerBroker, unfenceBroker } from '../register-broker.ts'

export const directoryId = 'hzmhp9hQl8ACUa-s3E55ug' as Uuid
export const ownBroker: OwnBroker = { id: 1, incarnationId: directoryId, listeners: [], rack: null, directoryId }
export const topicDefaults = { partitions: 3, replicationFactor: 1 }

/** The image after the records went through their encoded form. */
export function after(image: MetadataImage, records: readonly MetadataRecordInput[]): MetadataImage {
  const decoded = records.map(record => decodeMetadataRecord(encodeMetadataRecord(record)))
  const known = decoded.flatMap(record => ('unknown' in record ? [] : [record]))
  assert.equal(known.length, records.length)
  return applyRecords(image, known, { offset: image.offset + records.length, epoch: 1, controllerId: 1 }).image
}

/** A formatted cluster with the given brokers in service. */
export function clusterOf(...ids: number[]): MetadataImage {
  const feature = (name: string, featureLevel: number): MetadataRecordInput => ({
    type: T.FeatureLevel,
    version: 0,
    value: { name, featureLevel },
  })
  let image = emptyImage('c')
  image = after(image, [feature('metadata.version', 30), feature('eligible.leader.replicas.version', 1)])
  for (const id of ids) {
    image = after(image, registerBroker(image, { ...ownBroker, id }, 7).records)
    image = after(image, unfenceBroker(image, id, true).records)
  }
  return image
}

export const newTopic = (name: string, fields: Partial<NewTopic> = {}): NewTopic => ({
  name,
  partitions: fields.assignments ? -1 : 1,
  replicationFactor: fields.assignments ? -1 : 1,
  assignments: new Map(),
  configs: new Map(),
  ...fields,
})

/** A one-broker cluster with one topic of one partition. */
export function withTopic(name: string, fields: Partial<NewTopic> = {}): MetadataImage {
  const image = clusterOf(1)
  return after(image, createTopics(image, [newTopic(name, fields)], topicDefaults).records)
}
