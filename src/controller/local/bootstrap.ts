/** What a metadata log starts with: the feature levels of a new cluster, and Kafka's bootstrap.checkpoint. Called by the local controller on a fresh directory. */
import { join } from 'node:path'
import { type FileSystem, saveFile } from '../../log/file-system.ts'
import { ConfigResourceType, type FeatureRange } from '../../metadata/metadata-image.ts'
import { METADATA_VERSION_LATEST, METADATA_VERSION_MIN } from '../../metadata/record-versions.ts'
import { type MetadataRecordInput, MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import { metadataBatchesIn } from '../metadata-batches.ts'
import { snapshotBatches } from '../snapshot-batches.ts'

const BOOTSTRAP_FILE = 'bootstrap.checkpoint'

/** Levels that `kafka-storage format` of 4.3.1 gives a new cluster. */
const newClusterFeatures: readonly (readonly [string, number])[] = [
  ['metadata.version', METADATA_VERSION_LATEST],
  ['eligible.leader.replicas.version', 1],
  ['group.version', 1],
  ['share.version', 1],
  ['streams.version', 1],
  ['transaction.version', 2],
]

/** Ranges that this node supports; registered with the broker and told in ApiVersions answers. */
export const supportedFeatures: ReadonlyMap<string, FeatureRange> = new Map([
  ['metadata.version', { min: METADATA_VERSION_MIN, max: METADATA_VERSION_LATEST }],
  ['kraft.version', { min: 0, max: 1 }],
  ['eligible.leader.replicas.version', { min: 0, max: 1 }],
  ['group.version', { min: 0, max: 1 }],
  ['share.version', { min: 0, max: 1 }],
  ['streams.version', { min: 0, max: 1 }],
  ['transaction.version', { min: 0, max: 2 }],
])

const newClusterRecords = (): MetadataRecordInput[] =>
  newClusterFeatures.map(([name, featureLevel]) => ({
    type: MetadataRecordType.FeatureLevel,
    version: 0,
    value: { name, featureLevel },
  }))

/** The bootstrap records of a directory: those of its bootstrap.checkpoint, which is written first if there is none. */
export async function bootstrapRecords(
  fs: FileSystem,
  directory: string,
  timestamp: bigint,
): Promise<MetadataRecordInput[]> {
  const path = join(directory, BOOTSTRAP_FILE)
  if ((await fs.sizeOf(path)) === undefined) {
    await fs.createDirectory(directory)
    const frame = { epoch: 0, timestamp, lastContainedTimestamp: 0n }
    await saveFile(fs, path, Buffer.concat([...snapshotBatches(newClusterRecords(), frame)]))
  }
  const records: MetadataRecordInput[] = []
  for (const batch of metadataBatchesIn(await fs.readFile(path)))
    for (const record of batch.records) if (!('unknown' in record)) records.push(record)
  return records
}

/** With eligible leader replicas, min.insync.replicas must be set for the whole cluster (KIP-966): Kafka's controller records it at first start. */
export const minInsyncReplicasRecord = (value: string): MetadataRecordInput => ({
  type: MetadataRecordType.Config,
  version: 0,
  value: { resourceType: ConfigResourceType.BROKER, resourceName: '', name: 'min.insync.replicas', value },
})
