/** What a link asks a source about itself, rather than about topics: probes and preflights; part of the ports. */
import type { SourceError } from './source-error.ts'

/** The answer of a probe that got through. */
export interface SourceProbe {
  readonly clusterId: string
  /** Why some of the brokers that the source advertises cannot be reached; undefined = all that were tried can be. */
  readonly unreachable: SourceError | undefined
}

/** One address that was tried. */
export interface SurveyedAddress {
  /** `host:port` */
  readonly address: string
  /** undefined = connected, logged in, and it answers. */
  readonly error: SourceError | undefined
}

/** What the login of a link may do with the topics that it sees. */
export interface SurveyedTopics {
  readonly names: readonly string[]
  /** Without READ, as far as the source tells. */
  readonly unreadable: readonly string[]
  /** Why their configs could not be read. */
  readonly configsError: SourceError | undefined
}

/** Everything that can be tried of a source; only what the one before makes possible. */
export interface SourceSurvey {
  /** Every bootstrap server. */
  readonly bootstrap: readonly SurveyedAddress[]
  /** undefined = no bootstrap server answers. */
  readonly clusterId: string | undefined
  /** Names of Kafka APIs that links use and this source lacks. */
  readonly missingApis: readonly string[]
  /** The brokers that the source advertises, at most 20 of them. */
  readonly brokers: readonly (SurveyedAddress & { readonly id: number })[]
  readonly topics: SurveyedTopics | SourceError | undefined
}

/** What only some links need: the syncs of groups and of ACLs. */
export const groupSyncApis: readonly string[] = ['OffsetFetch', 'FindCoordinator', 'ListGroups']
export const aclSyncApis: readonly string[] = ['DescribeAcls']
