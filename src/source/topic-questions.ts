/** Questions about a source cluster, its topics and their configs that any of its brokers answers; the source cluster exposes them. */
import type { SourceBroker, SourceClusterFacts, SourceTopic, SourceTopicConfig } from '../link/ports.ts'
import { SourceError } from '../link/ports.ts'
import type { BrokerConnection } from '../network/broker-connection.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { DescribeConfigsApi } from '../protocol/messages/32-describe-configs.ts'
import { DescribeClusterApi } from '../protocol/messages/60-describe-cluster.ts'
import type { BrokerPool } from './broker-pool.ts'
import { askMetadata, type MetadataAnswer, type MetadataOptions } from './metadata-question.ts'
import { sourceErrorForCode, sourceErrorOf } from './source-error-of.ts'

/** Kafka's resource type of topics. */
const TOPIC_RESOURCE = 2
/** Config source of a value that the topic itself carries (DYNAMIC_TOPIC_CONFIG). */
const TOPIC_OVERRIDE = 1

/** Asks a bootstrap server over a new connection, so that name, network and login are proven anew. */
export async function describeCluster(pool: BrokerPool, signal?: AbortSignal): Promise<SourceClusterFacts> {
  const connection = await pool.connectToBootstrap(signal)
  try {
    const hasDescribeCluster = connection.versionFor(DescribeClusterApi.key) !== undefined
    const facts = await (hasDescribeCluster ? askCluster(connection, signal) : askMetadata(connection, [], { signal }))
    pool.learnBrokers(facts.brokers)
    return { clusterId: facts.clusterId, brokers: facts.brokers }
  } catch (error) {
    signal?.throwIfAborted()
    throw sourceErrorOf(error)
  } finally {
    connection.close()
  }
}

async function askCluster(connection: BrokerConnection, signal?: AbortSignal): Promise<SourceClusterFacts> {
  const request = { includeClusterAuthorizedOperations: false, includeFencedBrokers: false }
  const { response } = await connection.send(DescribeClusterApi, request, { signal })
  if (response.errorCode !== ErrorCode.NONE) throw sourceErrorForCode(response.errorCode, 'describing the cluster')
  const brokers: SourceBroker[] = response.brokers.map(({ brokerId, host, port, rack }) => ({
    id: brokerId,
    host,
    port,
    rack,
  }))
  return { clusterId: response.clusterId, brokers }
}

/** Metadata of these topics from any broker; the pool learns the brokers. */
export function metadataOf(
  pool: BrokerPool,
  names: readonly string[] | 'all',
  options: MetadataOptions = {},
): Promise<MetadataAnswer> {
  return pool.askAny(async connection => {
    const answer = await askMetadata(connection, names, options)
    pool.learnBrokers(answer.brokers)
    return answer
  }, options.signal)
}

/** Topics that exist, with what the credentials may do. */
export async function describeTopics(
  pool: BrokerPool,
  names: readonly string[] | 'all',
  signal?: AbortSignal,
): Promise<SourceTopic[]> {
  const answer = await metadataOf(pool, names, { signal, withRights: true })
  if (names !== 'all') return topicsOf(answer)
  return [...answer.topics.values()].flatMap(found => (found.kind === 'present' ? [found.topic] : []))
}

/** A topic that may not be described, or not now, fails the question. */
function topicsOf(answer: MetadataAnswer): SourceTopic[] {
  const topics: SourceTopic[] = []
  for (const [name, found] of answer.topics) {
    if (found.kind === 'present') topics.push(found.topic)
    else if (found.kind === 'unauthorized')
      throw new SourceError('authorization', `the link may not describe topic ${name} of the source`)
    else if (found.kind === 'unavailable') throw sourceErrorForCode(found.errorCode, `describing topic ${name}`)
  }
  return topics
}

/** Effective configs by topic; a topic that does not exist is absent. */
export function describeTopicConfigs(
  pool: BrokerPool,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<Map<string, Map<string, SourceTopicConfig>>> {
  const resources = names.map(name => ({ resourceType: TOPIC_RESOURCE, resourceName: name, configurationKeys: null }))
  if (resources.length === 0) return Promise.resolve(new Map())
  return pool.askAny(async connection => {
    const { response } = await connection.send(DescribeConfigsApi, { resources }, { signal })
    const topics = new Map<string, Map<string, SourceTopicConfig>>()
    for (const { resourceName, errorCode, configs } of response.results) {
      if (errorCode === ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) continue
      if (errorCode !== ErrorCode.NONE)
        throw sourceErrorForCode(errorCode, `describing the configs of topic ${resourceName}`)
      const entries = configs.map(({ name, value, configSource }): [string, SourceTopicConfig] => [
        name,
        { value, overridden: configSource === TOPIC_OVERRIDE },
      ])
      topics.set(resourceName, new Map(entries))
    }
    return topics
  }, signal)
}
