/** Calls of the link coordinator to other Lockstep nodes of its cluster: to their REST, signed as requests that are passed on, with the term in which it coordinates. Made by the start of a joined node. */
import { messageOf } from '../../core/errors.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { LogRequest, LogResult } from '../../destination/joined/peer-log-calls.ts'
import type { FetchingHold, PartitionReport, PeerEngine, PeerMirror, Peers } from '../../link/peer-ports.ts'
import { NotLinkCoordinator } from '../../link/ports.ts'
import { lockstepNode, lockstepNodes, restUrlOf } from '../../metadata/lockstep-nodes.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { type Forwarding, peerCallPath } from '../../rest/ports.ts'
import type { CallAnswer, CallBodies, CallName } from './peer-call-words.ts'

export interface PeerCallsOptions {
  readonly nodeId: number
  readonly image: () => MetadataImage
  /** In which this node coordinates; undefined = it does not. */
  readonly term: () => number | undefined
  readonly forwarding: Pick<Forwarding, 'vouch' | 'send'>
}

/** No longer than requests of a deposed coordinator are waited for by the next. */
const TIMEOUT_MS = 10_000

/** Who asks is the node itself; that it is one says the signature. */
const client = { principal: { type: 'User', name: 'lockstep' }, host: '', loggedIn: true } as const

export class PeerCalls implements Peers {
  readonly #o: PeerCallsOptions
  readonly #closed = new AbortController()

  constructor(options: PeerCallsOptions) {
    this.#o = options
  }

  leading(topicId: Uuid): readonly number[] {
    const image = this.#o.image()
    const leaders = new Set(image.topics.get(topicId)?.partitions.map(({ leader }) => leader))
    return [...leaders].filter(id => id !== this.#o.nodeId && lockstepNode(image, id) !== undefined)
  }

  all(): readonly number[] {
    const others = lockstepNodes(this.#o.image()).filter(
      ({ isActive, brokerId }) => isActive && brokerId !== this.#o.nodeId,
    )
    return others.map(({ brokerId }) => brokerId)
  }

  engine(nodeId: number): PeerEngine {
    return {
      stopFetching: (mirror: PeerMirror, position: number) => this.#call(nodeId, 'stop-fetching', { mirror, position }),
      holdFetching: (mirror: PeerMirror, position: number, hold: FetchingHold) =>
        this.#call(nodeId, 'hold-fetching', { mirror, position, hold }),
      releaseFetching: async (mirror: PeerMirror, holdId: string) => {
        await this.#call(nodeId, 'release-fetching', { mirror, holdId })
      },
      reports: (): Promise<readonly PartitionReport[]> => this.#call(nodeId, 'reports', {}),
    }
  }

  close(): void {
    this.#closed.abort(new Error('this node is stopping'))
  }

  logs(nodeId: number, requests: readonly LogRequest[]): Promise<readonly LogResult[]> {
    return this.#call(nodeId, 'logs', { requests })
  }

  async #call<N extends CallName>(
    nodeId: number,
    name: N,
    asked: CallBodies[N]['asked'],
  ): Promise<CallBodies[N]['answer']> {
    const { image, term, forwarding, nodeId: own } = this.#o
    const present = term()
    if (present === undefined) throw new NotLinkCoordinator(`node ${own} is not the link coordinator`)
    const node = lockstepNode(image(), nodeId)
    if (!node) throw new Error(`broker ${nodeId} is no Lockstep node`)
    const url = peerCallPath(name)
    const body = JSON.stringify({ term: present, ...asked })
    const request = { method: 'POST', url, body }
    try {
      const answer = await forwarding.send(`${restUrlOf(node)}${url}`, {
        method: 'POST',
        headers: {
          'x-lockstep-forwarded': forwarding.vouch(request, { client, nodeId }),
          'content-type': 'application/json',
        },
        body,
        signal: AbortSignal.any([this.#closed.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      })
      const told = (await answer.json()) as CallAnswer<N>
      if (told.kind === 'done') return told.answer
      throw new Error(told.message)
    } catch (error) {
      throw new Error(`node ${nodeId} (${restUrlOf(node)}): ${messageOf(error)}`, { cause: error })
    }
  }
}
