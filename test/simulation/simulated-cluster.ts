/** This cluster in the simulation: knows who wrote an offset, an ACL or a config, and judges every write of a sync when it happens. */
import type { Uuid } from '../../src/core/uuid.ts'
import { aclText } from '../../src/link/acls/acl-names.ts'
import type { CrashingProcess } from '../../src/link/fakes/crashing-process.ts'
import { FakeCluster } from '../../src/link/fakes/fake-cluster.ts'
import { placeText } from '../../src/link/groups/plan-group.ts'
import type { AclBinding, Destination, GroupCommit, GroupOffset } from '../../src/link/ports.ts'
import type { Witness } from './witness.ts'

/** No filter of a link includes it. */
export const excludedGroup = 'g-secret'

/** How long a round of a sync takes at most from its look to its write, on the worst of disks. */
const raceMs = 4000

interface ClientOffset {
  readonly topic: string
  readonly sinceMs: number
  /** May a link overwrite it? */
  adopted: 'no' | 'perhaps' | 'yes'
}

/** By topic/partition. */
type LogBounds = ReadonlyMap<string, { readonly from: number; readonly to: number }>

export class SimulatedCluster extends FakeCluster {
  readonly #witness: Witness
  /** Offsets that clients of this cluster committed last, by group and place. */
  readonly #byClients = new Map<string, ClientOffset>()
  /** What the engine found when it last read a group. */
  readonly #seen = new Map<string, { readonly bounds: LogBounds }>()
  /** Groups whose adoption was asked for and not answered. */
  readonly #adopting = new Set<string>()
  /** ACLs that people of this cluster created. */
  readonly #foreignAcls = new Map<string, number>()
  /** The same, also where a link owned such an ACL at that time: it may have been about to let it go. */
  readonly #operatorAcls = new Set<string>()
  #isOperator = false

  constructor(witness: Witness) {
    super()
    this.#witness = witness
    // A link that looked before it was there, and says only now that it creates it, cannot know whose it is.
    witness.onOwned = acl => {
      const sinceMs = this.#foreignAcls.get(aclText(acl)) ?? Number.NEGATIVE_INFINITY
      if (witness.nowMs - sinceMs < raceMs) this.#foreignAcls.delete(aclText(acl))
    }
  }

  /** Who commits is a client of this cluster. */
  commitAsClient(groupId: string, offset: GroupOffset): void {
    const group = this.groups.get(groupId) ?? { offsets: new Map<string, GroupOffset>(), hasMembers: false }
    this.groups.set(groupId, group)
    group.offsets.set(placeText(offset), offset)
    const adopted = this.#adopting.has(groupId) ? 'perhaps' : 'no'
    this.#byClients.set(`${groupId} ${placeText(offset)}`, {
      topic: offset.topic,
      adopted,
      sinceMs: this.#witness.nowMs,
    })
  }

  /** Is this value a client's, that no operator gave to a link for sure? */
  mayBeForeign(groupId: string, place: string): boolean {
    const adopted = this.#byClients.get(`${groupId} ${place}`)?.adopted
    return adopted === 'no' || adopted === 'perhaps'
  }

  /** An operator lets a link have what the group has now. Returns what is to be called with the answer. */
  adopt(groupId: string, isOfLink: (topic: string) => boolean): (isDone: boolean) => void {
    this.#adopting.add(groupId)
    const values = [...this.#byClients].filter(([key, { topic }]) => key.startsWith(`${groupId} `) && isOfLink(topic))
    for (const [, value] of values) if (value.adopted === 'no') value.adopted = 'perhaps'
    return isDone => {
      this.#adopting.delete(groupId)
      if (isDone) for (const [, value] of values) value.adopted = 'yes'
    }
  }

  /** Whoever was to answer is not there any more. */
  forgetAdoptions(): void {
    this.#adopting.clear()
  }

  override commit(groupId: string, offsets: readonly GroupOffset[]): GroupCommit {
    const before = new Map(this.groups.get(groupId)?.offsets)
    const outcome = super.commit(groupId, offsets)
    if (outcome.kind === 'committed')
      for (const offset of offsets) this.#judgeOffset(groupId, offset, before.get(placeText(offset))?.offset)
    return outcome
  }

  /** With a topic go the offsets of groups in it. */
  override deleteTopic(name: string): void {
    for (const [groupId, { offsets }] of this.groups)
      for (const [place, { topic }] of [...offsets]) {
        if (topic !== name) continue
        offsets.delete(place)
        this.#byClients.delete(`${groupId} ${place}`)
      }
    super.deleteTopic(name)
  }

  override alterConfigs(topicId: Uuid, changes: ReadonlyMap<string, string | null>): void {
    const isStopped = this.#witness.isStopped(topicId)
    this.#witness.demand(!isStopped, () => `configs of ${this.topics.get(topicId)?.name} are synced after its stop`)
    super.alterConfigs(topicId, changes)
  }

  hasAcl(acl: AclBinding): boolean {
    return this.#aclsByText().has(aclText(acl))
  }

  /** What people of this cluster do with its ACLs. */
  changeAclsAsOperator(change: (acls: readonly AclBinding[]) => AclBinding[]): void {
    this.#isOperator = true
    this.changeAcls(change)
    this.#isOperator = false
  }

  /** Is it nobody's, or of people of this cluster, rather than a link's? */
  isForeignAcl(acl: AclBinding): boolean {
    return this.#operatorAcls.has(aclText(acl)) || this.#witness.leftAcls.has(aclText(acl))
  }

  override changeAcls(change: (acls: readonly AclBinding[]) => AclBinding[]): void {
    const before = this.#aclsByText()
    super.changeAcls(acls => [...new Map(change(acls).map(acl => [aclText(acl), acl])).values()])
    const after = this.#aclsByText()
    for (const [text, acl] of before) {
      if (after.has(text)) continue
      this.#witness.demand(
        this.#isOperator || !this.#foreignAcls.has(text),
        () => `an ACL of ${acl.principal} that others created is deleted by a link`,
      )
      this.#foreignAcls.delete(text)
      this.#witness.demand(
        this.#isOperator || this.#witness.ownersSince(text, this.#witness.nowMs - raceMs) < 2,
        () => `an ACL of ${acl.principal} that two links own is deleted by one of them`,
      )
    }
    for (const [text, acl] of after) {
      if (before.has(text)) continue
      this.#witness.leftAcls.delete(text)
      if (this.#isOperator) this.#operatorAcls.add(text)
      else this.#operatorAcls.delete(text)
      // One that a link is about to create is the link's all the same: nobody can tell who was first.
      if (this.#isOperator && !this.#isOwned(acl)) this.#foreignAcls.set(text, this.#witness.nowMs)
    }
  }

  #isOwned(acl: AclBinding): boolean {
    const { durable } = this.#witness
    return [...durable.links()].some(({ linkId }) =>
      durable.ownedAcls(linkId).some(owned => aclText(owned) === aclText(acl)),
    )
  }

  #bounds(): LogBounds {
    return new Map(
      [...this.topics.values()].flatMap(({ name: topic, logs }) =>
        logs.map(({ logStartOffset: from, logEndOffset: to }, partition) => [
          placeText({ topic, partition }),
          { from, to },
        ]),
      ),
    )
  }

  #aclsByText(): Map<string, AclBinding> {
    return new Map(this.acls.kind === 'acls' ? this.acls.acls.map(acl => [aclText(acl), acl]) : [])
  }

  override destination(process: CrashingProcess): Destination {
    const inner = super.destination(process)
    const groupOffsets = async (groupId: string) => {
      const found = await inner.groupOffsets(groupId)
      if (found.kind === 'offsets')
        this.#seen.set(groupId, {
          bounds: this.#bounds(),
        })
      return found
    }
    return Object.assign(Object.create(inner) as Destination, { groupOffsets })
  }

  #judgeOffset(groupId: string, written: GroupOffset, before: number | undefined): void {
    const place = placeText(written)
    const { durable } = this.#witness
    const demand = (condition: boolean, message: () => string) => this.#witness.demand(condition, message)
    const what = () => `group ${groupId} in ${place}: ${written.offset}`
    const topic = this.topicNamed(written.topic)
    if (!topic) {
      // Gone in the moment between; a coordinator would have refused it.
      this.groups.get(groupId)?.offsets.delete(place)
      return
    }
    demand(groupId !== excludedGroup, () => `${what()} is written, which no filter includes`)
    demand(!this.#witness.isStopped(topic.topicId), () => `${what()} is written after the stop of the topic`)
    // The log may move between the look at it and the write; the next round follows.
    const bounds = [this.#bounds(), this.#seen.get(groupId)?.bounds].map(all => all?.get(place))
    demand(
      bounds.some(log => log && written.offset >= log.from && written.offset <= log.to),
      () => `${what()} is written, the mirror has ${bounds[0]?.from} to ${bounds[0]?.to}`,
    )
    const records = [...durable.links()].flatMap(({ linkId }) => durable.groupOffsets(linkId, groupId))
    const own = records.filter(record => placeText(record) === place)
    demand(
      own.some(({ offset }) => offset === written.offset),
      () => `${what()} is written before it is durable that the link writes it`,
    )
    // A value that a link meant to write is its own, whoever wrote it again; one that it could not have seen is no fault of it.
    const isOwnValue = this.#witness.recentlyMeant(groupId, place).includes(before ?? -1)
    const client = this.#byClients.get(`${groupId} ${place}`)
    const wasSeen = client !== undefined && this.#witness.nowMs - client.sinceMs > raceMs
    demand(
      this.#byClients.get(`${groupId} ${place}`)?.adopted !== 'no' ||
        isOwnValue ||
        !wasSeen ||
        before === written.offset,
      () => `${what()} overwrites ${before}, which a client committed`,
    )
    if (before !== written.offset) this.#byClients.delete(`${groupId} ${place}`)
  }
}
