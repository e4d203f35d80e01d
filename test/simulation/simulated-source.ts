/** The simulated source as one process of ours sees it: questions and fetches that take time and may get no answer. */
import { sleep } from '../../src/core/clock.ts'
import {
  type SourceCluster,
  type SourceClusterFactory,
  SourceError,
  type SourceSurvey,
  type SourceTopic,
  type SourceTopicConfig,
} from '../../src/link/ports.ts'
import { type NetworkFaults, SimulatedFetch } from './simulated-fetch.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { SourceLog } from './source-log.ts'
import type { SourceModel, SourceTopicModel } from './source-model.ts'

export interface SourceParts {
  readonly model: SourceModel
  readonly process: SimulatedProcess
  readonly faults: NetworkFaults
}

/** `modelAt`: the cluster at an address. */
export const simulatedSources = (
  parts: Omit<SourceParts, 'model'>,
  modelAt: (address: string) => SourceModel,
): SourceClusterFactory => ({
  open: ({ bootstrapServers }) => new SimulatedSourceCluster({ ...parts, model: modelAt(bootstrapServers[0] ?? '') }),
})

/** Effective values: overrides over what this cluster has for every topic. */
export const sourceDefaults: ReadonlyMap<string, string> = new Map([
  ['max.message.bytes', '2000000'],
  ['cleanup.policy', 'delete'],
  ['retention.ms', '604800000'],
])

const configsOf = ({ configs }: SourceTopicModel): Map<string, SourceTopicConfig> =>
  new Map(
    [...sourceDefaults].map(([key, value]) => [
      key,
      { value: configs.get(key) ?? value, overridden: configs.has(key) },
    ]),
  )

class SimulatedSourceCluster implements SourceCluster {
  readonly #parts: SourceParts
  readonly #fetches = new Map<string, SimulatedFetch>()
  #closed = false

  constructor(parts: SourceParts) {
    this.#parts = parts
  }

  async describeCluster(signal?: AbortSignal) {
    await this.#ask(signal)
    return { clusterId: this.#parts.model.clusterId, brokers: [] }
  }

  async probe(_topics: readonly string[], signal?: AbortSignal) {
    return { clusterId: (await this.describeCluster(signal)).clusterId, unreachable: undefined }
  }

  async survey(signal?: AbortSignal): Promise<SourceSurvey> {
    const address = 'source:9092'
    try {
      const { clusterId } = await this.describeCluster(signal)
      const { topics: all, forbidden } = this.#parts.model
      const names = [...all.keys()].filter(name => !forbidden.has(name))
      const topics = { names, unreadable: [], configsError: undefined }
      const bootstrap = [{ address, error: undefined }]
      return { bootstrap, clusterId, missingApis: [], brokers: [{ id: 1, address, error: undefined }], topics }
    } catch (error) {
      if (!(error instanceof SourceError)) throw error
      return { bootstrap: [{ address, error }], clusterId: undefined, missingApis: [], brokers: [], topics: undefined }
    }
  }

  async describeTopics(names: readonly string[] | 'all', signal?: AbortSignal): Promise<SourceTopic[]> {
    const { topics, forbidden } = this.#parts.model
    await this.#ask(signal)
    const wanted = names === 'all' ? [...topics.keys()].filter(name => !forbidden.has(name)) : names
    return wanted.flatMap(name => {
      if (forbidden.has(name)) throw new SourceError('authorization', `the link may not describe ${name}`)
      const topic = topics.get(name)
      if (!topic) return []
      const partitions = topic.partitions.map(({ leaderEpoch }, partition) => ({ partition, leader: 1, leaderEpoch }))
      return [{ name, topicId: topic.topicId, internal: false, partitions }]
    })
  }

  async describeTopicConfigs(names: readonly string[], signal?: AbortSignal) {
    await this.#ask(signal)
    const { topics } = this.#parts.model
    return new Map(
      names.flatMap(name => {
        const topic = topics.get(name)
        return topic ? [[name, configsOf(topic)] as const] : []
      }),
    )
  }

  async openTransactions() {
    return []
  }

  async describeAcls(signal?: AbortSignal) {
    await this.#ask(signal)
    return { kind: 'acls', acls: this.#parts.model.acls } as const
  }

  async listGroups(signal?: AbortSignal) {
    await this.#ask(signal)
    return [...this.#parts.model.groups.keys()].map(groupId => ({ groupId, protocolType: 'consumer', type: 'classic' }))
  }

  async shareGroupOffsets(): Promise<undefined> {}

  async groupOffsets(groupIds: readonly string[], signal?: AbortSignal) {
    await this.#ask(signal)
    const { groups } = this.#parts.model
    const offsets = new Map(groupIds.map(groupId => [groupId, [...(groups.get(groupId)?.values() ?? [])]]))
    return { offsets, failures: new Map<string, SourceError>() }
  }

  async listOffsets(topic: string, partitions: readonly number[], query: Parameters<SourceCluster['listOffsets']>[2]) {
    await this.#ask(query.signal)
    return new Map(
      partitions.map(partition => {
        const log = this.#log(topic, partition)
        if (query.spec === 'earliest') return [partition, log.logStartOffset]
        return [partition, query.isolation === 'read_committed' ? log.lastStableOffset : log.highWatermark]
      }),
    )
  }

  async readBatches(topic: string, partition: number, range: Parameters<SourceCluster['readBatches']>[2]) {
    await this.#ask(range.signal)
    const log = this.#log(topic, partition)
    if (range.offset < log.logStartOffset || range.offset > log.logEndOffset)
      throw new SourceError('protocol', `offset ${range.offset} is out of range`)
    return log.read(range.offset, Math.ceil(range.maxBytes / 20_000))
  }

  async endOfEpoch(topic: string, partition: number, question: Parameters<SourceCluster['endOfEpoch']>[2]) {
    await this.#ask(question.signal)
    return this.#log(topic, partition).endOfEpoch(question.epoch)
  }

  readonly fetcher = {
    start: (topic: string, partition: number, sink: ConstructorParameters<typeof SimulatedFetch>[0]['sink']) => {
      const key = `${topic}-${partition}`
      if (this.#closed || this.#fetches.has(key)) return
      const fetch = new SimulatedFetch({ topic, partition, sink }, this.#parts)
      this.#fetches.set(key, fetch)
      void fetch.ended.then(() => {
        if (this.#fetches.get(key) === fetch) this.#fetches.delete(key)
      })
    },
    stop: async (topic: string, partition: number) => {
      await this.#fetches.get(`${topic}-${partition}`)?.stop()
    },
    limitRate: () => {},
    heldBackMs: 0,
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#fetches.values()].map(fetch => fetch.stop()))
  }

  /** A question and its answer on their way. The state of the source is that of the moment between the two. */
  async #ask(signal: AbortSignal | undefined): Promise<void> {
    const { process, faults, model } = this.#parts
    await sleep(process.clock, Math.round(process.random() ** 3 * faults.latencyMsMax), signal)
    if (signal?.aborted || this.#closed) throw new SourceError('retriable', 'given up')
    if (model.outage) throw new SourceError(model.outage, 'simulated: nobody answers')
    if (process.random() < faults.lostAnswerRate) throw new SourceError('timeout', 'simulated: the answer was lost')
  }

  #log(topic: string, partition: number): SourceLog {
    const found = this.#parts.model.topics.get(topic)?.partitions[partition]
    if (!found) throw new SourceError('unknown-topic', `the source has no partition ${topic}-${partition}`)
    return found
  }
}
