/**
 * Topic configs as the link wants them. The write fence may have values of its own for some while a topic is a mirror: what these are
 * meant to be is in the mirror's record. Made by the engine, used by whatever reads or sets configs of mirrors.
 */
import type { Uuid } from '../../core/uuid.ts'
import type { MirrorChanges } from '../coordination/mirror-changes.ts'
import { admitsWriters } from '../fence/fenced-mirror.ts'
import type { Destination, DestinationTopicConfig } from '../ports.ts'
import type { DesiredState } from '../replay/desired-state.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'

export class MirrorTopicConfigs {
  readonly #desired: DesiredState
  readonly #changes: MirrorChanges
  readonly #destination: Destination
  /** What sources had when they were last followed. Of this process's life: the next one learns it with its first round. */
  readonly #followed = new Map<Uuid, ReadonlyMap<string, string>>()

  constructor(parts: { desired: DesiredState; changes: MirrorChanges; destination: Destination }) {
    this.#desired = parts.desired
    this.#changes = parts.changes
    this.#destination = parts.destination
  }

  /** As `Destination.topicConfig`, with the true value where the topic's own is the fence's. */
  of(topicId: Uuid, key: string): DestinationTopicConfig | undefined {
    const shown = this.#destination.topicConfig(topicId, key)
    const record = this.#destination.fence.parkedConfigs.has(key) ? this.#fenced(topicId) : undefined
    if (!shown || !record) return shown
    const { inherited } = shown
    const override = record.trueConfigs.get(key)
    return { value: override ?? inherited, overridden: override !== undefined, inherited }
  }

  /** True overrides of a topic that is a mirror by keys that the fence has other values for; undefined = it is none, or there are no such keys. */
  parkedOf(topicId: Uuid): ReadonlyMap<string, string | null> | undefined {
    const { parkedConfigs } = this.#destination.fence
    const record = parkedConfigs.size > 0 ? this.#fenced(topicId) : undefined
    return record && new Map([...parkedConfigs].map(key => [key, record.trueConfigs.get(key) ?? null]))
  }

  /** As `Destination.alterTopicConfigs`; what the fence has other values for holds once it is released. */
  async alter(topicId: Uuid, changes: ReadonlyMap<string, string | null>): Promise<void> {
    const { parkedConfigs } = this.#destination.fence
    const record = parkedConfigs.size > 0 ? this.#fenced(topicId) : undefined
    const parked = [...changes].filter(([key]) => record && parkedConfigs.has(key))
    const own = new Map([...changes].filter(([key]) => !record || !parkedConfigs.has(key)))
    if (own.size > 0) await this.#destination.alterTopicConfigs(topicId, own)
    if (record && parked.length > 0) await this.#changes.update(record, now => withConfigs(now, parked))
  }

  /** What makes the effective values those: an override where they differ, none where the inherited value is the wanted one. Keys that this cluster does not have are left out. */
  changesTowards(topicId: Uuid, wanted: ReadonlyMap<string, string>): Map<string, string | null> {
    const changes = new Map<string, string | null>()
    for (const [key, value] of wanted) {
      const here = this.of(topicId, key)
      if (!here) continue
      if (here.inherited === value) {
        if (here.overridden) changes.set(key, null)
      } else if (here.value !== value) changes.set(key, value)
    }
    return changes
  }

  /** The topic has these values now because its source has them. */
  followed(topicId: Uuid, wanted: ReadonlyMap<string, string>): void {
    this.#followed.set(topicId, wanted)
  }

  /** What was followed is about to change: until `followed` is called again nothing can be told to be somebody else's change. */
  unfollow(topicId: Uuid): void {
    this.#followed.delete(topicId)
  }

  /** Takes back what somebody else changed of these keys since the source was last followed. Resolves to those that were changed. */
  async takeBack(topicId: Uuid, owned: ReadonlySet<string>): Promise<readonly string[]> {
    const wanted = [...(this.#followed.get(topicId) ?? [])].filter(([key]) => owned.has(key))
    const changes = this.changesTowards(topicId, new Map(wanted))
    if (changes.size > 0) await this.alter(topicId, changes)
    return [...changes.keys()]
  }

  /** Topics that are mirrors no more are not remembered. */
  forgetOthers(): void {
    for (const topicId of this.#followed.keys()) if (!this.#fenced(topicId)) this.#followed.delete(topicId)
  }

  /** The part of a new mirror's overrides that its record keeps. */
  kept(configs: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
    return new Map([...configs].filter(([key]) => this.#destination.fence.parkedConfigs.has(key)))
  }

  /** Overrides of an ordinary topic that the write fence would have values of its own for. */
  keptOf(topicId: Uuid): ReadonlyMap<string, string> {
    const { fence } = this.#destination
    return new Map(
      [...fence.parkedConfigs].flatMap(key => {
        const { overridden = false, value = null } = this.#destination.topicConfig(topicId, key) ?? {}
        return overridden && value !== null ? [[key, value] as const] : []
      }),
    )
  }

  #fenced(topicId: Uuid): MirrorRecord | undefined {
    return [...this.#desired.mirrorsOfTopic(topicId)].find(
      record => record.state !== 'STOPPED' && !admitsWriters(record),
    )
  }
}

function withConfigs(record: MirrorRecord, changes: readonly (readonly [string, string | null])[]): MirrorRecord {
  const trueConfigs = new Map(record.trueConfigs)
  for (const [key, value] of changes) {
    if (value === null) trueConfigs.delete(key)
    else trueConfigs.set(key, value)
  }
  return { ...record, trueConfigs }
}
