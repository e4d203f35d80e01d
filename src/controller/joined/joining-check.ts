/** Whether a cluster, its version and our rights in it allow this node to join, asked without registering anything; `lockstep server --check` tells it. */

import { AclOperation, type AclOperationName } from '../../metadata/authorizer.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { missingRight } from '../../metadata/missing-right.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { DescribeClusterApi } from '../../protocol/messages/60-describe-cluster.ts'
import { type JoiningBroker, joiningProblems, rackFor } from './broker-registration.ts'
import type { ControllerQuestions } from './controller-questions.ts'

export interface JoiningReport {
  /** Sentences about what was found. */
  readonly facts: readonly string[]
  readonly warnings: readonly string[]
  /** Each must be mended first. */
  readonly problems: readonly string[]
  /** As the controllers tell it; undefined if we may not ask. */
  readonly clusterId: string | undefined
}

/** DescribeCluster of the controllers, from version 1 on (KIP-919). */
const CONTROLLERS = 2

/** Without these nothing works. */
const NEEDED: readonly AclOperationName[] = ['CLUSTER_ACTION', 'ALTER']
/** On the cluster, or on the single topics, groups and so on. */
const USEFUL: readonly AclOperationName[] = [
  'CREATE',
  'DESCRIBE',
  'ALTER_CONFIGS',
  'DESCRIBE_CONFIGS',
  'IDEMPOTENT_WRITE',
]

/** Levels of metadata.version. */
const DIRECTORIES_LEVEL = 17
const TRIED_LEVEL = 21
const CORDON_LEVEL = 30

/** Coordinators live where these topics' leaders are: made before we join, none of them comes here. */
const INTERNAL_TOPICS = ['__consumer_offsets', '__transaction_state', '__share_group_state']

/** The image is that of the cluster. Rejects as `ControllerQuestions.ask`. */
export async function checkJoining(
  questions: ControllerQuestions,
  image: MetadataImage,
  node: Pick<JoiningBroker, 'nodeId' | 'incarnationId' | 'listeners' | 'rack'>,
): Promise<JoiningReport> {
  const rights = await rightsIn(questions)
  const level = image.features.get('metadata.version') ?? 0
  const brokers = [...image.brokers.values()].filter(({ id }) => id !== node.nodeId)
  return {
    clusterId: rights.clusterId,
    facts: [
      `the active controller is ${image.controllerId}, the metadata was read up to offset ${image.offset}`,
      `the cluster has ${brokers.length} brokers (${brokers
        .map(({ id }) => id)
        .sort((a, b) => a - b)
        .join(', ')}) and ${image.topics.size} topics, at metadata.version ${level}`,
      `this node would register as broker ${node.nodeId} in the rack ${rackFor(image, node) ?? '(none)'}`,
    ],
    warnings: [...rights.warnings, ...versionWarnings(level), ...placementWarnings(image, level)],
    problems: [...rights.problems, ...versionProblems(level), ...joiningProblems(image, node)],
  }
}

async function rightsIn(
  questions: ControllerQuestions,
): Promise<{ clusterId: string | undefined; warnings: string[]; problems: string[] }> {
  const { response } = await questions.ask(
    DescribeClusterApi,
    { includeClusterAuthorizedOperations: true, endpointType: CONTROLLERS },
    { codes: ({ errorCode }) => [errorCode], repeatable: true },
  )
  const { errorCode, clusterId, clusterAuthorizedOperations: bits } = response
  if (errorCode === ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    return { clusterId: undefined, warnings: [], problems: [missingRight({ operation: 'ALTER', resource: 'CLUSTER' })] }
  if (errorCode !== ErrorCode.NONE)
    return { clusterId: undefined, warnings: [`rights could not be asked for: ${errorName(errorCode)}`], problems: [] }
  // No bit at all: our rights could not be told, which needs DESCRIBE.
  const told = bits > 0
  const lacks = (operation: AclOperationName) => told && (bits & (1 << AclOperation[operation])) === 0
  return {
    clusterId,
    problems: NEEDED.filter(lacks).map(operation => missingRight({ operation, resource: 'CLUSTER' })),
    warnings: [
      ...(told ? [] : ['DESCRIBE on the cluster is missing, so that other rights could not be checked']),
      ...USEFUL.filter(lacks).map(
        operation =>
          `without ${operation} on the cluster, ACLs of single topics and groups have to grant what links do`,
      ),
    ],
  }
}

function versionProblems(level: number): string[] {
  if (level >= DIRECTORIES_LEVEL) return []
  return [`metadata.version ${level} is too old: Lockstep joins clusters of Kafka 3.9.1 and later`]
}

const versionWarnings = (level: number): string[] =>
  level >= DIRECTORIES_LEVEL && level < TRIED_LEVEL
    ? [`metadata.version ${level} is below ${TRIED_LEVEL} (Kafka 3.9), the oldest that was tried`]
    : []

function placementWarnings(image: MetadataImage, level: number): string[] {
  const missing = INTERNAL_TOPICS.filter(name => !image.topicIds.has(name))
  if (level >= CORDON_LEVEL || missing.length === 0) return []
  return [
    `below metadata.version ${CORDON_LEVEL} (Kafka 4.3) Kafka places new replicas here too, until they are moved away; create ${missing.join(', ')} before this node joins`,
  ]
}
