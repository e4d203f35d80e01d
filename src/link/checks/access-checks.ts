/** Checks of what the login of a link may see and read at the remote cluster; asks the source where a survey does not tell. */

import { messageOf } from '../../core/errors.ts'
import type { LinkConfigs } from '../configs/link-configs.ts'
import { isNeverMirrored } from '../configs/topic-rules.ts'
import { type SourceCluster, SourceError, type SourceSurvey, type SurveyedTopics } from '../ports.ts'
import { aclSyncApis, groupSyncApis } from '../source-survey.ts'
import type { CheckList } from './check-list.ts'
import { hintOf, sentence, validationFailed } from './reach-checks.ts'

/** What another Lockstep cluster publishes. */
const STATUS_TOPIC = '__lockstep_status'

export interface AccessSubject {
  readonly link: string
  readonly configs: LinkConfigs
  readonly source: SourceCluster
}

/** Only a login that may not describe topics at all is a reason to refuse the link; the rest are warnings. */
export async function checkAccess(checks: CheckList, survey: SourceSurvey, subject: AccessSubject): Promise<void> {
  const { topics } = survey
  if (topics === undefined) return
  if (topics instanceof SourceError) {
    const { failure, message: reason } = topics
    const told = { message: sentence(reason), hint: hintOf[failure] ?? null }
    checks.failed('DESCRIBE_TOPICS', validationFailed(subject, { failure, reason, cause: topics }), told)
    return
  }
  checkTopics(checks, topics)
  await checkStatusTopic(checks, topics, subject)
  await checkGroups(checks, survey, subject)
  await checkAcls(checks, survey, subject)
}

function checkTopics(checks: CheckList, { names, unreadable, configsError }: SurveyedTopics): void {
  const own = names.filter(name => !isNeverMirrored(name))
  if (own.length === 0)
    checks.warn(
      'DESCRIBE_TOPICS',
      'The link sees no topic that could be mirrored at the remote cluster.',
      'Grant DESCRIBE and READ on the topics that are to be mirrored to the user of the link.',
    )
  else checks.passed('DESCRIBE_TOPICS', `The link sees ${own.length} topic(s) that could be mirrored.`)
  const closed = unreadable.filter(name => !isNeverMirrored(name))
  if (closed.length > 0)
    checks.warn(
      'READ_TOPICS',
      `The link may not read ${closed.length} of the topics that it sees: ${some(closed)}.`,
      'Grant READ on the topics that are to be mirrored to the user of the link.',
    )
  else if (own.length > 0)
    checks.passed('READ_TOPICS', 'As far as the remote cluster tells, the link may read what it sees.')
  if (configsError)
    checks.warn(
      'DESCRIBE_CONFIGS',
      `Configs of topics cannot be read: ${configsError.message}.`,
      'Grant DESCRIBE_CONFIGS on the topics that are to be mirrored to the user of the link.',
    )
  else if (names.length > 0) checks.passed('DESCRIBE_CONFIGS', 'The link may read the configs of topics.')
}

async function checkStatusTopic(checks: CheckList, topics: SurveyedTopics, { source }: AccessSubject): Promise<void> {
  const hint = 'Grant DESCRIBE and READ on __lockstep_status to the user of the link: loops of mirrors are found by it.'
  if (topics.names.includes(STATUS_TOPIC)) {
    if (topics.unreadable.includes(STATUS_TOPIC))
      checks.warn('STATUS_TOPIC', `The link may not read ${STATUS_TOPIC} of the remote cluster.`, hint)
    else checks.passed('STATUS_TOPIC', `The link may read ${STATUS_TOPIC} of the remote cluster.`)
    return
  }
  try {
    await source.describeTopics([STATUS_TOPIC])
    checks.skipped('STATUS_TOPIC', `The remote cluster has no ${STATUS_TOPIC}: it is not known to mirror anything.`)
  } catch (error) {
    checks.warn(
      'STATUS_TOPIC',
      `Whether the remote cluster has ${STATUS_TOPIC} is not told: ${messageOf(error)}.`,
      hint,
    )
  }
}

async function checkGroups(checks: CheckList, survey: SourceSurvey, { configs, source }: AccessSubject): Promise<void> {
  if (!configs.must('consumer.offset.sync.enable')) {
    checks.skipped('GROUPS', 'The link does not sync group offsets.')
    return
  }
  const missing = survey.missingApis.filter(name => groupSyncApis.includes(name))
  const hint = 'Grant DESCRIBE on the groups, or on the cluster, to the user of the link.'
  try {
    if (missing.length > 0) throw new SourceError('unsupported-version', `the source lacks ${missing.join(', ')}`)
    const groups = await source.listGroups()
    if (groups.length > 0) checks.passed('GROUPS', `The link sees ${groups.length} group(s).`)
    else checks.warn('GROUPS', 'The link sees no groups at the remote cluster.', hint)
  } catch (error) {
    checks.warn('GROUPS', `Groups of the remote cluster cannot be listed: ${messageOf(error)}.`, hint)
  }
}

async function checkAcls(checks: CheckList, survey: SourceSurvey, { configs, source }: AccessSubject): Promise<void> {
  if (!configs.must('acl.sync.enable')) {
    checks.skipped('ACLS', 'The link does not sync ACLs.')
    return
  }
  const missing = survey.missingApis.filter(name => aclSyncApis.includes(name))
  try {
    if (missing.length > 0) throw new SourceError('unsupported-version', `the source lacks ${missing.join(', ')}`)
    const there = await source.describeAcls()
    if (there.kind === 'acls') checks.passed('ACLS', `The link sees ${there.acls.length} ACL(s).`)
    else checks.warn('ACLS', 'The remote cluster has no authorizer, so there are no ACLs to sync.')
  } catch (error) {
    const hint = 'Grant DESCRIBE on the cluster to the user of the link.'
    checks.warn('ACLS', `ACLs of the remote cluster cannot be read: ${messageOf(error)}.`, hint)
  }
}

const some = (names: readonly string[]): string =>
  names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ')
