/** A verb on many mirrors: chooses them by names or pattern, one row per topic; one failure does not stop the rest. */
import { RE2JS } from 're2js'
import { messageOf, OperationalError } from '../../core/errors.ts'
import { mapBounded } from '../coordination/bounded.ts'
import type { MirrorId } from '../coordination/mirror-changes.ts'
import type { AlterMirrorRow, MirrorLagView, MirrorSelection, MirrorVerb } from '../engine-api.ts'
import { linkError } from '../errors.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import { eventOfVerb } from '../states/mirror-topic-state.ts'
import { transition } from '../states/transition.ts'
import { type FailoverResult, failOverMirror, previewFailover } from './failover-mirror.ts'
import { type OperationContext, requireLink } from './operation-context.ts'

/** Topics worked on at the same time. */
const parallel = 8

export interface AlterMirrorsRequest {
  readonly link: string
  readonly verb: MirrorVerb
  readonly selection: MirrorSelection
  readonly validateOnly: boolean
}

/** `lagsOf` shows a mirror's lags as describe does. */
export async function alterMirrors(
  context: OperationContext,
  request: AlterMirrorsRequest,
  lagsOf: (id: MirrorId) => readonly MirrorLagView[],
): Promise<AlterMirrorRow[]> {
  const link = requireLink(context, request.link)
  return mapBounded(selectedTopics(context, link, request.selection), parallel, async mirrorTopic => {
    const id = { linkId: link.linkId, mirrorTopic }
    const row = await outcome(context, { id, link }, request)
    return { mirrorTopicName: mirrorTopic, lags: lagsOf(id), ...row }
  })
}

/** Verbs that this version carries out; the others are legal where the table says so, and refused by name. */
export const supportedVerbs: ReadonlySet<MirrorVerb> = new Set(['failover'])

function selectedTopics(context: OperationContext, link: LinkRecord, selection: MirrorSelection): string[] {
  if ('names' in selection) return [...new Set(selection.names)]
  let pattern: RE2JS
  try {
    pattern = RE2JS.compile(selection.pattern)
  } catch (error) {
    throw linkError('PATTERN_INVALID', { pattern: selection.pattern, problem: messageOf(error) })
  }
  const names = context.desired.mirrorsOf(link.linkId).map(mirror => mirror.mirrorTopic)
  return names.filter(name => pattern.matches(name)).sort()
}

type Outcome = Omit<AlterMirrorRow, 'mirrorTopicName' | 'lags'>

async function outcome(
  context: OperationContext,
  { id, link }: { id: MirrorId; link: LinkRecord },
  { verb, validateOnly }: AlterMirrorsRequest,
): Promise<Outcome> {
  try {
    const result = await carryOut(context, { id, link }, { verb, validateOnly })
    return { errorCode: null, errorMessage: null, ...result }
  } catch (error) {
    if (!(error instanceof OperationalError)) throw error
    return { errorCode: error.row.restCode, errorMessage: error.message, partitions: [], openTransactions: 0 }
  }
}

async function carryOut(
  context: OperationContext,
  { id, link }: { id: MirrorId; link: LinkRecord },
  { verb, validateOnly }: Pick<AlterMirrorsRequest, 'verb' | 'validateOnly'>,
): Promise<FailoverResult> {
  if (!supportedVerbs.has(verb)) {
    const record = context.changes.current(id)
    transition(record, { event: eventOfVerb[verb], linkName: link.name, reason: '', timeMs: 0 })
    throw linkError('VERB_NOT_SUPPORTED', { verb })
  }
  return validateOnly ? previewFailover(context, id) : failOverMirror(context, id)
}
