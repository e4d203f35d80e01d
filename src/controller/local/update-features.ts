/** The updateFeatures command (KIP-584): finalized levels of features within what every node supports. Called by the local controller's cluster commands. */

import { brokerConfig } from '../../metadata/broker-configs.ts'
import type { FeatureUpdate } from '../../metadata/cluster-commands.ts'
import { configLayers, effectiveBrokerConfig } from '../../metadata/config-resolution.ts'
import type { ApiError } from '../../metadata/controller-port.ts'
import { ConfigResourceType, type MetadataImage } from '../../metadata/metadata-image.ts'
import { METADATA_VERSION_ELR, metadataChangedBetween } from '../../metadata/record-versions.ts'
import { type MetadataRecordInput, MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import { minInsyncReplicasRecord, supportedFeatures } from './bootstrap.ts'
import { accepted, type Decision, refused } from './decision.ts'

const METADATA_VERSION = 'metadata.version'
const ELR_VERSION = 'eligible.leader.replicas.version'
const KRAFT_VERSION = 'kraft.version'
const MIN_ISR = 'min.insync.replicas'

/** This node and its properties file. */
export interface OwnProperties {
  readonly nodeId: number
  readonly serverProperties: ReadonlyMap<string, string>
}

export function updateFeatures(
  image: MetadataImage,
  updates: readonly FeatureUpdate[],
  own: OwnProperties,
): Decision<ApiError> {
  const records: MetadataRecordInput[] = []
  for (const update of new Map(updates.map(update => [update.feature, update])).values()) {
    const problem = updateProblem(image, update, own.nodeId)
    if (problem !== undefined)
      return {
        records: [],
        answer: refused('INVALID_UPDATE_VERSION', `No feature was updated, because one cannot be: ${problem}`),
      }
    if (update.level !== levelOf(image, update.feature)) records.push(...recordsOf(image, update, own))
  }
  return { records, answer: accepted }
}

const levelOf = (image: MetadataImage, feature: string): number => image.features.get(feature) ?? 0

function updateProblem(image: MetadataImage, update: FeatureUpdate, nodeId: number): string | undefined {
  const { feature, level, upgradeType } = update
  const current = levelOf(image, feature)
  const invalid = (why: string) => `Invalid update version ${level} for feature ${feature}. ${why}`
  if (upgradeType === 'unknown') return invalid('The controller does not support the given upgrade type.')
  if (level < 0) return invalid('A feature version cannot be less than 0.')
  const unsupported = unsupportedBy(image, update, nodeId)
  if (unsupported !== undefined) return invalid(unsupported)
  if (level < current && upgradeType === 'upgrade')
    return invalid('To lower it, the upgrade type must be a safe or an unsafe downgrade.')
  if (level > current && upgradeType !== 'upgrade') return invalid('A downgrade cannot raise it.')
  if (feature === KRAFT_VERSION && level > current)
    return invalid('The voters of a standalone node cannot change: name the other features without it.')
  if (feature === ELR_VERSION && level > 0 && levelOf(image, METADATA_VERSION) < METADATA_VERSION_ELR)
    return invalid(`It needs ${METADATA_VERSION} ${METADATA_VERSION_ELR} or higher.`)
  if (feature !== METADATA_VERSION || level >= current || !metadataChangedBetween(level, current)) return undefined
  return upgradeType === 'unsafe-downgrade'
    ? `Unsupported ${METADATA_VERSION} downgrade from ${current} to ${level}. Unsafe downgrades of it are not supported.`
    : `Unsupported ${METADATA_VERSION} downgrade from ${current} to ${level}. It might delete metadata.`
}

/** Why a level is beyond some node; the level 0 of a feature that nobody knows is beyond everybody. */
function unsupportedBy(image: MetadataImage, { feature, level }: FeatureUpdate, nodeId: number): string | undefined {
  const own = supportedFeatures.get(feature)
  if (own === undefined)
    return level === 0 ? `Feature ${feature} not found.` : `Local controller ${nodeId} does not support this feature.`
  if (level < own.min || level > own.max)
    return `Local controller ${nodeId} only supports versions ${own.min}-${own.max}`
  for (const broker of image.brokers.values()) {
    const range = broker.features.get(feature)
    if (range === undefined) {
      if (level > 0) return `Broker ${broker.id} does not support this feature.`
    } else if (level !== 0 && (level < range.min || level > range.max))
      return `Broker ${broker.id} only supports versions ${range.min}-${range.max}`
  }
  return undefined
}

function recordsOf(image: MetadataImage, { feature, level }: FeatureUpdate, own: OwnProperties): MetadataRecordInput[] {
  const finalized: MetadataRecordInput = {
    type: MetadataRecordType.FeatureLevel,
    version: 0,
    value: { name: feature, featureLevel: level },
  }
  return feature === ELR_VERSION ? [finalized, ...elrRecords(image, level, own)] : [finalized]
}

/** KIP-966: with eligible leaders, min.insync.replicas is set for the whole cluster and for no single broker; without, none are kept. */
function elrRecords(image: MetadataImage, level: number, own: OwnProperties): MetadataRecordInput[] {
  if (level === 0) return [{ type: MetadataRecordType.ClearElr, version: 0, value: { topicName: '' } }]
  const layers = configLayers(image, { brokerId: own.nodeId, file: own.serverProperties })
  const broker = { resourceType: ConfigResourceType.BROKER, name: MIN_ISR, value: null }
  const perBroker = [...image.brokers.keys()].filter(id => configLayers(image, { brokerId: id }).broker.has(MIN_ISR))
  const value = effectiveBrokerConfig(MIN_ISR, { ...layers, broker: new Map() })
  return [
    ...(layers.defaultBroker.has(MIN_ISR)
      ? []
      : [minInsyncReplicasRecord(value ?? brokerConfig(MIN_ISR)?.property.default ?? '1')]),
    ...perBroker.map(
      (id): MetadataRecordInput => ({
        type: MetadataRecordType.Config,
        version: 0,
        value: { ...broker, resourceName: String(id) },
      }),
    ),
  ]
}
