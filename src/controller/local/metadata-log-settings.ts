/** The `metadata.*` server properties behind the metadata log and its snapshots; read once, when the local controller starts. */
import { brokerConfig } from '../../metadata/broker-configs.ts'
import type { SnapshotRules } from './snapshotter.ts'

type Properties = ReadonlyMap<string, string>

export const snapshotRules = (file: Properties): SnapshotRules => ({
  bytesBetween: numberOf(file, 'metadata.log.max.record.bytes.between.snapshots'),
  intervalMs: numberOf(file, 'metadata.log.max.snapshot.interval.ms'),
  retention: {
    bytes: numberOf(file, 'metadata.max.retention.bytes'),
    ms: numberOf(file, 'metadata.max.retention.ms'),
  },
})

export const segmentLimits = (file: Properties): { readonly bytes: number; readonly ms: number } => ({
  bytes: Number(file.get('internal.metadata.log.segment.bytes') ?? numberOf(file, 'metadata.log.segment.bytes')),
  ms: numberOf(file, 'metadata.log.segment.ms'),
})

/** Values were checked when the file was read. */
const numberOf = (file: Properties, name: string): number =>
  Number(file.get(name) ?? brokerConfig(name)?.property.default)
