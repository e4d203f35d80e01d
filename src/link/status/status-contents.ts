/** What one cluster publishes, as replayed from its `__lockstep_status`; filled by whoever reads the topic. */
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import { type StateKey, stateKeyText } from '../state-records/state-key.ts'
import type { StatusChange } from './status-codec.ts'
import { clusterStatusKey, reversalStatusKey, statusKinds } from './status-key.ts'
import type { LinkStatus, MirrorStatus, ReversalStatus, StopPointStatus } from './status-records.ts'

/** Keys kept of one cluster. */
const keysMax = 500_000

/** Reasons kept for display. */
const problemsMax = 20

type Kept = Exclude<StatusChange, { readonly kind: 'removed' | 'garbage' | 'other' }>

export class StatusContents {
  readonly #kept = new Map<string, Kept>()
  readonly #mirrors = new Map<string, Map<string, MirrorStatus>>()
  readonly #unreadable = new Map<string, { readonly key: StateKey; readonly reason: string }>()
  #garbage = 0
  #lastGarbage = ''

  /** Throws RangeError where the topic holds more than can be kept. */
  apply(change: StatusChange): void {
    if (change.kind === 'garbage') {
      this.#garbage++
      this.#lastGarbage = change.reason
      return
    }
    const text = stateKeyText(change.key)
    this.#forget(text)
    if (change.kind === 'removed' || change.kind === 'other') return
    if (this.#kept.size >= keysMax) throw new RangeError(`more than ${keysMax} keys`)
    this.#kept.set(text, change)
    if (change.kind === 'unreadable') this.#unreadable.set(text, change)
    if (change.kind !== 'mirror') return
    const { mirrorTopic } = change.record
    const ofTopic = this.#mirrors.get(mirrorTopic) ?? new Map<string, MirrorStatus>()
    this.#mirrors.set(mirrorTopic, ofTopic.set(text, change.record))
  }

  /** Bytes that are no record at all. */
  damaged(reason: string): void {
    this.apply({ kind: 'garbage', reason })
  }

  /** undefined = not everything has been published yet. */
  get clusterId(): string | undefined {
    const kept = this.#kept.get(stateKeyText(clusterStatusKey))
    return kept?.kind === 'cluster' ? kept.record.clusterId : undefined
  }

  /** Can it take part in a reverse? */
  get takesReverses(): boolean {
    const kept = this.#kept.get(stateKeyText(clusterStatusKey))
    return kept?.kind === 'cluster' && kept.record.takesReverses
  }

  links(): LinkStatus[] {
    return [...this.#kept.values()].flatMap(kept => (kept.kind === 'link' ? [kept.record] : []))
  }

  /** Records about topics of this name; several where a name went from one link or topic to another. */
  mirrorsNamed(topic: string): MirrorStatus[] {
    return [...(this.#mirrors.get(topic)?.values() ?? [])]
  }

  /** Names of the topics that a link mirrors there, or did. */
  mirrorTopicsOf(linkId: Uuid): string[] {
    const ofLink = [...this.#mirrors].filter(([, records]) => records.values().some(record => record.linkId === linkId))
    return ofLink.map(([name]) => name).sort()
  }

  /** Where the mirror of this topic id ended, by partition; empty if it did not. */
  stopPoints(topicId: Uuid): StopPointStatus[] {
    const found = [...this.#kept.values()].flatMap(kept =>
      kept.kind === 'stop-point' && kept.record.topicId === topicId && topicId !== ZERO_UUID ? [kept.record] : [],
    )
    return found.sort((left, right) => left.partition - right.partition)
  }

  /** What a link mirrors there under this topic id, or did. */
  mirrorOf(linkId: Uuid, of: { readonly mirrorTopic: string; readonly topicId: Uuid }): MirrorStatus | undefined {
    return this.mirrorsNamed(of.mirrorTopic).find(found => found.linkId === linkId && found.topicId === of.topicId)
  }

  /** How far the topic of that link is with changing roles. */
  reversalOf(linkId: Uuid, topic: string): ReversalStatus | undefined {
    const kept = this.#kept.get(stateKeyText(reversalStatusKey(linkId, topic)))
    return kept?.kind === 'reversal' ? kept.record : undefined
  }

  /** What a link mirrors there, or did. */
  mirrorsOfLink(linkId: Uuid): MirrorStatus[] {
    return [...this.#mirrors.values()].flatMap(records => [...records.values()].filter(of => of.linkId === linkId))
  }

  /** Why it cannot be said whether a topic of this name is a mirror. */
  problemOf(topic: string): string | undefined {
    if (this.#garbage > 0) return this.#lastGarbage
    const ofMirrors = [...this.#unreadable.values()].filter(({ key }) => key.kind === statusKinds.mirror)
    return ofMirrors.find(({ key }) => key.name === topic)?.reason
  }

  /** What cannot be read, in sentences; a few of many. */
  get problems(): string[] {
    const named = [...this.#unreadable.values()].slice(0, problemsMax).map(({ key, reason }) => {
      const what = key.kind === statusKinds.link ? `link ${key.scope}` : `topic ${key.name}`
      return `${what}: ${reason}`
    })
    if (this.#garbage === 0) return named
    return [...named, `${this.#garbage} piece(s) of it cannot be read, the last one: ${this.#lastGarbage}`]
  }

  #forget(text: string): void {
    const before = this.#kept.get(text)
    if (!before) return
    this.#kept.delete(text)
    this.#unreadable.delete(text)
    if (before.kind !== 'mirror') return
    const ofTopic = this.#mirrors.get(before.record.mirrorTopic)
    ofTopic?.delete(text)
    if (ofTopic?.size === 0) this.#mirrors.delete(before.record.mirrorTopic)
  }
}
