/** Reads `__lockstep_inbox` while this node is the link coordinator: from its present end on, since whoever proposes does it again. Used by the state topic of a joined node. */
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { batchesIn } from '../../protocol/batches/batch-iteration.ts'
import { recordsOf } from '../../protocol/batches/records-of.ts'
import { CommittedReader, type CommittedReaderOptions } from './committed-reader.ts'
import { decodeProposal, type InboxProposal, type ProposalSignatures } from './proposal-codec.ts'

export interface InboxReaderOptions extends Omit<CommittedReaderOptions, 'position' | 'onBatches' | 'onGone'> {
  readonly signatures: ProposalSignatures
}

type Listener = (proposal: InboxProposal) => Promise<void>

/** Proposals that are being written at the same time. */
const UNDER_WAY_MAX = 1000

export class InboxReader {
  readonly #o: InboxReaderOptions
  readonly #logger: Logger
  #reader: CommittedReader | undefined
  #position: number | undefined
  #underWay = 0
  #forgedTold = false

  constructor(options: InboxReaderOptions) {
    this.#o = options
    this.#logger = options.logger
  }

  start(listener: Listener): void {
    if (this.#reader) return
    // Until the first answer the end is not known, and no offset is above it.
    this.#position = Number.MAX_SAFE_INTEGER
    this.#reader = new CommittedReader({
      ...this.#o,
      position: () => this.#position ?? 0,
      onBatches: bytes => this.#deliver(bytes, listener),
      onGone: () => {},
      startsAtEnd: end => {
        this.#position = end
      },
    })
    this.#reader.start()
  }

  async stop(): Promise<void> {
    const reader = this.#reader
    this.#reader = undefined
    await reader?.stop()
  }

  #deliver(bytes: Buffer, listener: Listener): void {
    for (const header of batchesIn(bytes)) {
      if (header.lastOffset < (this.#position ?? 0)) continue
      this.#position = header.lastOffset + 1
      for (const { value } of proposalsOf(bytes, header)) this.#take(value, listener)
    }
  }

  /** Too many at once are left out: they come again. */
  #take(value: Buffer | null, listener: Listener): void {
    const proposal = decodeProposal(value, this.#o.signatures)
    if (proposal === 'forged') return this.#tellForged()
    if (!proposal || this.#underWay >= UNDER_WAY_MAX) return
    this.#underWay++
    listener(proposal)
      .catch(error =>
        this.#logger.warn('a proposal was not written', { sender: proposal.sender, error: messageOf(error) }),
      )
      .finally(() => this.#underWay--)
  }

  /** Once: it is repeated for as long as somebody goes on. */
  #tellForged(): void {
    if (this.#forgedTold) return
    this.#forgedTold = true
    this.#logger.warn('a proposal was signed with a key that this node does not have', {
      topic: this.#o.topic.name,
      hint: 'all nodes of a cluster need the same lockstep.secret.key.file, and nobody else the right to write that topic',
    })
  }
}

/** Anybody with the right to write the inbox may have written nonsense. */
function proposalsOf(bytes: Buffer, header: Parameters<typeof recordsOf>[1]) {
  try {
    return recordsOf(bytes, header)
  } catch {
    return []
  }
}
