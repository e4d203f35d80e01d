/** Answers the calls of the link coordinator on another node: looks whether it is that, then asks the engine or the logs of this node. Given to REST by the start of a joined node. */
import { messageOf } from '../../core/errors.ts'
import type { CoordinatorTerms } from '../../destination/joined/coordinator-terms.ts'
import type { MirrorLogService } from '../../destination/joined/mirror-log-service.ts'
import type { PeerEngine } from '../../link/peer-ports.ts'
import type { PeerCallHandler } from '../../rest/ports.ts'
import type { CallAnswer, CallBodies, CallName } from './peer-call-words.ts'

export interface PeerCallServiceOptions {
  readonly terms: Pick<CoordinatorTerms, 'refusal'>
  readonly engine: PeerEngine
  readonly logs: Pick<MirrorLogService, 'serve'>
}

type Answers = { readonly [N in CallName]: (asked: CallBodies[N]['asked']) => Promise<CallBodies[N]['answer']> }

export class PeerCallService implements PeerCallHandler {
  readonly #terms: PeerCallServiceOptions['terms']
  readonly #answers: Answers

  constructor({ terms, engine, logs }: PeerCallServiceOptions) {
    this.#terms = terms
    this.#answers = {
      'stop-fetching': ({ mirror, position }) => engine.stopFetching(mirror, position),
      'hold-fetching': ({ mirror, position, hold }) => engine.holdFetching(mirror, position, hold),
      'release-fetching': async ({ mirror, holdId }) => {
        await engine.releaseFetching(mirror, holdId)
        return null
      },
      reports: () => engine.reports(),
      logs: ({ requests }) => logs.serve(requests),
    }
  }

  /** The body is what another node of this cluster has signed. */
  async answer(name: string, body: unknown, nodeId: number): Promise<CallAnswer<CallName>> {
    const { term } = (body ?? {}) as { readonly term?: unknown }
    if (typeof term !== 'number' || !Object.hasOwn(this.#answers, name))
      return { kind: 'failed', message: `this node knows no call '${name}' of that form` }
    const refusal = this.#terms.refusal({ nodeId, term })
    if (refusal !== undefined) return { kind: 'failed', message: refusal }
    const call = this.#answers[name as CallName] as (asked: unknown) => Promise<CallBodies[CallName]['answer']>
    try {
      return { kind: 'done', answer: await call(body) }
    } catch (error) {
      return { kind: 'failed', message: messageOf(error) }
    }
  }
}
