/** How Lockstep nodes of one cluster pass requests on to the link coordinator: each vouches for its clients with the key of `lockstep.secret.key.file`, which all of them have. Made by the start of a joined node. */
import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { stateTopicName } from '../../destination/state-topic.ts'
import { lockstepNode, restUrlOf } from '../../metadata/lockstep-nodes.ts'
import { type MetadataImage, topicByName } from '../../metadata/metadata-image.ts'
import type { ForwardedRequest, Forwarding, RestClient } from '../../rest/ports.ts'
import type { NodeSignatures } from './node-signatures.ts'

export interface PeerForwardingOptions {
  readonly nodeId: number
  readonly signatures: NodeSignatures
  readonly image: () => MetadataImage
  readonly clock: Clock
}

/** A header is believed for so long, by clocks that differ a little; and once. */
const FRESH_MS = 60_000
const SEEN_MAX = 100_000

interface Vouched {
  readonly from: number
  readonly to: number
  readonly timeMs: number
  /** Two requests of one moment that are alike are two. */
  readonly nonce: string
  readonly principal: RestClient['principal']
  readonly host: string
  readonly loggedIn: boolean
}

export class PeerForwarding implements Forwarding {
  readonly #o: PeerForwardingOptions
  /** Headers that were believed, with when. */
  readonly #seen = new Map<string, number>()

  constructor(options: PeerForwardingOptions) {
    this.#o = options
  }

  coordinator(): { readonly nodeId: number; readonly origin: string } | undefined {
    const image = this.#o.image()
    const leader = topicByName(image, stateTopicName)?.partitions[0]?.leader ?? -1
    const node = leader === this.#o.nodeId ? undefined : lockstepNode(image, leader)
    return node && { nodeId: leader, origin: restUrlOf(node) }
  }

  vouch(request: ForwardedRequest, { client, nodeId }: { client: RestClient; nodeId: number }): string {
    const { principal, host, loggedIn } = client
    const nonce = randomBytes(9).toString('base64url')
    const vouched = {
      from: this.#o.nodeId,
      to: nodeId,
      timeMs: this.#o.clock.nowMs(),
      nonce,
      principal,
      host,
      loggedIn,
    }
    const text = Buffer.from(JSON.stringify(vouched)).toString('base64url')
    return `${text}.${this.#o.signatures.sign(signedPart(text, request)).toString('base64url')}`
  }

  nodeOf(header: string): number | undefined {
    return vouchedOf(header)?.from
  }

  clientOf(header: string): RestClient | undefined {
    const vouched = vouchedOf(header)
    return vouched && { principal: vouched.principal, host: vouched.host, loggedIn: vouched.loggedIn }
  }

  problemOf(header: string, request: ForwardedRequest): string | undefined {
    const [text = '', signature = ''] = header.split('.')
    const given = Buffer.from(signature, 'base64url')
    if (!this.#o.signatures.isGenuine(signedPart(text, request), given))
      return 'the node that passed it on does not have the same lockstep.secret.key.file'
    const vouched = vouchedOf(header)
    const nowMs = this.#o.clock.nowMs()
    if (!vouched || vouched.to !== this.#o.nodeId) return 'it was meant for another node'
    if (Math.abs(nowMs - vouched.timeMs) > FRESH_MS)
      return 'it was passed on too long ago, or clocks differ by a minute'
    return this.#isNew(signature, nowMs) ? undefined : 'it was passed on before'
  }

  send(url: string, init: RequestInit): Promise<Response> {
    return fetch(url, init)
  }

  #isNew(signature: string, nowMs: number): boolean {
    for (const [known, timeMs] of this.#seen) {
      if (nowMs - timeMs <= 2 * FRESH_MS && this.#seen.size < SEEN_MAX) break
      this.#seen.delete(known)
    }
    if (this.#seen.has(signature)) return false
    this.#seen.set(signature, nowMs)
    return true
  }
}

function signedPart(text: string, { method, url, body }: ForwardedRequest): Buffer {
  const digest = createHash('sha256').update(body).digest('hex')
  return Buffer.from([text, method, url, digest].join('\n'))
}

function vouchedOf(header: string): Vouched | undefined {
  try {
    const vouched = JSON.parse(Buffer.from(header.split('.')[0] ?? '', 'base64url').toString()) as Vouched
    return typeof vouched.principal.name === 'string' && typeof vouched.host === 'string' ? vouched : undefined
  } catch {
    return undefined
  }
}
