/** What the source in memory answers about itself; the fake source spreads it into its clusters. */
import { type SourceCluster, SourceError, type SourceFailure } from '../ports.ts'

type Failed = { readonly failure: SourceFailure; readonly message: string }

interface SurveyedSource {
  readonly clusterId: string
  readonly failure: Failed | undefined
  readonly questionFailure: Failed | undefined
  /** Set: a broker that the source advertises cannot be reached. */
  readonly unreachable: Failed | undefined
  readonly topics: ReadonlyMap<string, unknown>
  readonly unreadable: ReadonlySet<string>
  readonly missingApis: readonly string[]
}

const errorOf = (failed: Failed | undefined) => failed && new SourceError(failed.failure, failed.message)

export const fakeSurvey = (source: SurveyedSource, servers: readonly string[]) =>
  ({
    probe: async topics => {
      const failed = errorOf(source.failure ?? source.questionFailure)
      if (failed) throw failed
      if (topics.length > 0 && topics.every(topic => source.unreadable.has(topic)))
        throw new SourceError('authorization', `the link may not describe any of ${topics.join(', ')}`)
      return { clusterId: source.clusterId, unreachable: errorOf(source.unreachable) }
    },
    survey: async () => {
      const error = errorOf(source.failure ?? source.questionFailure)
      const bootstrap = servers.map(address => ({ address, error }))
      if (error) return { bootstrap, clusterId: undefined, missingApis: [], brokers: [], topics: undefined }
      const names = [...source.topics.keys()].filter(name => !source.unreadable.has(name))
      return {
        bootstrap,
        clusterId: source.clusterId,
        missingApis: source.missingApis,
        brokers: [{ id: 1, address: 'source:9092', error: errorOf(source.unreachable) }],
        topics: { names, unreadable: [], configsError: undefined },
      }
    },
  }) satisfies Pick<SourceCluster, 'probe' | 'survey'>
