/** AclSync: ACLs of the source are created here, and deleted when they go there, if this link created them (semantics §7). Run by the link's tasks. */
import type { AclBinding } from '../acl-ports.ts'
import { aclText } from '../acls/acl-names.ts'
import type { AclRefusals } from '../acls/acl-refusals.ts'
import { withoutFenceAcls } from '../acls/fence-acls.ts'
import { type AclFilter, isAclSelected } from '../configs/acl-filters.ts'
import type { SourceCluster } from '../ports.ts'
import type { EngineParts } from '../runtime/engine-parts.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { ownedAclStateRecord, tombstone } from '../state-records/record-codec.ts'
import { ownedAclKey } from '../state-records/state-key.ts'
import type { TaskError } from './sync-task.ts'

export interface AclSyncParts extends Pick<EngineParts, 'destination' | 'desired' | 'linkChanges' | 'logger'> {
  readonly linkId: MirrorRecord['linkId']
  readonly source: SourceCluster
  readonly filters: readonly AclFilter[]
  /** Is a topic of that name a mirror there? Then it may have ACLs that only keep clients out while it is. */
  readonly isMirrorAtSource: (topic: string) => boolean
  /** Kept from round to round. */
  readonly refusals: AclRefusals
  readonly signal: AbortSignal
}

/** ACLs created or deleted in one step. */
const atOnce = 200

export async function syncAcls(parts: AclSyncParts): Promise<readonly TaskError[]> {
  const { source, destination, filters, refusals, signal } = parts
  if (filters.length === 0) return [{ code: 'MISCONFIGURATION_ERROR', message: 'acl.filters selects no ACL' }]
  const there = await source.describeAcls(signal)
  if (there.kind === 'security-disabled') return [disabled('the remote cluster has no authorizer')]
  const here = destination.acls()
  if (here.kind === 'security-disabled') return [disabled('this cluster has no authorizer (authorizer.class.name)')]
  const atSource = withoutFenceAcls(there.acls, parts.isMirrorAtSource)
  const wanted = atSource.filter(acl => isAclSelected(filters, acl))
  const present = new Set(here.acls.map(aclText))
  for (const acls of portions(shared(parts, wanted, present))) await own(parts, acls)
  const missing = wanted.filter(acl => !present.has(aclText(acl)))
  const surplus = gone(parts, atSource)
  refusals.keep([...missing, ...surplus])
  for (const acls of portions(missing.filter(acl => refusals.isDue(acl)))) await create(parts, acls)
  for (const acls of portions(surplus.filter(acl => refusals.isDue(acl)))) await release(parts, acls)
  return [
    ...missing.flatMap(acl => refused(parts, acl, refusalCode)),
    ...surplus.flatMap(acl => refused(parts, acl, 'INTERNAL_ERROR')),
  ]
}

/** An ACL that this cluster does not take. */
const refusalCode = 'INVALID_REQUEST_ERROR'

export const isRefusal = ({ code }: TaskError): boolean => code === refusalCode

/** One that was refused is listed until it succeeds or nobody wants it any more, also while it waits for its next attempt. */
function refused({ refusals }: AclSyncParts, acl: AclBinding, code: string): TaskError[] {
  const message = refusals.messageOf(acl)
  return message === undefined ? [] : [{ code, message }]
}

const disabled = (message: string): TaskError => ({ code: 'SECURITY_DISABLED_ERROR', message })

/** What another link created and this one wants as well: it stays until both have dropped it. */
function shared(
  { desired, linkId }: AclSyncParts,
  wanted: readonly AclBinding[],
  present: ReadonlySet<string>,
): AclBinding[] {
  const own = new Set(desired.ownedAcls(linkId).map(aclText))
  const isShared = (acl: AclBinding) => !own.has(aclText(acl)) && desired.isAclOwnedByAnother(linkId, acl)
  return wanted.filter(acl => present.has(aclText(acl)) && isShared(acl))
}

/** What this link created and the source does not have any more; what the filters leave out is not the link's business. */
function gone({ desired, linkId, filters }: AclSyncParts, atSource: readonly AclBinding[]): AclBinding[] {
  const kept = new Set(atSource.map(aclText))
  return desired.ownedAcls(linkId).filter(acl => isAclSelected(filters, acl) && !kept.has(aclText(acl)))
}

const own = ({ linkChanges, linkId }: AclSyncParts, acls: readonly AclBinding[]): Promise<void> =>
  linkChanges.append(
    linkId,
    acls.map(acl => ownedAclStateRecord({ linkId, acl })),
  )

const disown = ({ linkChanges, linkId }: AclSyncParts, acls: readonly AclBinding[]): Promise<void> =>
  linkChanges.append(
    linkId,
    acls.map(acl => tombstone(ownedAclKey(linkId, aclText(acl)))),
  )

/** Owned first: an ACL that a crash leaves behind is known to be ours. One that is refused is nobody's. */
async function create(parts: AclSyncParts, acls: readonly AclBinding[]): Promise<void> {
  const { destination, logger, refusals } = parts
  await own(parts, acls)
  const refused = await destination.createAcls(acls)
  refusals.tried(acls, refused)
  await disown(
    parts,
    refused.map(({ acl }) => acl),
  )
  const created = acls.length - refused.length
  if (created > 0) logger.info('ACLs are created as at the source', { created })
}

/** Deleted with the last link that owns it; forgotten after, so that a crash only repeats the deletion. */
async function release(parts: AclSyncParts, acls: readonly AclBinding[]): Promise<void> {
  const { destination, desired, logger, refusals, linkId } = parts
  const unshared = acls.filter(acl => !desired.isAclOwnedByAnother(linkId, acl))
  const refused = await destination.deleteAcls(unshared)
  refusals.tried(acls, refused)
  const kept = new Set(refused.map(({ acl }) => aclText(acl)))
  await disown(
    parts,
    acls.filter(acl => !kept.has(aclText(acl))),
  )
  const deleted = unshared.length - refused.length
  if (deleted > 0) logger.info('ACLs that the source does not have any more are deleted', { deleted })
}

function portions(acls: readonly AclBinding[]): AclBinding[][] {
  const parts: AclBinding[][] = []
  for (let from = 0; from < acls.length; from += atOnce) parts.push(acls.slice(from, from + atOnce))
  return parts
}
