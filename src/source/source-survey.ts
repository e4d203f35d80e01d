/** What a source answers about itself: probes of a running link, and the survey of a preflight; the source cluster exposes both. */
import {
  SourceError,
  type SourceProbe,
  type SourceSurvey,
  type SurveyedAddress,
  type SurveyedTopics,
} from '../link/ports.ts'
import type { BrokerConnection } from '../network/broker-connection.ts'
import { apiOf } from '../protocol/api-registry.ts'
import type { BrokerPool } from './broker-pool.ts'
import { askMetadata } from './metadata-question.ts'
import { sourceErrorOf } from './source-error-of.ts'
import { describeCluster, describeTopicConfigs, describeTopics, metadataOf } from './topic-questions.ts'

/** Brokers of a source that are tried in one go. */
const BROKERS_TRIED = 20
/** Topics by which a probe tells whether anything may be described. */
const TOPICS_ASKED = 100
/** APIs without which a link, or one of its syncs, does not work: key and lowest version. */
const NEEDED_APIS: readonly (readonly [number, number])[] = [
  [1, 4],
  [2, 1],
  [3, 4],
  [9, 2],
  [10, 0],
  [16, 0],
  [23, 2],
  [29, 0],
  [32, 1],
]
/** Topics of which the configs are read in a survey. */
const CONFIGS_ASKED = 100

/** Rejects with SourceError if no bootstrap server answers, no broker can be reached, or no topic may be described. */
export async function probe(pool: BrokerPool, topics: readonly string[], signal?: AbortSignal): Promise<SourceProbe> {
  const { clusterId } = await describeCluster(pool, signal)
  const unreachable = await retryUnreached(pool, signal)
  if (topics.length > 0) await proveAccess(pool, topics.slice(0, TOPICS_ASKED), signal)
  return { clusterId, unreachable }
}

/** Tries brokers that failed lately; where there is no connection to any, some of them. */
async function retryUnreached(pool: BrokerPool, signal?: AbortSignal): Promise<SourceError | undefined> {
  const noneReached = !pool.brokers.some(broker => pool.wasReached(broker))
  const tried = (noneReached ? pool.brokers : pool.unreached).slice(0, BROKERS_TRIED)
  const failures = (await Promise.all(tried.map(broker => tryBroker(pool, broker, signal)))).flatMap(
    ({ error }) => error ?? [],
  )
  const [first] = failures
  if (first && failures.length === pool.brokers.length) throw first
  return first
}

async function proveAccess(pool: BrokerPool, names: readonly string[], signal?: AbortSignal): Promise<void> {
  const { topics } = await metadataOf(pool, names, { signal })
  const answers = [...topics.values()]
  if (answers.length === 0 || !answers.every(({ kind }) => kind === 'unauthorized')) return
  const some = names.slice(0, 3).join(', ')
  const which = names.length > 3 ? `${some} and ${names.length - 3} more` : some
  throw new SourceError('authorization', `the link may not describe any of its source topics (${which})`)
}

/** Never rejects, but with the reason of the signal. */
export async function surveySource(
  pool: BrokerPool,
  bootstrapServers: readonly string[],
  signal?: AbortSignal,
): Promise<SourceSurvey> {
  const nothing = { clusterId: undefined, missingApis: [], brokers: [], topics: undefined }
  const servers = await Promise.all(bootstrapServers.map(server => tryServer(pool, server, signal)))
  const bootstrap = servers.map(({ address, error }) => ({ address, error }))
  const answered = servers.find(({ error }) => error === undefined)
  if (!answered) return { ...nothing, bootstrap }
  const missingApis = [...new Set(servers.flatMap(server => server.missingApis))]
  const { clusterId } = answered
  const brokers = await Promise.all(
    pool.brokers
      .slice(0, BROKERS_TRIED)
      .map(async broker => ({ id: broker.id, ...(await tryBroker(pool, broker, signal)) })),
  )
  const topics = await visibleTopics(pool, signal).catch(error => sourceErrorOf(error))
  signal?.throwIfAborted()
  return { bootstrap, clusterId, missingApis, brokers, topics }
}

interface TriedServer extends SurveyedAddress {
  readonly clusterId: string | undefined
  readonly missingApis: readonly string[]
}

async function tryServer(pool: BrokerPool, address: string, signal?: AbortSignal): Promise<TriedServer> {
  let connection: BrokerConnection | undefined
  try {
    connection = await pool.connectToServer(address, signal)
    const { clusterId, brokers } = await askMetadata(connection, [], { signal })
    pool.learnBrokers(brokers)
    return { address, error: undefined, clusterId, missingApis: missingApis(connection) }
  } catch (error) {
    return { address, error: sourceErrorOf(error), clusterId: undefined, missingApis: [] }
  } finally {
    connection?.close()
  }
}

const missingApis = (connection: BrokerConnection): string[] =>
  NEEDED_APIS.filter(
    ([key, min]) => connection.versionFor(key, { min, max: Number.POSITIVE_INFINITY }) === undefined,
  ).map(([key]) => apiOf(key)?.name ?? String(key))

type Broker = BrokerPool['brokers'][number]

/** The broker is in the metadata of a server that answered: that it cannot be reached at all is a matter of its address. */
async function tryBroker(pool: BrokerPool, broker: Broker, signal?: AbortSignal): Promise<SurveyedAddress> {
  const address = `${broker.host}:${broker.port}`
  try {
    const connection = await pool.connectTo(broker.id, signal)
    connection.close()
    return { address, error: undefined }
  } catch (error) {
    signal?.throwIfAborted()
    const failure = sourceErrorOf(error)
    if (failure.failure !== 'tcp' || pool.wasReached(broker) || pool.isBootstrap(address))
      return { address, error: failure }
    const message = `the source advertises broker ${broker.id} at ${address}, where nothing answers: ${failure.message}`
    return { address, error: new SourceError('advertised-listener', message, { cause: failure }) }
  }
}

async function visibleTopics(pool: BrokerPool, signal?: AbortSignal): Promise<SurveyedTopics> {
  const topics = await describeTopics(pool, 'all', signal)
  const names = topics.map(({ name }) => name)
  const unreadable = topics.flatMap(({ name, mayRead }) => (mayRead === false ? [name] : []))
  const asked = names.slice(0, CONFIGS_ASKED)
  const configsError = await describeTopicConfigs(pool, asked, signal).then(() => undefined, sourceErrorOf)
  return { names, unreadable, configsError }
}
