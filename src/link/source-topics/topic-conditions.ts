/**
 * What stands between a source topic and its mirror, one condition at a time. Pure. The creation of mirrors, automatic creation,
 * the list of source topics and explain all ask here, so that none of them knows other rules than the rest.
 */
import type { OperationalError } from '../../core/errors.ts'
import { decidingFilters, filterText } from '../configs/name-filters.ts'
import { isLeftOutOfAutoCreate, isNeverMirrored, topicNameProblem } from '../configs/topic-rules.ts'
import { linkError } from '../errors.ts'
import { linkErrorOf } from '../states/link-health.ts'
import type { AtSource, LinkFacts, NameOwner, TopicFacts } from './topic-facts.ts'
import type { TopicOrigin } from './topic-origins.ts'

export type ConditionName =
  | 'LINK_NOT_PAUSED'
  | 'SOURCE_REACHABLE'
  | 'MAY_BE_MIRRORED'
  | 'SOURCE_TOPIC_EXISTS'
  | 'SOURCE_TOPIC_READABLE'
  | 'NO_LOOP'
  | 'SOURCE_IS_NO_MIRROR'
  | 'NAME_IS_FREE'
  | 'AUTO_CREATE_ENABLED'
  | 'INCLUDED_BY_FILTER'
  | 'NOT_EXCLUDED_BY_FILTER'
  | 'MIRROR_EXISTS'
  | 'MIRROR_NOT_STOPPED'
  | 'MIRROR_FOLLOWS'
  | 'PARTITIONS_FOLLOW'

/** YES = nothing stands in the way here. */
export interface Condition {
  readonly name: ConditionName
  readonly answer: 'YES' | 'NO' | 'UNKNOWN'
  /** A sentence. */
  readonly detail: string
  /** What the reader can do about it. */
  readonly hint: string | null
  /** A code for lists, of what is not met; empty for YES. */
  readonly reason: string
  /** What whoever asked for this mirror is told. */
  readonly refusal?: OperationalError
}

export const met = (name: ConditionName, detail: string): Condition => {
  return { name, answer: 'YES', detail, hint: null, reason: '' }
}

export const unmet = (name: ConditionName, reason: string, more: { detail: string; hint?: string }): Condition => {
  return { name, answer: 'NO', detail: more.detail, hint: more.hint ?? null, reason }
}

const untold = (name: ConditionName, reason: string, more: { detail: string; hint?: string }): Condition => {
  return { ...unmet(name, reason, more), answer: 'UNKNOWN' }
}

const refused = (name: ConditionName, reason: string, refusal: OperationalError): Condition => {
  const { message: detail, hint = null } = refusal
  return { name, answer: 'NO', detail, hint, reason, refusal }
}

/** May a topic of this name become a mirror under that one at all? */
export function mayBeMirrored(sourceTopic: string, mirrorTopic: string): Condition {
  const name = 'MAY_BE_MIRRORED'
  for (const topic of new Set([sourceTopic, mirrorTopic])) {
    const problem = topicNameProblem(topic)
    if (problem) return refused(name, 'INVALID_TOPIC', linkError('TOPIC_NAME_INVALID', { topic, problem }))
    if (isNeverMirrored(topic)) return refused(name, 'NEVER_MIRRORED', linkError('SOURCE_TOPIC_REFUSED', { topic }))
  }
  return met(name, 'Its name is not among those that are never mirrored.')
}

export function existsAtSource(topic: string, link: string, atSource: AtSource): Condition {
  const name = 'SOURCE_TOPIC_EXISTS'
  switch (atSource.kind) {
    case 'found':
      return met(name, `The source has it, with ${atSource.topic.partitions.length} partition(s).`)
    case 'missing': {
      const refusal = linkError('SOURCE_TOPIC_NOT_FOUND', { topic, link })
      const hint = 'Look at its name and, where the source has ACLs, grant DESCRIBE, READ and DESCRIBE_CONFIGS on it.'
      return { ...refused(name, 'SOURCE_TOPIC_NOT_FOUND', refusal), hint }
    }
    case 'refused': {
      const hint = "Grant the link's principal DESCRIBE, READ and DESCRIBE_CONFIGS on it at the source."
      return unmet(name, 'AUTHORIZATION_ERROR', {
        detail: `The source does not let the link see it: ${atSource.message}.`,
        hint,
      })
    }
    case 'unanswered':
      return untold(name, 'SOURCE_UNAVAILABLE', { detail: `The source could not be asked: ${atSource.message}.` })
  }
}

export function readableAtSource(atSource: AtSource): Condition {
  const name = 'SOURCE_TOPIC_READABLE'
  if (atSource.kind !== 'found')
    return untold(name, 'SOURCE_TOPIC_NOT_FOUND', { detail: 'The source told nothing of it.' })
  if (atSource.topic.mayRead === undefined)
    return untold(name, 'UNKNOWN', { detail: 'The source does not tell what the link may read (Kafka below 2.3).' })
  if (atSource.topic.mayRead) return met(name, "The link's credentials may read it.")
  const hint = "Grant the link's principal READ on it at the source."
  return unmet(name, 'AUTHORIZATION_ERROR', {
    detail: "The link's credentials may describe it, but not read it.",
    hint,
  })
}

function comesBackNowhere(mirrorTopic: string, origin: TopicOrigin): Condition {
  const name = 'NO_LOOP'
  if (origin.kind === 'unknown') return untold(name, 'UNKNOWN', { detail: `Not checked: ${origin.reason}.` })
  if (origin.kind === 'mirror' && origin.isLoop)
    return refused(name, 'LOOP', linkError('MIRROR_LOOP', { topic: mirrorTopic, of: origin.of }))
  return met(name, 'It is no mirror of a topic of this cluster.')
}

/** Only asked where the link has a prefix: two such links would mirror each other's mirrors for ever. */
function isOriginal(origin: TopicOrigin): Condition {
  const name = 'SOURCE_IS_NO_MIRROR'
  if (origin.kind === 'ordinary') return met(name, 'It is not a mirror at the source.')
  if (origin.kind === 'mirror') {
    const detail = `It is a mirror at the source (of ${origin.of}), and a link with a prefix creates no mirrors of mirrors by itself.`
    return unmet(name, 'SOURCE_IS_MIRROR', { detail, hint: 'Create this mirror yourself if you want it.' })
  }
  if (origin.publishesNothing) return met(name, `No mirrors are known there: ${origin.reason}.`)
  const hint = "Grant the link's principal READ and DESCRIBE on __lockstep_status at the source."
  return untold(name, 'SOURCE_STATUS_UNKNOWN', {
    detail: `Whether it is a mirror is not known: ${origin.reason}.`,
    hint,
  })
}

export function nameIsFree(topic: string, owner: NameOwner | undefined): Condition {
  const name = 'NAME_IS_FREE'
  if (!owner) return met(name, `No other topic here is named '${topic}'.`)
  const refusal = linkError('TOPIC_EXISTS', { topic })
  const hint = 'Delete the topic here if it is not needed; its mirror can be created then.'
  if (owner.kind === 'topic') return { ...refused(name, 'TOPIC_EXISTS', refusal), hint }
  const detail =
    owner.kind === 'creation'
      ? `A mirror of the name '${topic}' is being created.`
      : `${refusal.message} It is ${owner.state === 'STOPPED' ? 'a stopped mirror' : 'a mirror'} of link '${owner.link}'.`
  // What was a mirror of another link is ordinary, and may be restored; what is one, or is about to be, may not.
  const isOrdinary = owner.kind === 'mirror' && owner.state === 'STOPPED'
  return { ...refused(name, isOrdinary ? 'TOPIC_EXISTS' : 'OTHER_MIRROR', refusal), detail }
}

function linkIsRunning({ isPaused, name: link }: LinkFacts): Condition {
  const name = 'LINK_NOT_PAUSED'
  const hint = 'Set cluster.link.paused=false.'
  if (isPaused) return unmet(name, 'LINK_PAUSED', { detail: `Cluster link '${link}' is paused.`, hint })
  return met(name, `Cluster link '${link}' is not paused.`)
}

function sourceIsReachable({ health }: LinkFacts): Condition {
  const name = 'SOURCE_REACHABLE'
  if (!health) return untold(name, 'UNKNOWN', { detail: 'The link has not been started on this node yet.' })
  if (health.failure === undefined) return met(name, 'The remote cluster answers.')
  const detail = `The remote cluster does not answer well (${linkErrorOf(health.failure)}): ${health.message ?? ''}.`
  const reason = health.state === 'FAILED' ? 'LINK_FAILED' : 'SOURCE_UNAVAILABLE'
  const hint = 'Look at the link: its error says what to change.'
  return health.state === 'ACTIVE' ? untold(name, reason, { detail, hint }) : unmet(name, reason, { detail, hint })
}

function filterConditions({ sourceTopic, link }: TopicFacts): Condition[] {
  const { autoCreate, filters, name } = link
  const { include, exclude } = decidingFilters(filters, sourceTopic)
  const key = 'auto.create.mirror.topics'
  const enabled = autoCreate
    ? met('AUTO_CREATE_ENABLED', `Cluster link '${name}' creates mirrors by itself.`)
    : unmet('AUTO_CREATE_ENABLED', 'AUTO_CREATE_DISABLED', {
        detail: `Nobody has created its mirror, and cluster link '${name}' creates none by itself.`,
        hint: `Create the mirror, or set ${key}.enable=true with ${key}.filters that include it.`,
      })
  const included = include
    ? met('INCLUDED_BY_FILTER', `${filterText(include)} matches it.`)
    : unmet('INCLUDED_BY_FILTER', 'NOT_INCLUDED', {
        detail: filters.length === 0 ? 'The link has no topic filters.' : 'No INCLUDE filter matches it.',
        hint: `Add a filter to ${key}.filters, or create the mirror yourself.`,
      })
  const leftOut = isLeftOutOfAutoCreate(sourceTopic)
  const detail = exclude
    ? `${filterText(exclude)} matches it.`
    : `'${sourceTopic}' is mirrored only if asked for by name.`
  const excluded =
    exclude || leftOut
      ? unmet('NOT_EXCLUDED_BY_FILTER', exclude ? 'EXCLUDED' : 'LEFT_OUT', {
          detail,
          hint: exclude ? `Change ${key}.filters, or create the mirror yourself.` : 'Create the mirror yourself.',
        })
      : met('NOT_EXCLUDED_BY_FILTER', 'No EXCLUDE filter matches it.')
  return [enabled, included, excluded]
}

/** What whoever creates this mirror must have, in the order in which it is told. */
export function creationConditions({ sourceTopic, mirrorTopic, link, ...facts }: TopicFacts): Condition[] {
  return [
    mayBeMirrored(sourceTopic, mirrorTopic),
    existsAtSource(sourceTopic, link.name, facts.atSource),
    comesBackNowhere(mirrorTopic, facts.origin),
    nameIsFree(mirrorTopic, facts.owner),
  ]
}

/** What must hold for this mirror to be created without anybody asking for it. */
export function autoCreateConditions(facts: TopicFacts): Condition[] {
  const { link, atSource, origin } = facts
  return [
    linkIsRunning(link),
    sourceIsReachable(link),
    ...creationConditions(facts),
    readableAtSource(atSource),
    ...(link.prefix === '' ? [] : [isOriginal(origin)]),
    ...filterConditions(facts),
  ]
}

/** Conditions that must not only be not broken, but known to hold. */
const mustBeKnown: ReadonlySet<ConditionName> = new Set(['SOURCE_TOPIC_EXISTS', 'SOURCE_IS_NO_MIRROR'])

/** Does it keep the mirror from being created? */
export const isObstacle = ({ name, answer }: Condition): boolean =>
  answer === 'NO' || (answer === 'UNKNOWN' && mustBeKnown.has(name))

/** Throws what whoever asked for the mirror is told. */
export function requireMet({ refusal }: Condition): void {
  if (refusal) throw refusal
}
