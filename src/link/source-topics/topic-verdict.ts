/** What the conditions of one source topic come to: a code and a message for lists, a sentence for explain. Pure; asked by the views. */
import type { MirrorView } from '../engine-api.ts'
import { autoCreateConditions, type Condition, isObstacle, met, unmet } from './topic-conditions.ts'
import type { TopicFacts } from './topic-facts.ts'

export interface TopicVerdict {
  /** There is a mirror of it that is not stopped. */
  readonly mirrored: boolean
  /** null = a mirror that follows its source. */
  readonly reason: string | null
  readonly message: string | null
  readonly conclusion: string
  readonly conditions: readonly Condition[]
}

export function topicVerdict(facts: TopicFacts): TopicVerdict {
  const conditions = [...autoCreateConditions(facts), ...mirrorConditions(facts)]
  return { ...(facts.mirror ? ofMirror(facts.mirror, facts, conditions) : notMirrored(facts, conditions)), conditions }
}

type Summary = Omit<TopicVerdict, 'conditions'>

/** What concerns the link as a whole is told only where nothing about the topic itself is in the way. */
const ofLink: ReadonlySet<Condition['name']> = new Set(['LINK_NOT_PAUSED', 'SOURCE_REACHABLE'])

function ofMirror(mirror: MirrorView, { sourceTopic }: TopicFacts, conditions: readonly Condition[]): Summary {
  const { mirrorTopicName, status } = mirror
  if (status === 'STOPPED') {
    const message = mirror.reason ?? 'it was stopped'
    const conclusion = `Topic '${sourceTopic}' is not mirrored any more: '${mirrorTopicName}' is an ordinary topic since its mirror was stopped (${message}).`
    return { mirrored: false, reason: status, message, conclusion }
  }
  const trouble = conditions
    .filter(({ name }) => /^MIRROR_|^PARTITIONS_/.test(name))
    .find(({ answer }) => answer !== 'YES')
  const start = `Topic '${sourceTopic}' is mirrored as '${mirrorTopicName}'`
  if (!trouble) return { mirrored: true, reason: null, message: null, conclusion: `${start} and follows its source.` }
  const { reason, detail: message } = trouble
  return {
    mirrored: true,
    reason,
    message,
    conclusion: `${start}, but it does not follow its source fully: ${message}`,
  }
}

function notMirrored({ sourceTopic, attempt }: TopicFacts, conditions: readonly Condition[]): Summary {
  const obstacles = conditions.filter(condition => condition.name !== 'MIRROR_EXISTS' && isObstacle(condition))
  const broken = obstacles.filter(({ answer }) => answer === 'NO')
  const told = broken.find(({ name }) => !ofLink.has(name)) ?? broken[0] ?? obstacles[0]
  const found = told ? { reason: told.reason, message: told.detail } : waiting(attempt)
  const start = `Topic '${sourceTopic}' is not mirrored${told || attempt ? '' : ' yet'}`
  return { mirrored: false, ...found, conclusion: `${start}: ${found.message}` }
}

function waiting(attempt: TopicFacts['attempt']): { reason: string; message: string } {
  if (!attempt) return { reason: 'PENDING', message: 'The next round of AutoCreateMirror creates its mirror.' }
  return {
    reason: attempt.code,
    message: `The last attempt to create its mirror failed (${attempt.message}); it is tried again.`,
  }
}

const hints: Partial<Record<MirrorView['status'], string>> = {
  PAUSED: 'Resume it: lockstep mirror resume.',
  LINK_PAUSED: 'Set cluster.link.paused=false.',
  LINK_FAILED: 'Look at the link: its error says what to change.',
  PENDING_SYNCHRONIZE: 'It takes over by itself once the other cluster has closed its copy and everything is here.',
  PENDING_MIRROR:
    'It follows once the other cluster has taken over. To keep it writable instead: lockstep mirror failover.',
  PENDING_SETUP_FOR_RESTORE:
    'It goes on by itself. To have it as it was instead, as long as nothing was cut: lockstep mirror failover.',
  PENDING_RESTORE: 'It is cut, and follows by itself then.',
  SOURCE_UNAVAILABLE: 'It goes on by itself when the source answers again.',
  FAILED: 'Resume it when the cause is gone; where that is refused, delete the topic and create the mirror anew.',
}

/** The other cluster has the copy that is written; a failover here is refused. */
const hintOfTakenOver =
  'It follows by itself if it has nothing that the other cluster has not; otherwise: lockstep mirror truncate-and-restore.'

function mirrorConditions({ mirror, mirrorTopic }: TopicFacts): Condition[] {
  if (!mirror) return [unmet('MIRROR_EXISTS', 'NO_MIRROR', { detail: `This link has no mirror '${mirrorTopic}'.` })]
  const { status, reason, reversal } = mirror
  const peer = reversal ? ` (its counterpart is ${reversal.peerStatus ?? 'an ordinary topic'})` : ''
  const why = `${reason === null ? '' : `: ${reason}`}${peer}`
  const hint = status === 'PENDING_MIRROR' && reversal?.peerStatus === 'STOPPED' ? hintOfTakenOver : hints[status]
  const exists = met('MIRROR_EXISTS', `Its mirror is '${mirrorTopic}', with ${mirror.numPartitions} partition(s).`)
  if (status === 'STOPPED')
    return [exists, unmet('MIRROR_NOT_STOPPED', status, { detail: `Its mirror is stopped${why}.` })]
  const running = met('MIRROR_NOT_STOPPED', 'Its mirror is neither promoted nor failed over.')
  const follows =
    status === 'ACTIVE' || status === 'PENDING_STOPPED' || status === 'PENDING_SYNCHRONIZE'
      ? met('MIRROR_FOLLOWS', `Its mirror is ${status}${status === 'ACTIVE' ? '' : why}.`)
      : unmet('MIRROR_FOLLOWS', status, { detail: `Its mirror is ${status}${why}.`, ...(hint ? { hint } : {}) })
  return [exists, running, follows, partitionsFollow(mirror)]
}

function partitionsFollow({ lags, error }: MirrorView): Condition {
  const name = 'PARTITIONS_FOLLOW'
  const troubled = lags.filter(lag => lag.reason !== null)
  const [first] = troubled
  if (!first) return met(name, 'No partition has a trouble.')
  const more = troubled.length > 1 ? ` (and ${troubled.length - 1} more partition(s))` : ''
  const code = error === 'NO_ERROR' ? 'PARTITION_TROUBLE' : error
  return unmet(name, code, { detail: `Partition ${first.partition}: ${first.reason}${more}.` })
}
