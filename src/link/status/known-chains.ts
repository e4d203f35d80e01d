/** The chains behind this cluster's mirrors as far as they are known on this node; learned at creation and by the chain check, published in the status. */
import type { Uuid } from '../../core/uuid.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import type { MirrorChain } from './source-chain.ts'
import type { ChainHop } from './status-records.ts'

/** What identifies a mirror and its source: another source of the same mirror has another chain. */
type ChainedMirror = Pick<
  MirrorRecord,
  'linkId' | 'mirrorTopic' | 'topicId' | 'sourceClusterId' | 'sourceTopic' | 'sourceTopicId'
>

export class KnownChains {
  readonly #learned = new Map<string, MirrorChain>()
  /** Of those about which nothing was learned. */
  readonly #assumed = new Map<string, MirrorChain>()
  readonly #listeners = new Set<() => void>()

  /** Called after a chain became another. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** The source alone where nothing is known of what is behind it. The same object until it changes. */
  of(mirror: ChainedMirror): MirrorChain {
    const text = textOf(mirror)
    const known = this.#learned.get(text) ?? this.#assumed.get(text)
    if (known) return known
    const assumed: MirrorChain = { hops: [sourceHop(mirror)], end: 'unchecked', isLoop: false }
    this.#assumed.set(text, assumed)
    return assumed
  }

  learn(mirror: ChainedMirror, chain: MirrorChain): void {
    const isKnown = JSON.stringify(this.of(mirror)) === JSON.stringify(chain)
    const text = textOf(mirror)
    if (isKnown && this.#learned.has(text)) return
    this.#learned.set(text, chain)
    if (!isKnown) for (const listener of this.#listeners) listener()
  }

  /** What an earlier life of this node had learned, unless this one knows better. */
  recall(mirror: ChainedMirror, chain: MirrorChain): void {
    if (!this.#learned.has(textOf(mirror))) this.#assumed.set(textOf(mirror), chain)
  }

  /** Forgets all others. */
  keep(mirrors: Iterable<ChainedMirror>): void {
    const kept = new Set([...mirrors].map(textOf))
    for (const chains of [this.#learned, this.#assumed])
      for (const text of [...chains.keys()]) if (!kept.has(text)) chains.delete(text)
  }
}

/** The first hop behind a mirror. */
export const sourceHop = (mirror: {
  readonly sourceClusterId: string
  readonly sourceTopic: string
  readonly sourceTopicId: Uuid
}): ChainHop => ({ clusterId: mirror.sourceClusterId, topic: mirror.sourceTopic, topicId: mirror.sourceTopicId })

const textOf = (mirror: ChainedMirror): string =>
  [mirror.linkId, mirror.topicId, mirror.sourceClusterId, mirror.sourceTopicId, mirror.sourceTopic].join('/')
