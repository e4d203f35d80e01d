/** Does the remote cluster of a bidirectional link have the other half of it? Answered from what that cluster publishes; asked at creation, by the peer check and by the verbs that need both sides. */
import { messageOf } from '../../core/errors.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import type { SourceStatusView } from '../status/source-chain.ts'
import type { StatusContents } from '../status/status-contents.ts'
import type { LinkStatus } from '../status/status-records.ts'

/** Why the other half cannot be worked with; the codes are those of link tasks (rest-and-cli §1.4). */
export interface PeerProblem {
  readonly kind: 'problem'
  readonly why: 'absent' | 'refused' | 'failed' | 'missing' | 'mismatch'
  readonly code: string
  /** A clause, without a full stop. */
  readonly message: string
  /** The other half, if its id is all that does not fit. */
  readonly other?: OtherHalf
}

/** A half of a link that has an id of its own. */
interface OtherHalf {
  readonly linkId: Uuid
  readonly hasMirrors: boolean
}

export type PeerLink =
  | { readonly kind: 'linked'; readonly link: LinkStatus; readonly contents: StatusContents }
  | PeerProblem

/** One half of a bidirectional link; without an id it does not exist yet. */
export interface OwnHalf {
  readonly name: string
  readonly linkId: Uuid | undefined
  /** Id of this cluster. */
  readonly clusterId: string
}

export function peerLinkOf(view: SourceStatusView, own: OwnHalf): PeerLink {
  switch (view.kind) {
    case 'absent':
      return problem('absent', 'MISCONFIGURATION_ERROR', noLockstep)
    case 'refused':
      return problem('refused', 'AUTHORIZATION_ERROR', view.message)
    case 'failed':
      return problem('failed', 'INTERNAL_ERROR', `__lockstep_status cannot be read: ${messageOf(view.error)}`)
    case 'read':
      return judged(view.contents, own)
  }
}

const noLockstep = 'the remote cluster publishes no __lockstep_status: both sides of a bidirectional link need Lockstep'

function judged(contents: StatusContents, { name, linkId, clusterId }: OwnHalf): PeerLink {
  const links = contents.links()
  const link = links.find(candidate => candidate.name === name)
  if (!link) {
    const renamed = links.find(candidate => linkId !== undefined && candidate.linkId === linkId)
    const what = renamed ? `; the link of this id is named '${renamed.name}' there` : ''
    const message = `the remote cluster has no link named '${name}'${what}`
    return problem('missing', 'REMOTE_LINK_NOT_FOUND_ERROR', message)
  }
  const mismatch = mismatchOf(link, clusterId)
  if (mismatch !== undefined)
    return problem('mismatch', 'MISCONFIGURATION_ERROR', `link '${name}' of the remote cluster ${mismatch}`)
  if (linkId === undefined || link.linkId === linkId) return { kind: 'linked', link, contents }
  const other = { linkId: link.linkId, hasMirrors: contents.mirrorTopicsOf(link.linkId).length > 0 }
  return { ...problem('mismatch', 'MISCONFIGURATION_ERROR', otherId(link, linkId)), other }
}

const otherId = ({ name, linkId }: LinkStatus, own: Uuid) =>
  `link '${name}' of the remote cluster has the id ${linkId}, this one has ${own}, and both have mirrors or had: ` +
  'delete one of both and create it again'

function mismatchOf(link: LinkStatus, clusterId: string): string | undefined {
  if (link.mode !== 'BIDIRECTIONAL') return `has link.mode ${link.mode}, not BIDIRECTIONAL`
  if (link.remoteClusterId !== undefined && link.remoteClusterId !== clusterId)
    return `belongs to cluster ${link.remoteClusterId}, not to this one (${clusterId})`
  return undefined
}

/**
 * Should the half with this id take that of the other one? Of two that were created at the same time, the one without mirrors does;
 * if neither has any, the one with the larger id. Both sides come to the same answer from what both can read.
 */
export const takesOtherId = (own: OtherHalf, other: OtherHalf): boolean =>
  !own.hasMirrors && (other.hasMirrors || other.linkId < own.linkId)

const problem = (why: PeerProblem['why'], code: string, message: string): PeerProblem => {
  return { kind: 'problem', why, code, message }
}

/** The other half of a link that exists. */
export const peerOf = (view: SourceStatusView, link: LinkRecord, clusterId: string): PeerLink =>
  peerLinkOf(view, { name: link.name, linkId: link.linkId, clusterId })
