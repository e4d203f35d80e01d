/** Durable changes of link records, one at a time per link, so that none overwrites another: configs, pinned ids, deletions. */
import type { Uuid } from '../../core/uuid.ts'
import { linkError } from '../errors.ts'
import type { StateRecord } from '../ports.ts'
import type { DesiredState } from '../replay/desired-state.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import { linkStateRecord } from '../state-records/record-codec.ts'
import { KeyedQueues } from './keyed-queues.ts'
import type { StateJournal } from './state-journal.ts'

export class LinkChanges {
  readonly #desired: DesiredState
  readonly #journal: StateJournal
  readonly #queues = new KeyedQueues()

  constructor(options: { desired: DesiredState; journal: StateJournal }) {
    this.#desired = options.desired
    this.#journal = options.journal
  }

  /**
   * `change` gets the replayed record and may return it as it is: then nothing is written. Resolves to what holds then;
   * undefined if the link is gone.
   */
  update(linkId: Uuid, change: (link: LinkRecord) => LinkRecord): Promise<LinkRecord | undefined> {
    return this.#queues.run(linkId, async () => {
      await this.#journal.certain()
      const link = this.#desired.link(linkId)
      if (!link) return undefined
      const next = change(link)
      if (next !== link) await this.#journal.append([linkStateRecord(next)])
      return next
    })
  }

  /**
   * Appends records that belong to the link: what its syncs wrote where. Rejects with LINK_NOT_FOUND once the link is gone,
   * so that nothing of it is left behind.
   */
  append(linkId: Uuid, records: readonly StateRecord[]): Promise<void> {
    return this.#queues.run(linkId, async () => {
      await this.#journal.certain()
      if (!this.#desired.link(linkId)) throw linkError('LINK_NOT_FOUND', { link: linkId })
      await this.#journal.append(records)
    })
  }

  /**
   * Removes the link with the records that `records` gives, which must hold its tombstone; nothing can bring any of them back
   * afterwards.
   */
  remove(linkId: Uuid, records: () => readonly StateRecord[]): Promise<void> {
    return this.#queues.run(linkId, async () => {
      await this.#journal.certain()
      await this.#journal.append(records())
    })
  }

  async idle(): Promise<void> {
    await this.#queues.idle()
  }
}
