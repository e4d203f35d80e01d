/** Have the Lockstep nodes of a cluster the same `lockstep.secret.key.file`? Another node is sent a signed request; asked by `--check`, and told in the log at the start. */
import { systemClock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { type LockstepNode, lockstepNodes, restUrlOf } from '../../metadata/lockstep-nodes.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { type Forwarding, peerCallPath } from '../../rest/ports.ts'
import type { NodeSettings } from '../settings.ts'
import { nodeSignatures } from './node-signatures.ts'
import { PeerForwarding } from './peer-forwarding.ts'

const TIMEOUT_MS = 5000
const UNAUTHORIZED = 401

export interface KeyVerdict {
  /** The node could not work with the others. */
  readonly problem?: string
  readonly warning?: string
}

/** Changes nothing and creates no key. Does not reject. */
export async function checkPeerKey(
  settings: Pick<NodeSettings, 'nodeId' | 'secretKeyFile' | 'dataDirectory'>,
  image: MetadataImage,
): Promise<KeyVerdict> {
  const { nodeId, secretKeyFile } = settings
  const other = lockstepNodes(image).find(({ brokerId, isActive }) => isActive && brokerId !== nodeId)
  if (!other) return {}
  if (secretKeyFile === undefined)
    return {
      warning: `lockstep.secret.key.file is not set, and node ${other.brokerId} is in the cluster already: nodes need the same keys, give this one the file of that one`,
    }
  try {
    const { ofRequests: signatures } = await nodeSignatures(settings)
    return await askNode(other, new PeerForwarding({ nodeId, signatures, image: () => image, clock: systemClock }))
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

/** A call that no node carries out, since no coordinator has that term. */
async function askNode(other: LockstepNode, forwarding: Pick<Forwarding, 'vouch' | 'send'>): Promise<KeyVerdict> {
  const { brokerId } = other
  const url = peerCallPath('reports')
  const body = JSON.stringify({ term: -1 })
  const client = { principal: { type: 'User', name: 'lockstep' }, host: '', loggedIn: true } as const
  const vouched = forwarding.vouch({ method: 'POST', url, body }, { client, nodeId: brokerId })
  try {
    const { status } = await forwarding.send(`${restUrlOf(other)}${url}`, {
      method: 'POST',
      headers: { 'x-lockstep-forwarded': vouched, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (status !== UNAUTHORIZED) return {}
    return {
      problem: `node ${brokerId} does not believe this node: all nodes of a cluster need the same keys in lockstep.secret.key.file (or clocks differ by a minute)`,
    }
  } catch (error) {
    return {
      warning: `node ${brokerId} could not be asked at ${restUrlOf(other)} whether it has the same key: ${messageOf(error)}`,
    }
  }
}
