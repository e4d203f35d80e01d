/** Link properties → the settings that the source connection needs; called by the link runtime and by link creation. */
import type { SecurityTexts, SourceConnectionSettings } from '../ports.ts'
import type { LinkConfigs } from './link-configs.ts'

/** Partitions are discovered at least this often, whatever the metadata age. */
const metadataAgeMaxMs = 30_000

/** How often partitions that the source gained are looked for. */
export const partitionSyncPeriodMs = (configs: LinkConfigs): number =>
  Math.min(Math.max(configs.must('metadata.max.age.ms'), 1000), metadataAgeMaxMs)

export function connectionSettings(
  configs: LinkConfigs,
  link: { name: string; remoteClusterId: string | undefined },
): SourceConnectionSettings {
  return {
    bootstrapServers: configs.must('bootstrap.servers'),
    clusterId: link.remoteClusterId,
    clientId: `lockstep-link-${link.name}`,
    requestTimeoutMs: configs.must('request.timeout.ms'),
    connectTimeoutMs: configs.must('socket.connection.setup.timeout.ms'),
    connectTimeoutMaxMs: configs.must('socket.connection.setup.timeout.max.ms'),
    apiTimeoutMs: configs.must('default.api.timeout.ms'),
    idleMsMax: configs.must('connections.max.idle.ms'),
    bootstrapLookup: configs.must('client.dns.lookup'),
    metadataMaxAgeMs: Math.min(configs.must('metadata.max.age.ms'), metadataAgeMaxMs),
    retryBackoffMs: configs.must('retry.backoff.ms'),
    security: securityTexts(configs),
    fetch: {
      connectionsPerBroker: configs.must('num.cluster.link.fetchers'),
      partitionBytesMax: configs.must('replica.fetch.max.bytes'),
      responseBytesMax: configs.must('replica.fetch.response.max.bytes'),
      minBytes: configs.must('replica.fetch.min.bytes'),
      waitMaxMs: configs.must('replica.fetch.wait.max.ms'),
      backoffMs: configs.must('replica.fetch.backoff.ms'),
      inFlightBytesMax: configs.must('fetch.max.in.flight.bytes'),
      timeoutMs: fetchTimeoutMs(configs),
    },
  }
}

/** As long as other answers, unless it is said otherwise. */
const fetchTimeoutMs = (configs: LinkConfigs): number =>
  configs.must(configs.overrides.has('replica.socket.timeout.ms') ? 'replica.socket.timeout.ms' : 'request.timeout.ms')

/** What is set, and the defaults that the connection needs. */
const securityTexts = (configs: LinkConfigs): SecurityTexts => ({
  'ssl.endpoint.identification.algorithm': configs.must('ssl.endpoint.identification.algorithm'),
  ...Object.fromEntries([...configs.overrides].filter(([name]) => /^(security\.protocol$|sasl\.|ssl\.)/.test(name))),
})
