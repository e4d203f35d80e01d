/** Topics that Metadata creates since a client asked for them: by this cluster's controller, or by that of the joined cluster under the client's own rights, as Kafka's brokers do. */
import { OperationalError } from '../../core/errors.ts'
import type { CreatedTopic } from '../../metadata/controller-port.ts'
import { CreateTopicsApi } from '../../protocol/messages/19-create-topics.ts'
import type { BrokerContext, RequestOrigin } from '../handler.ts'
import { forward } from './forwarded-handlers.ts'

const TIMEOUT_MS = 30_000

/** With the default number of partitions and replicas; one answer per name. */
export async function createWithDefaults(
  broker: BrokerContext,
  origin: RequestOrigin,
  names: readonly string[],
): Promise<readonly Pick<CreatedTopic, 'name' | 'errorCode'>[]> {
  if (names.length === 0) return []
  if (broker.joined) return await createForClient(broker, origin, names)
  const defaults = { partitions: -1, replicationFactor: -1, assignments: new Map(), configs: new Map() }
  return await broker.controller.createTopics(
    names.map(name => ({ name, ...defaults })),
    { validateOnly: false, mayMutate: origin.throttle?.mutationGate({ strict: true }) },
  )
}

async function createForClient(broker: BrokerContext, { client, clientId }: RequestOrigin, names: readonly string[]) {
  const { key: apiKey, request, response } = CreateTopicsApi
  const apiVersion = Math.min(
    request.versions.max,
    broker.joined?.controllerVersions(apiKey)?.max ?? request.versions.max,
  )
  // What the file does not say is left to the controller.
  const own = (property: string) => Number(broker.settings.file.get(property) ?? -1)
  const [numPartitions, replicationFactor] = [own('num.partitions'), own('default.replication.factor')]
  const topics = names.map(name => ({ name, numPartitions, replicationFactor, assignments: [], configs: [] }))
  const body = request.encode({ topics, timeoutMs: TIMEOUT_MS, validateOnly: false }, apiVersion)
  try {
    const answer = await forward(broker, { apiKey, apiVersion, correlationId: 0, clientId, body }, client)
    return response.decode(answer, apiVersion).topics
  } catch (error) {
    if (!(error instanceof OperationalError)) throw error
    // The topics are missing, as they were; the client asks again.
    broker.logger.warn('topics that a client asked for could not be created', { clientId, error: error.message })
    return []
  }
}
