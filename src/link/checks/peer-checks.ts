/** The check that only bidirectional links need: what the remote cluster publishes of the other half. */
import type { Uuid } from '../../core/uuid.ts'
import { linkError } from '../errors.ts'
import { type OwnHalf, peerLinkOf } from '../peers/peer-link.ts'
import type { SourceStatusView } from '../status/source-chain.ts'
import type { CheckList } from './check-list.ts'

/** Resolves the id of the other half; undefined = it does not exist yet, and takes the id of this one when it is created. */
export function checkPeerLink(checks: CheckList, view: SourceStatusView, own: OwnHalf): Uuid | undefined {
  const found = peerLinkOf(view, { ...own, linkId: undefined })
  if (found.kind === 'linked') {
    const { linkId } = found.link
    if (own.linkId !== undefined && own.linkId !== linkId)
      checks.failed('PEER_LINK', linkError('LINK_ID_MISMATCH', { given: own.linkId, found: linkId, link: own.name }))
    else checks.passed('PEER_LINK', `The remote cluster has the other side of link '${own.name}'.`)
    return linkId
  }
  if (found.why === 'missing')
    checks.warn(
      'PEER_LINK',
      `The remote cluster has no link named '${own.name}' yet.`,
      'Create the other side there, with the same name and this cluster as the remote one.',
    )
  else checks.failed('PEER_LINK', linkError('LINK_PEER_UNFIT', { link: own.name, problem: found.message }))
  return undefined
}
