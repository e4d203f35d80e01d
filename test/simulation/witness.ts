/** Sees every state record at the moment at which it is decided, and every write of a sync at the moment at which it happens; kept by the world, asked by the checks. */
import type { Clock } from '../../src/core/clock.ts'
import type { Uuid } from '../../src/core/uuid.ts'
import { aclText } from '../../src/link/acls/acl-names.ts'
import { placeText } from '../../src/link/groups/plan-group.ts'
import type { AclBinding, StateRecord } from '../../src/link/ports.ts'
import { DesiredState } from '../../src/link/replay/desired-state.ts'
import type { GroupOffsetsRecord } from '../../src/link/state-records/group-offsets-record.ts'
import type { MirrorRecord } from '../../src/link/state-records/mirror-record.ts'
import type { OwnedAclRecord } from '../../src/link/state-records/owned-acl-record.ts'
import { decodeStateRecord } from '../../src/link/state-records/record-codec.ts'
import { decodeStateKey, recordKinds, type StateKey } from '../../src/link/state-records/state-key.ts'
import type { SourceModel } from './source-model.ts'

/** A promote decides by answers that may be so old: the source is asked, logs are flushed, the decision is written. */
const decisionMs = { sound: 250, bad: 20_000 }

export class Witness {
  readonly durable = new DesiredState()
  /** What broke a rule, in words; the checks look after every step. */
  readonly violations: string[] = []
  /** Topics that were STOPPED once: no sync writes anything of theirs. */
  readonly stopped = new Set<Uuid>()
  /** ACLs, as text, that a deleted link left behind: they are nobody's. */
  readonly leftAcls = new Set<string>()
  /** A deposed process still writes until then: groups and configs know no leader epochs. */
  zombieUntilMs = -1
  /** Disks or network were slow until then. */
  slowUntilMs = 0
  /** A link says that it creates an ACL. */
  onOwned: (acl: AclBinding) => void = () => {}
  readonly #clock: Clock
  readonly #sources: readonly SourceModel[]
  readonly #decidedPromotes = new Set<Uuid>()
  readonly #recentlyMeant = new Map<string, readonly number[]>()
  /** By ACL: links, and since when. */
  readonly #owners = new Map<string, Map<Uuid, number>>()
  readonly #replaced = new Map<string, number>()
  readonly #removedLinks = new Set<Uuid>()

  constructor(clock: Clock, sources: readonly SourceModel[]) {
    this.#clock = clock
    this.#sources = sources
  }

  get nowMs(): number {
    return this.#clock.monotonicMs()
  }

  /** May nothing of this topic be synced any more? */
  isStopped(topicId: Uuid): boolean {
    return this.stopped.has(topicId) && this.nowMs > this.zombieUntilMs
  }

  demand(condition: boolean, message: () => string): void {
    if (!condition) this.violations.push(message())
  }

  decided(records: readonly StateRecord[]): void {
    const decided: MirrorRecord[] = []
    const disowned: StateKey[] = []
    for (const record of records) {
      const key = decodeStateKey(record.key)
      this.demand(
        record.value === null || !this.#removedLinks.has(key.scope),
        () => `a record of kind ${key.kind} (${key.name}) of a deleted link is written`,
      )
      const change = decodeStateRecord(record)
      if (change.kind === 'mirror' && this.#mirror(change.record)) decided.push(change.record)
      if (change.kind === 'owned-acl') this.#own(change.record)
      if (change.kind === 'group-offsets') this.#meant(change.record)
      if (change.kind === 'removed' && key.kind === recordKinds.link) this.#removedLinks.add(key.scope)
      if (change.kind === 'removed' && key.kind === recordKinds.ownedAcl) disowned.push(key)
      this.durable.apply(change)
    }
    for (const { scope, name } of disowned) {
      this.#owners.get(name)?.delete(scope)
      if (this.#removedLinks.has(scope)) this.leftAcls.add(name)
    }
    for (const record of decided) this.#checkUnit(record)
    for (const linkId of this.#removedLinks) this.#checkRemoved(linkId)
  }

  /** The last offsets that links decided to write for a group in a partition. */
  recentlyMeant(group: string, place: string): readonly number[] {
    return this.#recentlyMeant.get(`${group} ${place}`) ?? []
  }

  /** How many links have owned this ACL, as text, since then at least. */
  ownersSince(acl: string, sinceMs: number): number {
    return [...(this.#owners.get(acl)?.values() ?? [])].filter(ownedMs => ownedMs <= sinceMs).length
  }

  #own({ linkId, acl }: OwnedAclRecord): void {
    this.onOwned(acl)
    const owners = this.#owners.get(aclText(acl)) ?? new Map<Uuid, number>()
    if (!owners.has(linkId)) this.#owners.set(aclText(acl), owners.set(linkId, this.nowMs))
  }

  #meant({ group, written }: GroupOffsetsRecord): void {
    for (const { topic, partition, offset, previousOffset } of written) {
      const key = `${group} ${placeText({ topic, partition })}`
      const known = this.#recentlyMeant.get(key) ?? []
      // What a write replaces is known to it, so it may still be what is there when the next one comes.
      const replaced = this.#replaced.get(key) ?? -1
      this.#replaced.set(key, previousOffset)
      if (known.at(-1) !== offset) this.#recentlyMeant.set(key, [...known, replaced, offset].slice(-6))
    }
  }

  /** Is it the decision of a promote? */
  #mirror(record: MirrorRecord): boolean {
    const { topicId, stopping, stopPoints } = record
    if (record.state === 'STOPPED') this.stopped.add(topicId)
    if (stopping?.verb !== 'promote' || stopPoints.length === 0 || this.#decidedPromotes.has(topicId)) return false
    this.#decidedPromotes.add(topicId)
    this.#checkPromote(record)
    return true
  }

  /** No topic of a unit is decided without the others. */
  #checkUnit({ linkId, mirrorTopic, together, stateTimeMs }: MirrorRecord): void {
    for (const name of together) {
      const other = this.durable.mirror(linkId, name)
      // One that came later was none of it.
      const isNone = other === undefined || other.createdTimeMs >= stateTimeMs
      const isDecided = isNone || other.state === 'STOPPED' || other.stopping !== undefined
      this.demand(isDecided, () => `${mirrorTopic} is to stop, ${name} of its unit is ${other?.state}`)
    }
  }

  /** Everything that the source had a moment ago is there, and no transaction was open. */
  #checkPromote({ mirrorTopic, sourceTopicId, stopPoints }: MirrorRecord): void {
    const nowMs = this.#clock.monotonicMs()
    const source = this.#sources.map(({ everyTopic }) => everyTopic.get(sourceTopicId)).find(topic => topic)
    // One that was created anew answers under the name of the other, whose end nobody can tell any more.
    const isThere = this.#sources.some(({ topics }) => topics.get(source?.name ?? '')?.topicId === sourceTopicId)
    if (!source || !isThere) return
    const sinceMs = nowMs - (nowMs < this.slowUntilMs ? decisionMs.bad : decisionMs.sound)
    for (const { partition, stopOffset } of stopPoints)
      this.demand(
        source.partitions[partition]?.endedAt(stopOffset, sinceMs) ?? false,
        () => `${mirrorTopic}-${partition} is promoted at ${stopOffset}, which is not what its source had`,
      )
  }

  #checkRemoved(linkId: Uuid): void {
    const { durable } = this
    const mirrors = durable.mirrorsOf(linkId).map(({ mirrorTopic }) => `mirror ${mirrorTopic}`)
    const groups = durable.groupsWrittenBy(linkId).map(group => `group ${group}`)
    const acls = durable.ownedAcls(linkId).map(({ principal }) => `ACL of ${principal}`)
    const creations = [...durable.creations()].filter(creation => creation.linkId === linkId)
    const left = [...mirrors, ...groups, ...acls, ...creations.map(({ mirrorTopic }) => `creation ${mirrorTopic}`)]
    this.demand(left.length === 0, () => `a deleted link left behind: ${left.join(', ')}`)
  }
}
