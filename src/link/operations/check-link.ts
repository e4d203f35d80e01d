/** Everything that is checked before a link is created, as a list; called by create-link and for preflights. */
import { OperationalError } from '../../core/errors.ts'
import { isUuid, type Uuid } from '../../core/uuid.ts'
import { checkAccess } from '../checks/access-checks.ts'
import { CheckList, type LinkCheck } from '../checks/check-list.ts'
import { checkPeerLink } from '../checks/peer-checks.ts'
import { checkReach } from '../checks/reach-checks.ts'
import { connectionSettings } from '../configs/connection-settings.ts'
import { type LinkConfigs, parseLinkConfigs } from '../configs/link-configs.ts'
import { linkNameProblem } from '../configs/topic-rules.ts'
import type { CreateLinkRequest } from '../engine-api.ts'
import { linkError } from '../errors.ts'
import { aclSyncApis, groupSyncApis } from '../source-survey.ts'
import { SourceStatus } from '../status/source-status.ts'
import type { OperationContext } from './operation-context.ts'

/** What was found out about a link that is to be. */
export interface CheckedLink {
  readonly checks: CheckList
  readonly remoteClusterId: string | undefined
  /** Of the other half of a bidirectional link, if it is there already. */
  readonly peerLinkId: Uuid | undefined
}

/** A link whose properties are in order. */
export interface PlannedLink {
  readonly configs: LinkConfigs
  readonly warnings: readonly string[]
  readonly expectedClusterId: string | undefined
  /** Of the other half of a bidirectional link, as whoever creates this one knows it. */
  readonly expectedLinkId: Uuid | undefined
}

/** Throws what is wrong with the request itself; asks nobody. */
export function planLink(context: OperationContext, request: CreateLinkRequest): PlannedLink {
  const problem = linkNameProblem(request.name)
  if (problem !== undefined) throw linkError('LINK_NAME_INVALID', { link: request.name, problem })
  const { configs, warnings } = parseLinkConfigs(request.configs, context.secrets)
  const expectedClusterId = expectedId(request, configs)
  assertFree(context, request.name, configs)
  if (expectedClusterId !== undefined && expectedClusterId === context.destination.clusterId)
    throw linkError('LINK_REMOTE_IS_SELF', { clusterId: expectedClusterId })
  return { configs, warnings, expectedClusterId, expectedLinkId: expectedLinkId(request, configs) }
}

/** Neither the name nor the prefix may be another link's. */
export function assertFree(context: OperationContext, name: string, configs: LinkConfigs): void {
  if (context.desired.linkByName(name)) throw linkError('LINK_EXISTS', { link: name })
  const prefix = configs.must('cluster.link.prefix')
  if (prefix === '') return
  for (const other of context.desired.links())
    if (other.configs.get('cluster.link.prefix') === prefix)
      throw linkError('LINK_PREFIX_TAKEN', { prefix, link: other.name })
}

/** Asks the remote cluster everything that a link will ask it. Whatever fails is in the list. */
export async function checkRemote(context: OperationContext, name: string, link: PlannedLink): Promise<CheckedLink> {
  const { configs, expectedClusterId, expectedLinkId } = link
  const checks = new CheckList()
  const source = context.sources.open(connectionSettings(configs, { name, remoteClusterId: undefined }))
  try {
    const survey = await source.survey()
    const optional = [...groupSyncApis, ...aclSyncApis]
    checkReach(checks, survey, {
      link: name,
      securityProtocol: configs.must('security.protocol'),
      expectedClusterId,
      ownClusterId: context.destination.clusterId,
      neededApis: api => !optional.includes(api),
    })
    if (!checks.refusal) await checkAccess(checks, survey, { link: name, configs, source })
    const { clusterId: remoteClusterId } = survey
    const isBidirectional = configs.must('link.mode') === 'BIDIRECTIONAL'
    if (!isBidirectional) checks.skipped('PEER_LINK', 'The link is not bidirectional.')
    if (checks.refusal || !isBidirectional) return { checks, remoteClusterId, peerLinkId: undefined }
    const status = new SourceStatus({ source, clusterId: () => remoteClusterId, clock: context.clock })
    const own = { name, linkId: expectedLinkId, clusterId: context.destination.clusterId }
    const peerLinkId = checkPeerLink(checks, await status.newest(), own)
    await status.close()
    return { checks, remoteClusterId, peerLinkId }
  } finally {
    await source.close()
  }
}

/** All checks as a list; nothing is changed. Without a name that of a link that does not exist is taken. */
export async function preflightLink(context: OperationContext, request: CreateLinkRequest): Promise<LinkCheck[]> {
  await context.journal.certain()
  let planned: PlannedLink
  try {
    planned = planLink(context, request)
  } catch (error) {
    if (!(error instanceof OperationalError)) throw error
    const checks = new CheckList()
    checks.failed('PROPERTIES', error)
    return checks.results
  }
  const { checks } = await checkRemote(context, request.name, planned)
  const { warnings } = planned
  if (warnings.length > 0) checks.warn('PROPERTIES', warnings.join(' '))
  else checks.passed('PROPERTIES', 'The name and the properties of the link are in order.')
  return checks.results
}

function expectedId(request: CreateLinkRequest, configs: LinkConfigs): string | undefined {
  const mode = configs.must('link.mode')
  const expected = mode === 'BIDIRECTIONAL' ? 'remote_cluster_id' : 'source_cluster_id'
  const given = {
    source_cluster_id: request.sourceClusterId,
    destination_cluster_id: request.destinationClusterId,
    remote_cluster_id: request.remoteClusterId,
  }
  for (const [field, clusterId] of Object.entries(given))
    if (clusterId !== undefined && field !== expected)
      throw linkError('LINK_CLUSTER_ID_MISPLACED', { field, mode, expected })
  return given[expected]
}

function expectedLinkId({ clusterLinkId }: CreateLinkRequest, configs: LinkConfigs): Uuid | undefined {
  if (clusterLinkId === undefined) return undefined
  if (configs.must('link.mode') !== 'BIDIRECTIONAL') throw linkError('LINK_ID_NOT_ALLOWED', {})
  if (!isUuid(clusterLinkId)) throw linkError('LINK_ID_INVALID', { given: clusterLinkId })
  return clusterLinkId
}
