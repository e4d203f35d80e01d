/** Checks of the way to a remote cluster, from its names to its advertised listeners; made of a survey of the source. Pure. */
import { linkError } from '../errors.ts'
import type { SourceError, SourceFailure, SourceSurvey, SurveyedAddress } from '../ports.ts'
import { linkErrorOf } from '../states/link-health.ts'
import type { CheckList, LinkCheckName } from './check-list.ts'

/** Which step on the way to an answer a failure belongs to. */
const steps: readonly LinkCheckName[] = ['DNS', 'TCP', 'TLS', 'LOGIN', 'API_VERSIONS']

const stepOf: Readonly<Record<SourceFailure, LinkCheckName>> = {
  dns: 'DNS',
  tcp: 'TCP',
  timeout: 'TCP',
  tls: 'TLS',
  login: 'LOGIN',
  secret: 'LOGIN',
  authorization: 'API_VERSIONS',
  'cluster-id': 'CLUSTER_ID',
  'advertised-listener': 'ADVERTISED_LISTENERS',
  'unsupported-version': 'API_VERSIONS',
  'unknown-topic': 'API_VERSIONS',
  retriable: 'API_VERSIONS',
  protocol: 'API_VERSIONS',
}

export const hintOf: Readonly<Partial<Record<SourceFailure, string>>> = {
  dns: 'Correct the host names in bootstrap.servers, or the name service of this node.',
  tcp: 'Is the remote cluster up, is the port right, and does a firewall let this node through?',
  timeout: 'Does a firewall drop the packets, or does the listener expect TLS (security.protocol)?',
  tls: 'Compare ssl.truststore.* with the certificates of the remote cluster, and its names with bootstrap.servers.',
  login: 'Compare sasl.mechanism and sasl.jaas.config with the users of the remote cluster.',
  secret:
    'Give this node the key that the secret was encrypted with (lockstep.secret.key.file), or set the secret again.',
  'advertised-listener':
    'Let the remote cluster advertise addresses that this node can resolve and reach (advertised.listeners).',
  protocol: 'Is this a Kafka listener, and is security.protocol that of the listener?',
  'unsupported-version': 'Sources must run Kafka 2.1 or newer.',
  authorization: 'Grant the rights to the user of the link.',
}

const passedMessages: Partial<Record<LinkCheckName, string>> = {
  DNS: 'The bootstrap servers have addresses.',
  TCP: 'The bootstrap servers accept connections.',
  TLS: 'The certificates of both sides are accepted.',
  LOGIN: 'The remote cluster accepts the login.',
}

export interface ReachSubject {
  readonly link: string
  readonly securityProtocol: string
  /** Of the link, if it is known. */
  readonly expectedClusterId: string | undefined
  /** Of this cluster. */
  readonly ownClusterId: string
  /** APIs that this link needs. */
  readonly neededApis: (name: string) => boolean
}

export function checkReach(checks: CheckList, survey: SourceSurvey, subject: ReachSubject): void {
  checkBootstrap(checks, survey, subject)
  if (survey.clusterId === undefined) return
  const missing = survey.missingApis.filter(subject.neededApis)
  if (missing.length > 0) {
    const reason = `the remote cluster lacks ${missing.join(', ')}`
    checks.failed('API_VERSIONS', validationFailed(subject, { failure: 'unsupported-version', reason }), {
      message: `The remote cluster lacks APIs that the link needs: ${missing.join(', ')}.`,
      hint: hintOf['unsupported-version'] ?? null,
    })
  } else checks.passed('API_VERSIONS', 'The remote cluster has all APIs that the link needs.')
  checkClusterId(checks, survey.clusterId, subject)
  checkBrokers(checks, survey, subject)
}

function checkBootstrap(checks: CheckList, { bootstrap, clusterId }: SourceSurvey, subject: ReachSubject): void {
  const { securityProtocol } = subject
  const failed = bootstrap.flatMap(server => (server.error ? [{ server, error: server.error }] : []))
  const furthest = failed.reduce(
    (found, { error }) => (found && rankOf(found) >= rankOf(error) ? found : error),
    undefined as SourceError | undefined,
  )
  const at = clusterId === undefined && furthest ? stepOf[furthest.failure] : undefined
  for (const step of steps.slice(0, -1)) {
    if (at !== undefined && steps.indexOf(step) >= steps.indexOf(at)) break
    if (step === 'TLS' && !/SSL$/.test(securityProtocol)) checks.skipped(step, 'The link does not use TLS.')
    else if (step === 'LOGIN' && !securityProtocol.startsWith('SASL_'))
      checks.skipped(step, 'The link does not log in.')
    // Versions are asked for before the login.
    else if (step !== 'LOGIN' || at === undefined) checks.passed(step, passedMessages[step] ?? '')
  }
  if (at !== undefined && furthest) {
    const reason = failed.map(({ error }) => error.message).join('; ')
    const told = { message: sentence(reason), hint: hintOf[furthest.failure] ?? null }
    checks.failed(at, validationFailed(subject, { failure: furthest.failure, reason, cause: furthest }), told)
    return
  }
  const byStep = Map.groupBy(failed, ({ error }) => stepOf[error.failure])
  for (const [step, found] of byStep) checks.warn(step, unanswered(found), hintOf[found[0]?.error.failure ?? 'tcp'])
}

const rankOf = (error: SourceError): number => steps.indexOf(stepOf[error.failure])

const unanswered = (found: readonly { server: SurveyedAddress; error: SourceError }[]): string =>
  `Some bootstrap servers do not answer: ${found.map(({ error }) => error.message).join('; ')}.`

function checkClusterId(checks: CheckList, found: string, subject: ReachSubject): void {
  const { expectedClusterId: expected, ownClusterId } = subject
  if (found === ownClusterId) checks.failed('CLUSTER_ID', linkError('LINK_REMOTE_IS_SELF', { clusterId: found }))
  else if (expected !== undefined && expected !== found)
    checks.failed('CLUSTER_ID', linkError('LINK_REMOTE_ID_MISMATCH', { expected, found }))
  else checks.passed('CLUSTER_ID', `The remote cluster is ${found}.`)
}

/** One broker that is down is nothing unusual; none at all means that the addresses are not for us. */
function checkBrokers(checks: CheckList, { brokers }: SourceSurvey, subject: ReachSubject): void {
  const errors = brokers.flatMap(({ error }) => error ?? [])
  const [first] = errors
  if (!first) {
    checks.passed('ADVERTISED_LISTENERS', `All ${brokers.length} brokers can be reached where they say they are.`)
    return
  }
  const reason = errors.map(error => error.message).join('; ')
  const hint = hintOf[first.failure] ?? hintOf['advertised-listener'] ?? null
  if (errors.length < brokers.length) {
    const message = `${errors.length} of ${brokers.length} brokers cannot be reached: ${reason}.`
    checks.warn('ADVERTISED_LISTENERS', message, hint)
    return
  }
  const refusal = validationFailed(subject, { failure: first.failure, reason, cause: first })
  checks.failed('ADVERTISED_LISTENERS', refusal, { message: sentence(reason), hint })
}

/** What the creation of a link answers that cannot be validated. */
export function validationFailed(
  { link }: Pick<ReachSubject, 'link'>,
  { failure, reason, cause }: { failure: SourceFailure; reason: string; cause?: unknown },
) {
  return linkError('LINK_VALIDATION_FAILED', { link, error: linkErrorOf(failure), reason }, cause)
}

export const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
