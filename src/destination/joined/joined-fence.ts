/**
 * The WriteFence of a node among Java brokers: they would let clients write what they come to lead, so topic configs and ACLs keep
 * clients out, dead or alive. To be subscribed to the controller; the joined destination owns it.
 */
import type { Uuid } from '../../core/uuid.ts'
import type { ReleaseOutlook, ReleaseRequest, WriteFence } from '../../link/ports.ts'
import type { AclEntry } from '../../metadata/acl.ts'
import type { ConfigOperation, Controller, ImageSubscriber } from '../../metadata/controller-port.ts'
import { isLockstepNode } from '../../metadata/lockstep-nodes.ts'
import type { MetadataDelta } from '../../metadata/metadata-delta.ts'
import {
  ConfigResourceType,
  configOverrides,
  type MetadataImage,
  type TopicImage,
} from '../../metadata/metadata-image.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import {
  type ClusterSecurity,
  denyWrite,
  fenceAclsOf,
  fenceConfigs,
  missingAcls,
  missingConfigs,
} from './fence-values.ts'
import { isTakenAway } from './release-plan.ts'
import { TopicEnclosure, type TopicEnclosureOptions } from './topic-enclosure.ts'
import { TopicRelease, type TopicReleaseOptions } from './topic-release.ts'

export interface JoinedFenceOptions extends TopicReleaseOptions {
  readonly controller: TopicEnclosureOptions['controller'] & Pick<Controller, 'acls' | 'incrementalAlterConfigs'>
  readonly questions: TopicReleaseOptions['questions'] & TopicEnclosureOptions['questions']
  /** Undefined = the cluster has no authorizer. */
  readonly security: ClusterSecurity | undefined
}

type Listener = (topicIds: readonly Uuid[]) => void

export class JoinedFence implements WriteFence, ImageSubscriber {
  readonly name = 'write fence'
  readonly hasOtherLeaders = true
  readonly parkedConfigs: ReadonlySet<string> = new Set(fenceConfigs.keys())
  readonly #o: JoinedFenceOptions
  readonly #release: TopicRelease
  readonly #enclosure: TopicEnclosure
  readonly #listeners = new Set<Listener>()

  constructor(options: JoinedFenceOptions) {
    this.#o = options
    this.#release = new TopicRelease(options)
    this.#enclosure = new TopicEnclosure(options)
  }

  /** What a mirror that is meant to have these configs is created with. */
  configsOf(meant: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
    return new Map([...meant, ...fenceConfigs])
  }

  /** The ACLs of a topic that is about to be created: it is never open, not for a moment. */
  async guard(topic: string): Promise<void> {
    await this.#createAcls(missingAcls(this.#o.controller.image, topic, this.#o.security))
  }

  /** The topic was not created after all. */
  async unguard(topic: string): Promise<void> {
    await this.#deleteAcls(topic)
  }

  async restore(topicId: Uuid): Promise<readonly string[]> {
    const { controller, security } = this.#o
    const topic = controller.image.topics.get(topicId)
    if (!topic) return []
    const configs = missingConfigs(controller.image, topic.name)
    const acls = missingAcls(controller.image, topic.name, security)
    if (configs.size > 0) await this.#setConfigs(topic, configs)
    await this.#createAcls(acls)
    return [...configs.keys(), ...acls.map(textOf)]
  }

  stage(topicId: Uuid): Promise<string | undefined> {
    return this.#enclosure.stage(topicId)
  }

  async unstage({ topicId, plan }: Pick<ReleaseRequest, 'topicId' | 'plan'>): Promise<void> {
    const request = { topicId, plan, verb: 'failover', endOffsets: [], configs: new Map() } as const
    await this.#release.handOver(request)
    await this.#release.grow(request)
  }

  async shut(topicId: Uuid): Promise<void> {
    await this.restore(topicId)
    await this.#enclosure.shut(topicId)
  }

  /** The fence first: whoever leads the topic until this node does must let nobody write. */
  async enclose(topicId: Uuid): Promise<void> {
    await this.restore(topicId)
    await this.#enclosure.lead(topicId)
  }

  async forget(topic: string): Promise<void> {
    if (!this.#o.controller.image.topicIds.has(topic)) await this.#deleteAcls(topic)
  }

  onDisturbed(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  onImage(image: MetadataImage, delta: MetadataDelta): void {
    if (this.#listeners.size === 0) return
    const touched = new Set(delta.changedTopics.keys())
    for (const { type, name } of delta.changedConfigs) {
      const topicId = type === ConfigResourceType.TOPIC ? image.topicIds.get(name) : undefined
      if (topicId !== undefined) touched.add(topicId)
    }
    if (delta.aclsChanged && this.#o.security)
      for (const topic of image.topics.values()) if (isNearUs(image, topic)) touched.add(topic.id)
    if (touched.size > 0) for (const listener of this.#listeners) listener([...touched])
  }

  isTakenAway(topicId: Uuid, partition: number): boolean {
    const { image } = this.#o.controller
    return isTakenAway(image, image.topics.get(topicId)?.partitions[partition])
  }

  outlook(topicId: Uuid, verb: ReleaseRequest['verb']): Promise<ReleaseOutlook> {
    return this.#release.outlook(topicId, verb)
  }

  plan(topicId: Uuid): string {
    return this.#release.plan(topicId)
  }

  handBack(topicId: Uuid, partition: number): Promise<void> {
    return this.#release.handBack(topicId, partition)
  }

  /** The fence comes off when no Lockstep node is a replica any more, and before others are asked to become some: they may be dead. */
  async release(request: ReleaseRequest): Promise<readonly string[]> {
    const warnings = await this.#release.handOver(request)
    const topic = this.#o.controller.image.topics.get(request.topicId)
    if (!topic) return warnings
    await this.#takeOff(topic, request.configs)
    await this.#release.grow(request)
    return warnings
  }

  async #takeOff(topic: TopicImage, meant: ReadonlyMap<string, string>): Promise<void> {
    const overrides = configOverrides(this.#o.controller.image, { type: ConfigResourceType.TOPIC, name: topic.name })
    const changes = new Map(
      [...fenceConfigs.keys()].flatMap(key => {
        const value = meant.get(key)
        return overrides.get(key) === value ? [] : [[key, value ?? null]]
      }),
    )
    if (changes.size > 0) await this.#setConfigs(topic, changes)
    await this.#deleteAcls(topic.name)
  }

  /** Set, or with null removed. */
  async #setConfigs({ name }: TopicImage, values: ReadonlyMap<string, string | null>): Promise<void> {
    const changes = [...values].map(([key, value]) => {
      const operation: ConfigOperation = value === null ? 'delete' : 'set'
      return { key, operation, value }
    })
    const alteration = { resource: { type: ConfigResourceType.TOPIC, name }, changes }
    const [altered] = await this.#o.controller.incrementalAlterConfigs([alteration], { validateOnly: false })
    const { errorCode, errorMessage } = altered ?? { errorCode: ErrorCode.UNKNOWN_SERVER_ERROR, errorMessage: null }
    if (errorCode !== ErrorCode.NONE)
      throw new Error(`${[...values.keys()].join(', ')} could not be set: ${errorMessage ?? errorName(errorCode)}`)
  }

  /** One after the other: what opens comes before what closes. */
  async #createAcls(acls: readonly AclEntry[]): Promise<void> {
    for (const acl of acls) {
      const [created] = await this.#o.controller.acls.createAcls([acl])
      const errorCode = created?.errorCode ?? ErrorCode.UNKNOWN_SERVER_ERROR
      if (errorCode !== ErrorCode.NONE)
        throw new Error(`${textOf(acl)} could not be created: ${created?.errorMessage ?? errorName(errorCode)}`)
    }
  }

  async #deleteAcls(topic: string): Promise<void> {
    const { controller, security } = this.#o
    for (const acl of fenceAclsOf(controller.image, topic, security)) {
      const [deleted] = await controller.acls.deleteAcls([acl])
      const errorCode = deleted?.errorCode ?? ErrorCode.UNKNOWN_SERVER_ERROR
      if (errorCode !== ErrorCode.NONE)
        throw new Error(`${textOf(acl)} could not be deleted: ${deleted?.errorMessage ?? errorName(errorCode)}`)
    }
  }
}

const textOf = (acl: AclEntry): string =>
  acl.permissionType === denyWrite('').permissionType ? 'the ACL that denies WRITE' : 'the ACL that allows the rest'

/** Some replica is at a Lockstep node. */
const isNearUs = (image: MetadataImage, topic: TopicImage): boolean =>
  topic.partitions.some(({ replicas }) => replicas.some(id => isLockstepNode(image, id)))
