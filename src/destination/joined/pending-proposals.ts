/** Proposals of this node on their way: sent to the inbox, again and again, until the state shows what became of them. Used by the state topic of a joined node. */
import { type Clock, sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { NotLinkCoordinator, type StateRecord } from '../../link/ports.ts'
import { encodeProposal, type ProposalSignatures } from './proposal-codec.ts'

export interface PendingProposalsOptions {
  readonly sender: number
  readonly signatures: ProposalSignatures
  readonly inbox: { append(records: readonly StateRecord[]): Promise<void> }
  /** Why there is nobody to propose to; undefined = there is. */
  readonly vacancy: () => string | undefined
  readonly clock: Clock
}

/** A proposal that the coordinator has not seen: it took over meanwhile. */
const AGAIN_MS = 3000
const GIVE_UP_MS = 20_000

interface Pending {
  readonly decidedAt: number
  readonly records: readonly StateRecord[]
  /** Keys whose record has not been seen yet. */
  readonly missing: Map<string, Buffer | null>
  readonly settled: AbortController
  refusal: Error | undefined
}

export class PendingProposals {
  readonly #o: PendingProposalsOptions
  readonly #pending = new Set<Pending>()

  constructor(options: PendingProposalsOptions) {
    this.#o = options
  }

  /** Resolves when all records were replayed; rejects where another record of one of their keys was, or after a while. */
  async propose(records: readonly StateRecord[], decidedAt: number): Promise<void> {
    const { vacancy, clock } = this.#o
    const none = vacancy()
    if (none !== undefined) throw new NotLinkCoordinator(none)
    const missing = new Map(records.map(({ key, value }) => [textOf(key), value]))
    const pending: Pending = { decidedAt, records, missing, settled: new AbortController(), refusal: undefined }
    this.#pending.add(pending)
    try {
      await this.#sendUntilSettled(pending, clock.monotonicMs() + GIVE_UP_MS)
    } finally {
      this.#pending.delete(pending)
    }
    if (pending.refusal) throw pending.refusal
  }

  /** To be called for every batch of the state, in order. */
  replayed(records: readonly StateRecord[], offset: number): void {
    for (const pending of this.#pending) {
      if (offset < pending.decidedAt) continue
      for (const { key, value } of records) {
        const wanted = pending.missing.get(textOf(key))
        if (wanted === undefined) continue
        if (isSame(wanted, value)) pending.missing.delete(textOf(key))
        else pending.refusal = new NotLinkCoordinator('another record came first: it has to be decided again')
      }
      if (pending.refusal || pending.missing.size === 0) pending.settled.abort()
    }
  }

  /** This node is the coordinator itself now, or is stopping. */
  giveUp(reason: string): void {
    for (const pending of this.#pending) {
      pending.refusal = new NotLinkCoordinator(reason)
      pending.settled.abort()
    }
  }

  async #sendUntilSettled(pending: Pending, untilMs: number): Promise<void> {
    const { inbox, sender, signatures, clock } = this.#o
    const { decidedAt, records, settled } = pending
    const value = encodeProposal({ sender, decidedAt, records }, signatures)
    let trouble = 'the link coordinator does not answer'
    while (!settled.signal.aborted) {
      try {
        await inbox.append([{ key: Buffer.from(String(sender)), value }])
      } catch (error) {
        trouble = messageOf(error)
      }
      await sleep(clock, AGAIN_MS, settled.signal)
      if (!settled.signal.aborted && clock.monotonicMs() >= untilMs) throw new Error(trouble)
    }
  }
}

const textOf = (key: Buffer): string => key.toString('latin1')

const isSame = (a: Buffer | null, b: Buffer | null): boolean => (a === null || b === null ? a === b : a.equals(b))
