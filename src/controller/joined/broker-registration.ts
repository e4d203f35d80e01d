/** What this node tells a cluster that it joins, what stands in the way of that, and the registration itself (BrokerRegistration, key 62). */
import { offsetFromWire } from '../../core/offset.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { BrokerImage, EndpointImage, FeatureRange, MetadataImage } from '../../metadata/metadata-image.ts'
import { missingRight } from '../../metadata/missing-right.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import {
  BrokerRegistrationApi,
  type BrokerRegistrationRequestInput,
} from '../../protocol/messages/62-broker-registration.ts'
import { supportedFeatures } from '../local/bootstrap.ts'
import type { ControllerQuestions } from './controller-questions.ts'
import { joinedError } from './joined-errors.ts'

/** This node as a broker. */
export interface JoiningBroker {
  readonly nodeId: number
  readonly clusterId: string
  readonly incarnationId: Uuid
  /** −1 unless the last life ended cleanly. */
  readonly previousEpoch: number
  /** Exactly one: then the cluster assigns it by itself. */
  readonly directoryId: Uuid
  /** As others reach them. */
  readonly listeners: readonly EndpointImage[]
  /** From the configuration; null = that of the other brokers. */
  readonly rack: string | null
}

const UNKNOWN_FEATURE: FeatureRange = { min: 0, max: 0 }

/** The other brokers of the cluster. */
const othersThan = (image: MetadataImage, nodeId: number): BrokerImage[] =>
  [...image.brokers.values()].filter(({ id }) => id !== nodeId)

/** The configured rack, or one of the other brokers. A rack of our own would draw replicas of every topic, even while we are fenced. */
export function rackFor(image: MetadataImage, { nodeId, rack }: Pick<JoiningBroker, 'nodeId' | 'rack'>): string | null {
  if (rack !== null) return rack
  const racks = othersThan(image, nodeId).flatMap(broker => broker.rack ?? [])
  return racks.sort()[0] ?? null
}

/** A sentence for each thing that must change first; empty = the cluster should take us. Nothing is asked of anybody. */
export function joiningProblems(
  image: MetadataImage,
  node: Pick<JoiningBroker, 'nodeId' | 'incarnationId' | 'listeners' | 'rack'>,
): string[] {
  return [...featureProblems(image), ...identityProblems(image, node), ...placeProblems(image, node)]
}

function featureProblems(image: MetadataImage): string[] {
  return [...image.features].flatMap(([name, level]) => {
    const { min, max } = supportedFeatures.get(name) ?? UNKNOWN_FEATURE
    if (level >= min && level <= max) return []
    return `the cluster has ${name} at level ${level}, and this version of Lockstep supports ${min} to ${max}: use a version of Lockstep for that Kafka`
  })
}

function identityProblems(
  image: MetadataImage,
  { nodeId, incarnationId }: Pick<JoiningBroker, 'nodeId' | 'incarnationId'>,
): string[] {
  const problems: string[] = []
  if (image.controllers.has(nodeId)) problems.push(`node.id ${nodeId} is that of a controller: choose one of its own`)
  const present = image.brokers.get(nodeId)
  if (present && !present.fenced && present.incarnationId !== incarnationId)
    problems.push(
      `node.id ${nodeId} is registered by another process that is alive: choose one of its own, or wait for its session to end if it was this node`,
    )
  return problems
}

function placeProblems(
  image: MetadataImage,
  { nodeId, listeners, rack }: Pick<JoiningBroker, 'nodeId' | 'listeners' | 'rack'>,
): string[] {
  const others = othersThan(image, nodeId)
  if (others.length === 0) return []
  const problems: string[] = []
  const racks = new Set(others.map(broker => broker.rack))
  if (rack !== null && !racks.has(rack))
    problems.push(
      `broker.rack ${rack} is no other broker's: Kafka would place replicas of all topics here. Use ${[...racks].map(name => name ?? '(none)').join(' or ')}`,
    )
  const shared = [...(others[0]?.listeners.keys() ?? [])].filter(name =>
    others.every(broker => broker.listeners.has(name)),
  )
  const names = listeners.map(({ name }) => name)
  if (!shared.some(name => names.includes(name)))
    problems.push(
      `the other brokers listen as ${shared.join(', ')}, and this node as ${names.join(', ')}: followers look for the listener inter.broker.listener.name here`,
    )
  return problems
}

export function registrationRequest(image: MetadataImage, node: JoiningBroker): BrokerRegistrationRequestInput {
  return {
    brokerId: node.nodeId,
    clusterId: node.clusterId,
    incarnationId: node.incarnationId,
    listeners: [...node.listeners],
    features: [...supportedFeatures].map(([name, { min, max }]) => ({
      name,
      minSupportedVersion: min,
      maxSupportedVersion: max,
    })),
    rack: rackFor(image, node),
    isMigratingZkBroker: false,
    logDirs: [node.directoryId],
    previousBrokerEpoch: BigInt(node.previousEpoch),
  }
}

/** Errors that pass: our own last session has to end first, or the controller is not ready. */
const PASSING: ReadonlySet<number> = new Set([ErrorCode.DUPLICATE_BROKER_REGISTRATION, ErrorCode.REQUEST_TIMED_OUT])

/**
 * Registers once. Resolves to the broker epoch, or undefined if it may be tried again in a moment; rejects with
 * REGISTRATION_REFUSED, or as `ControllerQuestions.ask`.
 */
export async function registerOnce(
  questions: ControllerQuestions,
  request: BrokerRegistrationRequestInput,
): Promise<number | undefined> {
  const { response } = await questions.ask(BrokerRegistrationApi, request, {
    codes: ({ errorCode }) => [errorCode],
    repeatable: true,
  })
  if (response.errorCode === ErrorCode.NONE) return offsetFromWire(response.brokerEpoch)
  if (PASSING.has(response.errorCode)) return undefined
  throw joinedError('REGISTRATION_REFUSED', {
    error: errorName(response.errorCode),
    why: REASONS[response.errorCode] ?? 'the controller gives no reason',
  })
}

const REASONS: Readonly<Record<number, string>> = {
  [ErrorCode.INCONSISTENT_CLUSTER_ID]: 'it has another cluster id',
  [ErrorCode.UNSUPPORTED_VERSION]:
    'this version of Lockstep does not support a feature at the level that the cluster has finalized',
  [ErrorCode.CLUSTER_AUTHORIZATION_FAILED]: missingRight({ operation: 'CLUSTER_ACTION', resource: 'CLUSTER' }),
  [ErrorCode.INVALID_REGISTRATION]: 'the directory id belongs to another broker, or the registration lacks something',
}
