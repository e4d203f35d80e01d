/** A small cluster in memory behind real listeners: tests of source/ script its leaders, logs and errors. */
import { type Clock, systemClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import type { IncomingRequest, RequestHandler } from '../../network/request-handler.ts'
import { type KafkaServer, listen } from '../../network/server-listener.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { ListOffsetsRequest, ListOffsetsResponse } from '../../protocol/messages/02-list-offsets.ts'
import { MetadataRequest, MetadataResponse } from '../../protocol/messages/03-metadata.ts'
import { ApiVersionsResponse } from '../../protocol/messages/18-api-versions.ts'
import {
  OffsetForLeaderEpochRequest,
  OffsetForLeaderEpochResponse,
} from '../../protocol/messages/23-offset-for-leader-epoch.ts'
import { DescribeConfigsRequest, DescribeConfigsResponse } from '../../protocol/messages/32-describe-configs.ts'
import { DescribeClusterResponse } from '../../protocol/messages/60-describe-cluster.ts'
import { answerFetch, type FakePartition, type FakeTopic, type FetchableCluster, type FetchHook } from './fake-fetch.ts'
import { FakeSessions } from './fake-sessions.ts'

export interface FakeBroker {
  readonly id: number
  readonly server: KafkaServer
  /** What Metadata says about it. */
  advertised: { host: string; port: number }
}

const API_RANGES: readonly (readonly [number, number, number])[] = [
  [1, 4, 18],
  [2, 1, 11],
  [3, 0, 13],
  [18, 0, 4],
  [23, 2, 4],
  [32, 1, 4],
  [60, 0, 2],
]

export class FakeKafka implements FetchableCluster {
  clusterId = 'fake-cluster'
  readonly topics = new Map<string, FakeTopic>()
  readonly brokers = new Map<number, FakeBroker>()
  readonly clock: Clock
  /** Requests by api name, as they came: `Fetch@1` is a Fetch at broker 1. */
  readonly requests: string[] = []
  /** Apis left out of ApiVersions. */
  readonly missingApis = new Set<number>()
  fetchVersionMax = 18
  onFetch: FetchHook | undefined
  readonly sessions = new FakeSessions()
  /** Above 0: Fetch answers are empty and throttled by this, as under a quota. */
  throttleEmptyMs = 0
  #appended: (() => void)[] = []

  constructor(clock: Clock) {
    this.clock = clock
  }

  async addBroker(id: number, port = 0): Promise<FakeBroker> {
    const server = await listen({
      host: '127.0.0.1',
      port,
      name: 'PLAINTEXT',
      maxRequestBytes: 1 << 20,
      idleTimeoutMs: 1e9,
      served: new Map(API_RANGES.map(([key, min, max]) => [key, { min, max }])),
      handler: this.#handlerOf(id),
      // Closing must not wait for the test's clock.
      clock: systemClock,
      logger: silentLogger,
    })
    const broker = { id, server, advertised: { host: '127.0.0.1', port: server.port } }
    this.brokers.set(id, broker)
    return broker
  }

  addTopic(name: string, leaders: readonly number[], topicId = `${name.padEnd(21, '_')}A` as Uuid): FakeTopic {
    const partitions = leaders.map(leader => ({ leader, leaderEpoch: 1, logStart: 0, end: 0, epochEnds: new Map() }))
    const topic: FakeTopic = { topicId, errorCode: 0, partitions, configs: [] }
    this.topics.set(name, topic)
    return topic
  }

  /** Appends entries and wakes long polls. */
  append(topic: string, partition: number, count: number): void {
    const found = this.topics.get(topic)?.partitions[partition]
    if (found) found.end += count
    this.wake()
  }

  wake(): void {
    const waiting = this.#appended
    this.#appended = []
    for (const resolve of waiting) resolve()
  }

  /** Resolves at the next append. */
  appended(): Promise<void> {
    return new Promise(resolve => this.#appended.push(resolve))
  }

  async stopBroker(id: number): Promise<void> {
    const broker = this.brokers.get(id)
    this.brokers.delete(id)
    const closing = broker?.server.close(1)
    this.wake()
    await closing
  }

  async close(): Promise<void> {
    await Promise.all([...this.brokers.keys()].map(id => this.stopBroker(id)))
  }

  #handlerOf(brokerId: number): RequestHandler {
    return async (request, client) => {
      const { apiKey, apiVersion, body } = request
      switch (apiKey) {
        case 18:
          return [this.#apiVersions(apiVersion)]
        case 3:
          return this.#log('Metadata', brokerId, this.#metadata(apiVersion, body))
        case 60:
          return this.#log('DescribeCluster', brokerId, this.#cluster(apiVersion))
        case 2:
          return this.#log('ListOffsets', brokerId, this.#offsets(request, brokerId))
        case 23:
          return this.#log('OffsetForLeaderEpoch', brokerId, this.#epochEnds(request, brokerId))
        case 32:
          return this.#log('DescribeConfigs', brokerId, this.#configs(apiVersion, body))
        default:
          this.requests.push(`Fetch@${brokerId}`)
          return await answerFetch(this, { brokerId, request, signal: client.signal })
      }
    }
  }

  #log(api: string, brokerId: number, answer: Buffer): Buffer[] {
    this.requests.push(`${api}@${brokerId}`)
    return [answer]
  }

  #apiVersions(version: number): Buffer {
    const apiKeys = API_RANGES.filter(([key]) => !this.missingApis.has(key)).map(([apiKey, minVersion, max]) => ({
      apiKey,
      minVersion,
      maxVersion: apiKey === 1 ? this.fetchVersionMax : max,
    }))
    return ApiVersionsResponse.encode({ errorCode: 0, throttleTimeMs: 0, apiKeys }, version)
  }

  #metadata(version: number, body: Buffer): Buffer {
    const asked = MetadataRequest.decode(body, version).topics
    const names = asked?.map(topic => topic.name ?? '') ?? [...this.topics.keys()]
    const topics = names.map(name => {
      const topic = this.topics.get(name)
      const partitions = (topic?.errorCode === 0 ? topic.partitions : []).map((partition, partitionIndex) => ({
        partitionIndex,
        errorCode: 0,
        leaderId: partition.leader,
        leaderEpoch: partition.leaderEpoch,
        replicaNodes: [],
        isrNodes: [],
        offlineReplicas: [],
      }))
      const errorCode = topic?.errorCode ?? ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
      return { errorCode, name, topicId: topic?.topicId ?? ZERO_UUID, isInternal: false, partitions }
    })
    const brokers = [...this.brokers.values()].map(({ id, advertised }) => ({ nodeId: id, ...advertised, rack: null }))
    return MetadataResponse.encode(
      { throttleTimeMs: 0, errorCode: 0, clusterId: this.clusterId, brokers, topics },
      version,
    )
  }

  #cluster(version: number): Buffer {
    const brokers = [...this.brokers.values()].map(({ id, advertised }) => ({
      brokerId: id,
      ...advertised,
      rack: 'r',
      isFenced: false,
    }))
    return DescribeClusterResponse.encode(
      { throttleTimeMs: 0, errorCode: 0, clusterId: this.clusterId, brokers },
      version,
    )
  }

  /** The partition, or the error of asking this broker for it. */
  partition(topic: string | undefined, index: number, brokerId: number): FakePartition | number {
    const found = topic === undefined ? undefined : this.topics.get(topic)?.partitions[index]
    if (!found) return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return found.leader === brokerId ? found : ErrorCode.NOT_LEADER_OR_FOLLOWER
  }

  #offsets({ apiVersion, body }: IncomingRequest, brokerId: number): Buffer {
    const topics = ListOffsetsRequest.decode(body, apiVersion).topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map(({ partitionIndex, timestamp }) => {
        const found = this.partition(name, partitionIndex, brokerId)
        if (typeof found === 'number') return { partitionIndex, errorCode: found }
        // Timestamps of entries are their offsets.
        const past = timestamp >= found.end ? -1n : timestamp
        const offset = timestamp === -2n ? BigInt(found.logStart) : timestamp === -1n ? BigInt(found.end) : past
        return { partitionIndex, errorCode: 0, offset }
      }),
    }))
    return ListOffsetsResponse.encode({ throttleTimeMs: 0, topics }, apiVersion)
  }

  #epochEnds({ apiVersion, body }: IncomingRequest, brokerId: number): Buffer {
    const topics = OffsetForLeaderEpochRequest.decode(body, apiVersion).topics.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map(({ partition, leaderEpoch }) => {
        const found = this.partition(topic, partition, brokerId)
        if (typeof found === 'number') return { partition, errorCode: found }
        const end = found.epochEnds.get(leaderEpoch) ?? { epoch: -1, endOffset: -1 }
        return { partition, errorCode: 0, leaderEpoch: end.epoch, endOffset: BigInt(end.endOffset) }
      }),
    }))
    return OffsetForLeaderEpochResponse.encode({ throttleTimeMs: 0, topics }, apiVersion)
  }

  #configs(version: number, body: Buffer): Buffer {
    const results = DescribeConfigsRequest.decode(body, version).resources.map(({ resourceType, resourceName }) => {
      const topic = this.topics.get(resourceName)
      const errorCode = topic?.errorCode ?? ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
      const flags = { readOnly: false, isSensitive: false, synonyms: [], documentation: null }
      const configs = (topic?.configs ?? []).map(config => ({ ...config, ...flags }))
      return { errorCode, errorMessage: null, resourceType, resourceName, configs }
    })
    return DescribeConfigsResponse.encode({ throttleTimeMs: 0, results }, version)
  }
}
