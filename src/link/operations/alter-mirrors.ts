/** A verb on many mirrors: chooses them by names or pattern, one row per topic; one failure does not stop the rest. */
import { RE2JS } from 're2js'
import { messageOf, OperationalError } from '../../core/errors.ts'
import { mapBounded } from '../coordination/bounded.ts'
import type { MirrorId } from '../coordination/mirror-changes.ts'
import type { AlterMirrorRow, MirrorLagView, MirrorSelection, MirrorVerb } from '../engine-api.ts'
import { linkError } from '../errors.ts'
import { NotLinkCoordinator } from '../ports.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import { eventOfVerb } from '../states/mirror-topic-state.ts'
import { assertTransition } from './assert-transition.ts'
import { failOverMirror, previewFailover } from './failover-mirror.ts'
import type { VerbResult } from './mirror-positions.ts'
import { type OperationContext, requireLink } from './operation-context.ts'
import { pauseMirror, previewPause } from './pause-mirror.ts'
import { groupsOfMirrors, previewPromote, promoteMirror } from './promote-mirror.ts'
import { previewRestore, restoreMirror } from './restore-mirror.ts'
import { previewResume, resumeMirror } from './resume-mirror.ts'
import { assertAllReversible, previewReverse, reverseMirror } from './reverse-mirror.ts'

/** Topics worked on at the same time. */
const parallel = 8

export interface AlterMirrorsRequest {
  readonly link: string
  readonly verb: MirrorVerb
  readonly selection: MirrorSelection
  readonly validateOnly: boolean
  /** The topics stop as one: none becomes writable before all can. */
  readonly together: boolean
  /** Failover; undefined = as the link says. */
  readonly keepRetention?: boolean | undefined
  /** Restore: ends as PAUSED. */
  readonly paused?: boolean | undefined
  /** Restore: what is cut off is exported first. */
  readonly exportDivergent?: boolean | undefined
}

/** `lagsOf` shows a mirror's lags as describe does. */
export async function alterMirrors(
  context: OperationContext,
  request: AlterMirrorsRequest,
  lagsOf: (id: MirrorId) => readonly MirrorLagView[],
): Promise<AlterMirrorRow[]> {
  const link = requireLink(context, request.link)
  const more = request.verb === 'truncate-and-restore' ? await formerSources(context, link) : []
  const topics = selectedTopics(context, link, { selection: request.selection, more })
  const work = implemented[request.verb]
  const fits = request.together ? work?.assertAll?.(context, link.linkId, topics) : undefined
  // It is told in each row.
  fits?.catch(() => {})
  const plan = { ...request, together: request.together ? topics : [], fits }
  const rows = await mapBounded(topics, parallel, async mirrorTopic => {
    const id = { linkId: link.linkId, mirrorTopic }
    const row = await outcome(context, id, plan)
    return { mirrorTopicName: mirrorTopic, lags: lagsOf(id), ...row }
  })
  const ofAll = work?.ofAll
  if (!ofAll) return rows
  const accepted = rows.filter(({ errorCode }) => errorCode === null).map(({ mirrorTopicName }) => mirrorTopicName)
  const found = await ofAll(context, link.linkId, accepted)
  return rows.map(row => ({ ...row, ...found.get(row.mirrorTopicName) }))
}

/** A request whose topics are chosen; `together` names them if they are to stop as one. */
interface Plan
  extends Pick<AlterMirrorsRequest, 'verb' | 'validateOnly' | 'keepRetention' | 'paused' | 'exportDivergent'> {
  readonly together: readonly string[]
  /** Rejects if one of those that are to stop as one cannot. */
  readonly fits: Promise<void> | undefined
}

type Work = (context: OperationContext, id: MirrorId, plan: Plan) => Promise<VerbResult>

interface VerbWork {
  readonly run: Work
  readonly preview: Work
  /** What is asked once about all topics that were accepted, for their rows. */
  readonly ofAll?: typeof groupsOfMirrors
  /** Asked once about topics that are to stop as one, before any of them is accepted. */
  readonly assertAll?: typeof assertAllReversible
}

/** What this version carries out; other verbs are legal where the table says so, and refused by name. */
const implemented: Partial<Record<MirrorVerb, VerbWork>> = {
  failover: { run: failOverMirror, preview: previewFailover },
  promote: {
    run: (context, id, { together }) => promoteMirror(context, id, together),
    preview: previewPromote,
    ofAll: groupsOfMirrors,
  },
  pause: { run: pauseMirror, preview: previewPause },
  resume: { run: resumeMirror, preview: previewResume },
  'reverse-and-start-mirror': {
    run: (context, id, { together }) => reverseMirror(context, id, { paused: false, together }),
    preview: previewReverse,
    ofAll: groupsOfMirrors,
    assertAll: assertAllReversible,
  },
  'reverse-and-pause-mirror': {
    run: (context, id, { together }) => reverseMirror(context, id, { paused: true, together }),
    preview: previewReverse,
    ofAll: groupsOfMirrors,
    assertAll: assertAllReversible,
  },
  'truncate-and-restore': { run: restoreMirror, preview: previewRestore },
}

/** Verbs of bidirectional links. */
export const needsPeer: ReadonlySet<string> = new Set([
  'reverse-and-start-mirror',
  'reverse-and-pause-mirror',
  'truncate-and-restore',
])

export const supportedVerbs: ReadonlySet<string> = new Set(Object.keys(implemented))

/** Topics of this cluster that the other one has mirrored, so far as was read last: ordinary ones, of which nothing is recorded here. */
async function formerSources({ runtime, destination }: OperationContext, { linkId }: LinkRecord): Promise<string[]> {
  const view = await runtime(linkId)?.status?.recent()
  if (view?.kind !== 'read') return []
  const names = view.contents.mirrorTopicsOf(linkId)
  return names.filter(name => destination.topic(name) !== undefined)
}

/**
 * Names are taken as they are; a pattern must match the whole name of a mirror, or of one of `more`. Throws
 * PATTERN_INVALID.
 */
export function selectedTopics(
  context: OperationContext,
  link: LinkRecord,
  { selection, more = [] }: { readonly selection: MirrorSelection; readonly more?: readonly string[] },
): string[] {
  if ('names' in selection) return [...new Set(selection.names)]
  let pattern: RE2JS
  try {
    pattern = RE2JS.compile(selection.pattern)
  } catch (error) {
    throw linkError('PATTERN_INVALID', { pattern: selection.pattern, problem: messageOf(error) })
  }
  const mirrors = context.desired.mirrorsOf(link.linkId).map(mirror => mirror.mirrorTopic)
  const names = [...new Set([...mirrors, ...more])]
  return names.filter(name => pattern.matches(name)).sort()
}

type Outcome = Omit<AlterMirrorRow, 'mirrorTopicName' | 'lags'>

async function outcome(context: OperationContext, id: MirrorId, request: Plan): Promise<Outcome> {
  try {
    const result = await carryOut(context, id, request)
    return { errorCode: null, errorMessage: null, ...result }
  } catch (error) {
    const known = error instanceof OperationalError ? error : undefined
    // Nothing that goes wrong with one topic may hide what was done with the others.
    if (!known) context.logger.error('a verb failed', { verb: request.verb, topic: id.mirrorTopic, error })
    const errorCode = known?.row.restCode ?? (error instanceof NotLinkCoordinator ? 50003 : 500)
    return { errorCode, errorMessage: messageOf(error), partitions: [], openTransactions: 0 }
  }
}

async function carryOut(context: OperationContext, id: MirrorId, plan: Plan): Promise<VerbResult> {
  const { verb, validateOnly } = plan
  const work = implemented[verb]
  await plan.fits
  if (work) return await (validateOnly ? work.preview : work.run)(context, id, plan)
  assertTransition(context, id, eventOfVerb[verb])
  throw linkError('VERB_NOT_SUPPORTED', { verb })
}
