/** What the probes of a remote cluster say about a link: LinkState and LinkError. Pure; driven by the link probe. */
import type { LinkState } from '../engine-api.ts'
import type { SourceFailure } from '../ports.ts'

/** rest-and-cli §1.4 LinkError for each way in which the source can fail. */
const linkErrors = {
  dns: 'UNRESOLVABLE_BOOTSTRAP_ERROR',
  tcp: 'BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR',
  tls: 'TLS_ERROR',
  login: 'AUTHENTICATION_ERROR',
  secret: 'AUTHENTICATION_ERROR',
  authorization: 'AUTHORIZATION_ERROR',
  'cluster-id': 'CLUSTER_ID_MISMATCH',
  timeout: 'TIMEOUT_ERROR',
  'advertised-listener': 'INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR',
  'unsupported-version': 'UNKNOWN',
  'unknown-topic': 'UNKNOWN',
  retriable: 'UNKNOWN',
  protocol: 'UNKNOWN',
} as const satisfies Record<SourceFailure, string>

export const linkErrorOf = (failure: SourceFailure): string => linkErrors[failure]

/** Failures that usually need a change by somebody: the link is FAILED at once rather than UNAVAILABLE after a while. */
const needsChange: ReadonlySet<SourceFailure> = new Set(['login', 'secret', 'authorization', 'cluster-id'])

export interface LinkHealth {
  readonly state: Extract<LinkState, 'ACTIVE' | 'FAILED' | 'UNAVAILABLE'>
  readonly failure: SourceFailure | undefined
  readonly message: string | undefined
  /** When the present failure was first seen (wall clock). */
  readonly sinceMs: number | undefined
  /** Failed probes in a row, counted at most once per probe period. */
  readonly failures: number
  /** When the last failure was counted (monotonic). */
  readonly countedAtMs: number
}

export const healthyLink: LinkHealth = {
  state: 'ACTIVE',
  failure: undefined,
  message: undefined,
  sinceMs: undefined,
  failures: 0,
  countedAtMs: Number.NEGATIVE_INFINITY,
}

/** The source answers, but not all of it can be reached: shown, while the state stays what an answer makes it. */
export const partlyReached = (
  health: LinkHealth,
  seen: { message: string; nowMs: number; failure: SourceFailure },
) => ({
  ...healthyLink,
  failure: seen.failure,
  message: seen.message,
  sinceMs: health.failure === undefined ? seen.nowMs : health.sinceMs,
})

export interface ProbeFailure {
  readonly failure: SourceFailure
  readonly message: string
  readonly nowMs: number
  readonly monotonicMs: number
  readonly periodMs: number
  readonly threshold: number
}

/** The first failure is shown at once; the state follows after `threshold` periods, or at once if somebody must act. */
export function afterFailedProbe(health: LinkHealth, probe: ProbeFailure): LinkHealth {
  // Probes repeat faster than the period while they fail, to heal sooner; only one per period counts.
  const counts = probe.monotonicMs - health.countedAtMs >= probe.periodMs
  const failures = health.failures + (counts ? 1 : 0)
  const state = needsChange.has(probe.failure) ? 'FAILED' : failures >= probe.threshold ? 'UNAVAILABLE' : 'ACTIVE'
  return {
    state,
    failure: probe.failure,
    message: probe.message,
    sinceMs: health.failure === undefined ? probe.nowMs : health.sinceMs,
    failures,
    countedAtMs: counts ? probe.monotonicMs : health.countedAtMs,
  }
}
