/** Durable changes of mirror records, one at a time per mirror: read what is replayed, decide, append. */
import type { Clock } from '../../core/clock.ts'
import type { Uuid } from '../../core/uuid.ts'
import { linkError } from '../errors.ts'
import type { StateRecord } from '../ports.ts'
import type { DesiredState } from '../replay/desired-state.ts'
import type { MirrorRecord, PartitionFailure } from '../state-records/mirror-record.ts'
import { mirrorStateRecord, tombstone } from '../state-records/record-codec.ts'
import { mirrorKey } from '../state-records/state-key.ts'
import { type TransitionDetail, transition } from '../states/transition.ts'
import { KeyedQueues } from './keyed-queues.ts'
import type { StateJournal } from './state-journal.ts'

/** Which mirror: the link and the name of its topic here. */
export interface MirrorId {
  readonly linkId: Uuid
  readonly mirrorTopic: string
  /** Given where a particular topic is meant: another mirror that has its name by now is none of it. */
  readonly topicId?: Uuid
}

export const mirrorIdText = ({ linkId, mirrorTopic }: MirrorId): string => `${linkId}/${mirrorTopic}`

export class MirrorChanges {
  readonly #desired: DesiredState
  readonly #journal: StateJournal
  readonly #clock: Clock
  readonly #queues = new KeyedQueues()

  constructor(options: { desired: DesiredState; journal: StateJournal; clock: Clock }) {
    this.#desired = options.desired
    this.#journal = options.journal
    this.#clock = options.clock
  }

  /** The replayed record. Throws MIRROR_NOT_FOUND. */
  current(id: MirrorId): MirrorRecord {
    const record = this.#find(id)
    if (!record) throw linkError('MIRROR_NOT_FOUND', { topic: id.mirrorTopic, link: this.#linkName(id.linkId) })
    return record
  }

  /**
   * Raises an event; `patch` adds to the record in the same durable write. Resolves to the record as it is then, undefined
   * if the topic is no mirror any more. Rejects if the table refuses.
   */
  transition(
    id: MirrorId,
    detail: Omit<TransitionDetail, 'linkName' | 'timeMs'>,
    patch?: (record: MirrorRecord) => MirrorRecord,
  ): Promise<MirrorRecord | undefined> {
    return this.#change(id, record => {
      const linkName = this.#linkName(id.linkId)
      const next = transition(record, { ...detail, linkName, timeMs: this.#clock.nowMs() })
      return next === undefined || next === record || !patch ? next : patch(next)
    })
  }

  /** Changes anything but the state. `change` may return the record itself: then nothing is written. */
  update(id: MirrorId, change: (record: MirrorRecord) => MirrorRecord): Promise<MirrorRecord> {
    return this.#change(id, record => {
      const next = change(record)
      if (next.state !== record.state) throw new TypeError('a state changes only through transition()')
      return next
    }) as Promise<MirrorRecord>
  }

  /** As `update`, by the node that leads a partition of the mirror, which need not be the link coordinator. */
  note(id: MirrorId, change: (record: MirrorRecord) => MirrorRecord): Promise<MirrorRecord> {
    return this.#change(id, change, 'report') as Promise<MirrorRecord>
  }

  /** Writes what another node proposes, as it is, if `isAcceptable` still says so. Resolves to whether it was. */
  accept(id: MirrorId, record: StateRecord, isAcceptable: () => boolean): Promise<boolean> {
    return this.#queues.run(mirrorIdText(id), async () => {
      await this.#journal.certain()
      if (!isAcceptable()) return false
      await this.#journal.append([record])
      return true
    })
  }

  /**
   * Changes several mirrors with one durable write, or none: nothing is written if `change` answers undefined for one that is
   * still there. Resolves to whether it was.
   */
  async updateTogether(
    ids: readonly MirrorId[],
    change: (record: MirrorRecord) => MirrorRecord | undefined,
  ): Promise<boolean> {
    // Everybody takes the queues in the same order, so that nobody waits for somebody who waits for him.
    const names = [...new Set(ids.map(mirrorIdText))].sort()
    const inQueues = (index: number): Promise<boolean> => {
      const name = names[index]
      return name === undefined ? write() : this.#queues.run(name, () => inQueues(index + 1))
    }
    const write = async (): Promise<boolean> => {
      await this.#journal.certain()
      const changed = ids.flatMap(id => this.#find(id) ?? []).map(change)
      if (changed.includes(undefined) || changed.length === 0) return false
      await this.#journal.append(changed.flatMap(record => (record ? [mirrorStateRecord(record)] : [])))
      return true
    }
    return await inQueues(0)
  }

  /**
   * These partitions follow no more; the topic is FAILED from the first one on. Nothing happens to a mirror that is
   * stopped, being stopped or gone.
   */
  async fail(id: MirrorId, failures: readonly Omit<PartitionFailure, 'timeMs'>[]): Promise<void> {
    const first = failures[0]
    if (!first || !this.#find(id)) return
    const decide = (record: MirrorRecord) => {
      if (record.state === 'STOPPED' || record.stopping !== undefined) return record
      const timeMs = this.#clock.nowMs()
      const fresh = failures.filter(({ partition }) => record.failures.every(known => known.partition !== partition))
      if (fresh.length === 0) return record
      const all = [...record.failures, ...fresh.map(failure => ({ ...failure, timeMs }))]
      if (record.state === 'FAILED') return { ...record, failures: all }
      const reason = `partition ${first.partition}: ${first.reason}`
      const linkName = this.#linkName(id.linkId)
      const next = transition(record, { event: 'fail', reason, linkName, timeMs })
      return next && { ...next, failures: all }
    }
    await this.#change(id, decide, 'report')
  }

  /** A topic becomes a mirror; `more` goes into the same durable write. A record of another topic of the name is replaced. */
  async create(record: MirrorRecord, more: readonly StateRecord[]): Promise<void> {
    await this.#queues.run(mirrorIdText(record), () => this.#journal.append([mirrorStateRecord(record), ...more]))
  }

  async idle(): Promise<void> {
    await this.#queues.idle()
  }

  #change(
    id: MirrorId,
    decide: (record: MirrorRecord) => MirrorRecord | undefined,
    how: 'append' | 'report' = 'append',
  ): Promise<MirrorRecord | undefined> {
    return this.#queues.run(mirrorIdText(id), async () => {
      await this.#journal.certain()
      const record = this.current(id)
      const next = decide(record)
      if (next === record) return record
      const key = mirrorKey(id.linkId, id.mirrorTopic)
      await this.#journal[how]([next === undefined ? tombstone(key) : mirrorStateRecord(next)])
      return next
    })
  }

  #find({ linkId, mirrorTopic, topicId }: MirrorId): MirrorRecord | undefined {
    const record = this.#desired.mirror(linkId, mirrorTopic)
    return topicId === undefined || record?.topicId === topicId ? record : undefined
  }

  #linkName(linkId: Uuid): string {
    return this.#desired.link(linkId)?.name ?? linkId
  }
}
