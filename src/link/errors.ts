/** Every refusal and failure of the link engine as a row; REST answers, CLI exit codes and docs/generated/errors.md read it. */
import { errorFactory } from '../core/errors.ts'

const invalid = { status: 400, restCode: 40002, kafka: 'INVALID_REQUEST', retriable: false } as const
const unsupported = { status: 400, restCode: 40035, kafka: 'UNSUPPORTED_VERSION', retriable: false } as const
const missing = { status: 404, restCode: 40403, retriable: false } as const
const unavailable = { status: 503, restCode: 50003, retriable: true } as const

export const linkErrors = {
  COORDINATOR_NOT_AVAILABLE: {
    ...unavailable,
    kafka: 'COORDINATOR_NOT_AVAILABLE',
    message: (d: { reason: string }) => `The link coordinator is not available: ${d.reason}.`,
    hint: () => 'Try again in a moment.',
  },
  STATE_RECORD_UNREADABLE: {
    status: 500,
    restCode: 500,
    kafka: 'UNSUPPORTED_VERSION',
    retriable: false,
    message: (d: { link: string; reason: string }) => `Cluster link '${d.link}' is stopped: ${d.reason}.`,
    hint: () => 'Start a version of Lockstep that is at least as new as the one that wrote the record.',
  },
  LINK_EXISTS: {
    ...invalid,
    message: (d: { link: string }) => `Cluster link '${d.link}' already exists.`,
  },
  LINK_NOT_FOUND: {
    ...missing,
    kafka: 'INVALID_REQUEST',
    message: (d: { link: string }) => `The cluster link doesn't exist: '${d.link}'.`,
  },
  LINK_NAME_INVALID: {
    ...invalid,
    message: (d: { link: string; problem: string }) => `Invalid Cluster Link Name. '${d.link}' ${d.problem}.`,
  },
  LINK_CLUSTER_ID_MISPLACED: {
    ...invalid,
    message: (d: { field: string; mode: string; expected: string }) =>
      `${d.field} does not belong to a link whose link.mode is ${d.mode}; give ${d.expected}.`,
  },
  LINK_ID_NOT_ALLOWED: {
    ...invalid,
    message: () => 'cluster_link_id may only be given for the second side of a bidirectional link.',
  },
  LINK_ID_INVALID: {
    ...invalid,
    message: (d: { given: string }) => `cluster_link_id '${d.given}' is no link id: give its 22 characters.`,
  },
  LINK_ID_TAKEN: {
    ...invalid,
    message: (d: { linkId: string; link: string }) =>
      `Link '${d.link}' of this cluster has the id '${d.linkId}' already.`,
  },
  LINK_ID_MISMATCH: {
    ...invalid,
    message: (d: { given: string; found: string; link: string }) =>
      `cluster_link_id '${d.given}' was given, but link '${d.link}' of the remote cluster has the id '${d.found}'.`,
  },
  LINK_PEER_UNFIT: {
    ...invalid,
    message: (d: { link: string; problem: string }) =>
      `Cluster link '${d.link}' cannot be bidirectional: ${d.problem}.`,
    hint: () => 'Correct the other side, or create the link without validation (validate_link=false).',
  },
  LINK_CONFIG_UNKNOWN: {
    ...invalid,
    kafka: 'INVALID_CONFIG',
    message: (d: { key: string; nearest: string | undefined }) =>
      `Invalid Config Name. '${d.key}' is not a property of cluster links${d.nearest ? `; did you mean '${d.nearest}'?` : '.'}`,
  },
  LINK_CONFIG_INVALID: {
    ...invalid,
    kafka: 'INVALID_CONFIG',
    message: (d: { key: string; problem: string }) => `Link property '${d.key}' ${d.problem}.`,
  },
  LINK_CONFIG_READ_ONLY: {
    ...invalid,
    kafka: 'INVALID_CONFIG',
    message: (d: { key: string }) => `Link property '${d.key}' is fixed when the link is created.`,
  },
  LINK_CONFIG_UNSUPPORTED: {
    ...invalid,
    kafka: 'INVALID_CONFIG',
    message: (d: { key: string; value: string; reason: string }) =>
      `Link property '${d.key}' cannot be '${d.value}': ${d.reason}.`,
  },
  LINK_PREFIX_TAKEN: {
    ...invalid,
    message: (d: { prefix: string; link: string }) =>
      `The prefix '${d.prefix}' already exists: link '${d.link}' uses it.`,
  },
  LINK_VALIDATION_FAILED: {
    ...invalid,
    message: (d: { link: string; error: string; reason: string }) =>
      `Cluster link '${d.link}' could not be validated (${d.error}): ${d.reason}.`,
    hint: () => 'Correct the connection settings, or create the link without validation (validate_link=false).',
  },
  LINK_REMOTE_ID_MISMATCH: {
    ...invalid,
    message: (d: { expected: string; found: string }) =>
      `Remote cluster id mismatch: '${d.expected}' was given, but the cluster that answers is '${d.found}'.`,
  },
  LINK_REMOTE_IS_SELF: {
    ...invalid,
    message: (d: { clusterId: string }) => `The remote cluster '${d.clusterId}' is this cluster itself.`,
  },
  LINK_HAS_MIRRORS: {
    status: 403,
    restCode: 40301,
    kafka: 'CLUSTER_AUTHORIZATION_FAILED',
    retriable: false,
    message: (d: { link: string; topics: readonly string[] }) =>
      `Cluster link '${d.link}' still has ${d.topics.length} mirror topic(s) that are not stopped: ${listed(d.topics)}.`,
    hint: () =>
      'Fail over these topics first, or let the deletion do it: --fail-over-mirrors on the command line, force=true in REST.',
  },
  LINK_BEING_DELETED: {
    ...invalid,
    message: (d: { link: string }) => `Cluster link '${d.link}' is being deleted.`,
  },
  LINK_PAUSED: {
    ...invalid,
    message: (d: { link: string }) => `Cluster link '${d.link}' is paused.`,
  },
  SOURCE_NOT_AVAILABLE: {
    ...unavailable,
    kafka: 'BROKER_NOT_AVAILABLE',
    message: (d: { link: string; error: string; reason: string }) =>
      `The remote cluster of link '${d.link}' could not be asked (${d.error}): ${d.reason}.`,
  },
  SOURCE_TOPIC_NOT_FOUND: {
    ...missing,
    kafka: 'UNKNOWN_TOPIC_OR_PARTITION',
    message: (d: { topic: string; link: string }) =>
      `Topic '${d.topic}' does not exist on the remote cluster of link '${d.link}', or its credentials may not see it.`,
  },
  SOURCE_TOPIC_REFUSED: {
    ...invalid,
    kafka: 'POLICY_VIOLATION',
    message: (d: { topic: string }) => `Topic '${d.topic}' is never mirrored: it belongs to its own cluster.`,
  },
  MIRROR_LOOP: {
    ...invalid,
    kafka: 'POLICY_VIOLATION',
    message: (d: { topic: string; of: string }) =>
      `Topic '${d.topic}' would be a mirror of itself: its source is a mirror of ${d.of}.`,
    hint: () => 'Fail over (or delete) the mirror on the other cluster first.',
  },
  TOPIC_EXISTS: {
    ...invalid,
    kafka: 'TOPIC_ALREADY_EXISTS',
    message: (d: { topic: string }) => `Topic '${d.topic}' already exists.`,
  },
  TOPIC_NAME_INVALID: {
    ...invalid,
    kafka: 'INVALID_TOPIC_EXCEPTION',
    message: (d: { topic: string; problem: string }) => `Topic name '${d.topic}' is invalid: it ${d.problem}.`,
  },
  MIRROR_NAME_NOT_PREFIXED: {
    ...unsupported,
    message: (d: { given: string; expected: string; prefix: string }) =>
      d.prefix === ''
        ? `Topic renaming for mirroring not yet supported: '${d.given}' must be '${d.expected}', since the link has no prefix.`
        : `The mirror topic must be named '${d.expected}' (prefix '${d.prefix}' and the source name), not '${d.given}'.`,
  },
  TOPIC_CONFIG_SYNCED: {
    ...invalid,
    kafka: 'INVALID_CONFIG',
    message: (d: { key: string; link: string }) =>
      `Topic config '${d.key}' cannot be set: link '${d.link}' copies it from the source.`,
  },
  TOPIC_CREATION_REFUSED: {
    ...invalid,
    message: (d: { topic: string; reason: string }) => `Topic '${d.topic}' cannot be created: ${d.reason}`,
  },
  TOPIC_CREATION_FAILED: {
    ...unavailable,
    kafka: 'UNKNOWN_SERVER_ERROR',
    message: (d: { topic: string; reason: string }) => `Topic '${d.topic}' could not be created: ${d.reason}`,
  },
  MIRROR_NOT_FOUND: {
    ...missing,
    kafka: 'UNKNOWN_TOPIC_OR_PARTITION',
    message: (d: { topic: string; link: string }) => `Link '${d.link}' has no mirror topic '${d.topic}'.`,
  },
  MIRROR_ALREADY_STOPPED: {
    ...invalid,
    restCode: 400,
    message: (d: { topic: string; link: string }) =>
      `Topic '${d.topic}' has already stopped its mirror from '${d.link}'`,
  },
  MIRROR_CANNOT_RESUME: {
    ...invalid,
    restCode: 400,
    message: (d: { topic: string; reason: string }) =>
      `Mirror topic '${d.topic}' cannot be resumed: ${d.reason}. Delete the topic and create the mirror again.`,
    hint: () => 'The copy that is here stays readable until it is deleted; failover makes it writable.',
  },
  MIRROR_CANNOT_REVERSE: {
    ...invalid,
    restCode: 400,
    message: (d: { topic: string; reason: string }) => `Mirror topic '${d.topic}' cannot be reversed: ${d.reason}.`,
  },
  MIRROR_CANNOT_RESTORE: {
    ...invalid,
    restCode: 400,
    message: (d: { topic: string; reason: string }) => `Topic '${d.topic}' cannot be restored: ${d.reason}.`,
    hint: () =>
      'Where nothing proves what the two sides have in common: delete the topic here and create it as a mirror.',
  },
  MIRROR_TRANSITION_REFUSED: {
    ...invalid,
    restCode: 400,
    message: (d: { topic: string; state: string; verb: string; legal: readonly string[] }) =>
      `Mirror topic '${d.topic}' is ${d.state}, where ${d.verb} is not possible; possible: ${d.legal.join(', ') || 'nothing'}.`,
  },
  MIRROR_BUSY: {
    ...unavailable,
    kafka: 'CONCURRENT_TRANSACTIONS',
    message: (d: { topic: string; verb: string; step: string; reason: string }) =>
      `The ${d.verb} of mirror topic '${d.topic}' was accepted and is not finished (${d.step}): ${d.reason}.`,
    hint: () => 'It is continued until it succeeds; watch the mirror.',
  },
  GROUP_NOT_ADOPTABLE: {
    ...invalid,
    message: (d: { group: string; reason: string }) => `Group '${d.group}' cannot be adopted: ${d.reason}.`,
  },
  TASK_NOT_CONFIGURED: {
    ...invalid,
    message: (d: { task: string; link: string; known: readonly string[] }) =>
      `Link '${d.link}' does not run the task '${d.task}'; it runs: ${d.known.join(', ')}.`,
  },
  VERB_NOT_SUPPORTED: {
    ...unsupported,
    message: (d: { verb: string }) => `'${d.verb}' is not supported yet by this version of Lockstep.`,
  },
  VERIFICATION_IMPOSSIBLE: {
    ...invalid,
    message: (d: { topic: string; reason: string }) =>
      `Mirror topic '${d.topic}' cannot be compared with its source: ${d.reason}.`,
  },
  VERIFICATION_NOT_FOUND: {
    ...missing,
    kafka: 'INVALID_REQUEST',
    message: (d: { id: string }) => `There is no verification '${d.id}' of this link here.`,
    hint: () => 'Verifications are forgotten when the node restarts, and when many others have ended since.',
  },
  VERIFICATIONS_BUSY: {
    status: 429,
    restCode: 429,
    kafka: 'THROTTLING_QUOTA_EXCEEDED',
    retriable: true,
    message: (d: { max: number }) => `${d.max} verifications are running, which is as many as run at the same time.`,
    hint: () => 'Wait for one of them or cancel it.',
  },
  PATTERN_INVALID: {
    ...invalid,
    message: (d: { pattern: string; problem: string }) => `'${d.pattern}' is not a regular expression: ${d.problem}.`,
  },
} as const

export const linkError = errorFactory(linkErrors)

/** At most ten names, for messages. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(', ')
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown
}
