/** Creates a cluster link: checks everything that can be checked, then one durable record. Called by the engine for REST. */
import { randomUuid } from '../../core/uuid.ts'
import { connectionSettings } from '../configs/connection-settings.ts'
import { type LinkConfigs, parseLinkConfigs } from '../configs/link-configs.ts'
import { linkNameProblem } from '../configs/topic-rules.ts'
import type { CreateLinkRequest } from '../engine-api.ts'
import { linkError } from '../errors.ts'
import { SourceError } from '../ports.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import { linkStateRecord } from '../state-records/record-codec.ts'
import { linkErrorOf } from '../states/link-health.ts'
import { linkNameQueue, type OperationContext } from './operation-context.ts'

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
  const problem = linkNameProblem(request.name)
  if (problem !== undefined) throw linkError('LINK_NAME_INVALID', { link: request.name, problem })
  const { configs, warnings } = parseLinkConfigs(request.configs, context.secrets)
  const expectedId = expectedClusterId(request, configs)
  return context.operations.run(linkNameQueue(request.name), async () => {
    await context.journal.certain()
    assertFree(context, request.name, configs)
    if (expectedId === context.destination.clusterId) throw linkError('LINK_REMOTE_IS_SELF', { clusterId: expectedId })
    const remoteClusterId = options.validateLink
      ? await validateRemote(context, { name: request.name, configs, expectedId })
      : expectedId
    if (!options.validateLink) warnings.push('The remote cluster was not asked (validate_link=false).')
    const link: LinkRecord = {
      linkId: randomUuid(),
      name: request.name,
      mode: 'DESTINATION',
      remoteClusterId,
      createdTimeMs: context.clock.nowMs(),
      deletingSinceMs: undefined,
      configs: configs.overrides,
    }
    // The prefix may have been taken while the remote cluster was asked.
    assertFree(context, request.name, configs)
    if (!options.validateOnly) {
      await context.journal.append([linkStateRecord(link)])
      context.logger.info('link created', { link: link.name, remoteClusterId })
      await context.reconcile()
    }
    return { linkId: link.linkId, warnings }
  })
}

function expectedClusterId(request: CreateLinkRequest, configs: LinkConfigs): string | undefined {
  const mode = configs.must('link.mode')
  const misplaced =
    request.destinationClusterId !== undefined
      ? 'destination_cluster_id'
      : request.remoteClusterId !== undefined
        ? 'remote_cluster_id'
        : undefined
  if (misplaced) throw linkError('LINK_CLUSTER_ID_MISPLACED', { field: misplaced, mode, expected: 'source_cluster_id' })
  if (request.clusterLinkId !== undefined) throw linkError('LINK_ID_NOT_ALLOWED', {})
  return request.sourceClusterId
}

function assertFree(context: OperationContext, name: string, configs: LinkConfigs): void {
  if (context.desired.linkByName(name)) throw linkError('LINK_EXISTS', { link: name })
  const prefix = configs.must('cluster.link.prefix')
  if (prefix === '') return
  for (const other of context.desired.links())
    if (other.configs.get('cluster.link.prefix') === prefix)
      throw linkError('LINK_PREFIX_TAKEN', { prefix, link: other.name })
}

/** Reachable, the right cluster, not this one, and topics can be described. Resolves to its id. */
async function validateRemote(
  context: OperationContext,
  link: { name: string; configs: LinkConfigs; expectedId: string | undefined },
): Promise<string> {
  const { name, configs, expectedId } = link
  const source = context.sources.open(connectionSettings(configs, { name, remoteClusterId: undefined }))
  try {
    const { clusterId } = await source.describeCluster()
    if (clusterId === context.destination.clusterId) throw linkError('LINK_REMOTE_IS_SELF', { clusterId })
    if (expectedId !== undefined && expectedId !== clusterId)
      throw linkError('LINK_REMOTE_ID_MISMATCH', { expected: expectedId, found: clusterId })
    await source.describeTopics('all')
    return clusterId
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    const detail = { link: name, error: linkErrorOf(error.failure), reason: error.message }
    throw linkError('LINK_VALIDATION_FAILED', detail, error)
  } finally {
    await source.close()
  }
}
