/** The destination cluster in memory: topics, logs, producer ids and the state topic outlive the processes that use them. */

import { randomUuid, type Uuid } from '../../core/uuid.ts'
import { aclText } from '../acls/acl-names.ts'
import {
  type AclBinding,
  type AclRefusal,
  type ClusterAcls,
  type CreateTopicResult,
  type Destination,
  type DestinationTopic,
  type DestinationTopicConfig,
  type GroupCommit,
  type GroupOffset,
  type MirrorLog,
  NotLinkCoordinator,
  type StateLog,
  type StateRecord,
} from '../ports.ts'
import type { CrashingProcess } from './crashing-process.ts'
import { FakeFence } from './fake-fence.ts'
import { type FakeGroups, fakeShareGroups, readOffsets, writeOffsets } from './fake-groups.ts'
import { FakeMirrorLog, FakePartition } from './fake-mirror-log.ts'

interface FakeTopic extends DestinationTopic {
  partitions: number
  configs: ReadonlyMap<string, string>
  readonly logs: FakePartition[]
}

export class FakeCluster {
  readonly clusterId: string
  readonly topics = new Map<Uuid, FakeTopic>()
  readonly fence = new FakeFence(this.topics)
  /** Principals of which ACLs are neither created nor deleted, and of whom it was tried. */
  readonly refusedAcls = new Set<string>()
  /** Names of topics that a policy forbids. */
  readonly refusedTopics = new Set<string>()
  readonly triedAcls: string[] = []
  /** Of logs that are made from now on. */
  stampsEpochs = false
  /** Names of topics whose logs cannot be looked at now. */
  readonly unreachable = new Set<string>()
  acls: ClusterAcls = { kind: 'acls', acls: [] }
  /** Groups of this cluster: offsets by topic/partition, and whether members hold the group. */
  readonly groups: FakeGroups = new Map()
  readonly shareGroups: FakeGroups = new Map()
  readonly stateRecords: StateRecord[] = []
  /** What this cluster publishes. */
  readonly statusRecords: StateRecord[] = []
  /** Every producer id handed out later is above. */
  producerIdFloor = -1n
  /** Of producers that go on here, which only the barrier finds out. */
  livingProducerIds: readonly bigint[] = []
  readonly defaultConfigs = new Map<string, string | null>([
    ['max.message.bytes', '1048588'],
    ['cleanup.policy', 'delete'],
    ['message.timestamp.type', 'CreateTime'],
    ['retention.ms', '604800000'],
    ['retention.bytes', '-1'],
  ])
  /** What the coordinators of this cluster do with open transactions in a topic; by default they know of none. */
  coordinator: (topic: string) => { readonly aborted: number; readonly ending: number } = () => ({
    aborted: 0,
    ending: 0,
  })
  readonly #listeners = new Set<() => void>()

  constructor(clusterId = 'destination-cluster') {
    this.clusterId = clusterId
  }

  topicNamed(name: string): FakeTopic | undefined {
    return this.topics.values().find(topic => topic.name === name)
  }

  /** Somebody creates a topic. */
  addTopic(name: string, partitions: number, configs: ReadonlyMap<string, string> = new Map()): FakeTopic {
    const logs = Array.from({ length: partitions }, () => this.#newPartition())
    const topic = { name, topicId: randomUuid(), partitions, configs, logs }
    this.topics.set(topic.topicId, topic)
    this.#changed()
    return topic
  }

  #newPartition(): FakePartition {
    const partition = new FakePartition()
    partition.stampsEpochs = this.stampsEpochs
    return partition
  }

  growTopic(topicId: Uuid, count: number): void {
    const topic = this.topics.get(topicId)
    if (!topic) throw new Error(`topic ${topicId} does not exist`)
    while (topic.logs.length < count) topic.logs.push(this.#newPartition())
    topic.partitions = topic.logs.length
    this.#changed()
  }

  changeAcls(change: (acls: readonly AclBinding[]) => AclBinding[]): void {
    if (this.acls.kind === 'acls') this.acls = { kind: 'acls', acls: change(this.acls.acls) }
  }

  /** Those that are refused stay as they are. */
  #tryAcls(acls: readonly AclBinding[], change: (acl: AclBinding) => void): AclRefusal[] {
    return acls.flatMap(acl => {
      this.triedAcls.push(acl.principal)
      if (this.refusedAcls.has(acl.principal)) return [{ acl, message: `no ACL of ${acl.principal}` }]
      change(acl)
      return []
    })
  }

  alterConfigs(topicId: Uuid, changes: ReadonlyMap<string, string | null>): void {
    const topic = this.topics.get(topicId)
    if (!topic) throw new Error(`topic ${topicId} does not exist`)
    const configs = new Map(topic.configs)
    for (const [key, value] of changes) {
      if (value === null) configs.delete(key)
      else configs.set(key, value)
    }
    topic.configs = configs
  }

  /** Somebody commits who is no member. */
  commit(groupId: string, offsets: readonly GroupOffset[]): GroupCommit {
    return writeOffsets(this.groups, groupId, offsets)
  }

  /** Somebody deletes a topic. */
  deleteTopic(name: string): void {
    const topic = this.topicNamed(name)
    if (topic) this.topics.delete(topic.topicId)
    this.#changed()
  }

  /** The machine was switched off: what was not flushed is gone. */
  loseUnflushed(): void {
    for (const topic of this.topics.values()) for (const log of topic.logs) log.loseUnflushed()
    this.#listeners.clear()
    this.fence.forget()
  }

  destination(process: CrashingProcess): Destination {
    const cluster = this
    return {
      clusterId: this.clusterId,
      topic: name => this.topicNamed(name),
      topicById: topicId => this.topics.get(topicId),
      defaultTopicConfig: key => this.defaultConfigs.get(key),
      topicConfig: (topicId, key) => this.#topicConfig(topicId, key),
      alterTopicConfigs: (topicId, changes) =>
        process.effect('alter topic configs', () => this.alterConfigs(topicId, changes)),
      createTopic: (request, options) => this.#createTopic(process, request, options),
      createPartitions: async (topicId, count) => {
        await process.effect('create partitions', () => this.growTopic(topicId, count))
      },
      onTopicsChanged: listener => {
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
      },
      leads: () => true,
      openLedLog: (topicId, partition) => this.#openLog(process, topicId, partition),
      openMirrorLog: async (topicId, partition) => {
        const name = this.topics.get(topicId)?.name ?? ''
        if (this.unreachable.has(name)) throw new Error(`the node that leads ${name}-${partition} does not answer`)
        return await this.#openLog(process, topicId, partition)
      },
      openEndingLog: (topicId, partition) => this.#openLog(process, topicId, partition),
      acls: () => this.acls,
      createAcls: acls =>
        process.effect('create ACLs', () =>
          this.#tryAcls(acls, created => this.changeAcls(present => [...present, created])),
        ),
      deleteAcls: acls =>
        process.effect('delete ACLs', () =>
          this.#tryAcls(acls, gone =>
            this.changeAcls(present => present.filter(acl => aclText(acl) !== aclText(gone))),
          ),
        ),
      hasLogin: user => user === 'known',
      abortTransactions: topic => process.effect('abort transactions', () => this.coordinator(topic)),
      groupOffsetRetentionMs: 10 * 60_000,
      shareGroups: fakeShareGroups(this.shareGroups, process),
      groupIds: async () => [...this.groups.keys()],
      groupOffsets: async groupId => readOffsets(this.groups, groupId),
      commitGroupOffsets: (groupId, offsets) =>
        process.effect('commit group offsets', () => this.commit(groupId, offsets)),
      get producerIdEnd() {
        return cluster.producerIdFloor + 1n
      },
      raiseProducerIds: (producerId, mirrored) =>
        process.effect('raise producer ids', () => {
          if (producerId > this.producerIdFloor) this.producerIdFloor = producerId
          return this.livingProducerIds.filter(id => mirrored.has(id)).map(id => `producer ${id} goes on`)
        }),
      fence: this.fence.of(process),
    }
  }

  stateLog(process: CrashingProcess): StateLog {
    return this.#log(process, { name: 'state', records: this.stateRecords })
  }

  statusLog(process: CrashingProcess): StateLog {
    return this.#log(process, { name: 'status', records: this.statusRecords })
  }

  #log(process: CrashingProcess, { name, records: kept }: { name: string; records: StateRecord[] }): StateLog {
    let replay: ((records: readonly StateRecord[]) => void) | undefined
    let known = 0
    return {
      open: async onRecords => {
        replay = onRecords
        known = kept.length
        if (known > 0) onRecords([...kept])
      },
      append: records =>
        process.effect(`append ${name}`, () => {
          if (known !== kept.length) throw new NotLinkCoordinator('another process wrote it')
          kept.push(...records)
          known = kept.length
          replay?.(records)
        }),
      close: async () => {},
    }
  }

  #topicConfig(topicId: Uuid, key: string): DestinationTopicConfig | undefined {
    const topic = this.topics.get(topicId)
    const inherited = this.defaultConfigs.get(key)
    if (!topic || inherited === undefined) return undefined
    const override = topic.configs.get(key)
    return { value: override ?? inherited, overridden: override !== undefined, inherited }
  }

  async #createTopic(
    process: CrashingProcess,
    request: Parameters<Destination['createTopic']>[0],
    { validateOnly }: { validateOnly: boolean },
  ): Promise<CreateTopicResult> {
    const { name, partitions, configs } = request
    if (this.topicNamed(name)) return { ok: false, reason: 'exists', message: 'it exists' }
    if (this.refusedTopics.has(name)) return { ok: false, reason: 'invalid', message: 'a policy forbids it' }
    if (partitions < 1) return { ok: false, reason: 'invalid', message: 'no partitions' }
    if (validateOnly) return { ok: true, topic: { name, topicId: randomUuid(), partitions } }
    const topic = await process.effect('create topic', () =>
      this.addTopic(name, partitions, this.fence.configsOf(configs)),
    )
    return { ok: true, topic }
  }

  async #openLog(process: CrashingProcess, topicId: Uuid, partition: number): Promise<MirrorLog> {
    const log = this.topics.get(topicId)?.logs[partition]
    if (!log) throw new Error(`partition ${partition} of ${topicId} is not open here`)
    return new FakeMirrorLog(log, process)
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}
