/** Creates a cluster link: checks everything that can be checked, then one durable record. Called by the engine for REST. */
import { sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { randomUuid } from '../../core/uuid.ts'
import type { CreateLinkRequest } from '../engine-api.ts'
import { linkError } from '../errors.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import { linkStateRecord } from '../state-records/record-codec.ts'
import { assertFree, checkRemote, planLink } from './check-link.ts'
import { linkNameQueue, type OperationContext } from './operation-context.ts'

/** How long a creation waits until the other cluster can read of it. */
const publishedWithinMs = 10_000

export interface CreateLinkOptions {
  readonly validateOnly: boolean
  /** Asks the remote cluster before the link exists. */
  readonly validateLink: boolean
}

export async function createLink(
  context: OperationContext,
  request: CreateLinkRequest,
  options: CreateLinkOptions,
): Promise<{ linkId: LinkRecord['linkId']; warnings: string[] }> {
  const { name } = request
  return context.operations.run(linkNameQueue(name), async () => {
    await context.journal.certain()
    const planned = planLink(context, request)
    const { configs } = planned
    const warnings = [...planned.warnings]
    let remoteClusterId = planned.expectedClusterId
    let linkId = planned.expectedLinkId
    if (options.validateLink) {
      const found = await checkRemote(context, name, planned)
      if (found.checks.refusal) throw found.checks.refusal
      warnings.push(...found.checks.warnings)
      remoteClusterId = found.remoteClusterId
      linkId ??= found.peerLinkId
    } else warnings.push('The remote cluster was not asked (validate_link=false).')
    const link: LinkRecord = {
      linkId: linkId ?? randomUuid(),
      name,
      mode: configs.must('link.mode') === 'BIDIRECTIONAL' ? 'BIDIRECTIONAL' : 'DESTINATION',
      remoteClusterId,
      createdTimeMs: context.clock.nowMs(),
      deletingSinceMs: undefined,
      configs: configs.overrides,
    }
    // The prefix may have been taken while the remote cluster was asked.
    assertFree(context, name, configs)
    const same = linkId && context.desired.link(linkId)
    if (same) throw linkError('LINK_ID_TAKEN', { linkId: same.linkId, link: same.name })
    if (!options.validateOnly) {
      await context.journal.append([linkStateRecord(link)])
      context.logger.info('link created', { link: name, remoteClusterId })
      await context.reconcile()
      if (link.mode === 'BIDIRECTIONAL') warnings.push(...(await untold(context)))
    }
    return { linkId: link.linkId, warnings }
  })
}

/** Whoever creates the other half next takes the id of this one, which it reads in the status topic; what there is to say if it cannot. */
async function untold({ clock, published }: OperationContext): Promise<string[]> {
  const over = new AbortController()
  const late = sleep(clock, publishedWithinMs, over.signal).then(() => 'it takes long')
  const reason = await Promise.race([published().then(() => undefined, messageOf), late])
  over.abort()
  if (reason === undefined) return []
  return [`The other cluster cannot read of this link yet (${reason}): create the other half when it can.`]
}
