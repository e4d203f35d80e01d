/** A cluster of ReplicaSets in one process: a controller with Kafka's rules for one partition, brokers that can be killed, and connections between them; for tests of leading and following. */
import type { ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import type { Random } from '../../core/random.ts'
import { randomUuid } from '../../core/uuid.ts'
import { MemoryFileSystem } from '../../log/fakes/memory-file-system.ts'
import { LogStore } from '../../log/log-store.ts'
import type { ApiError, IsrChange } from '../../metadata/controller-port.ts'
import { type MetadataDelta, wholeImageDelta } from '../../metadata/metadata-delta.ts'
import { emptyImage, type MetadataImage, type PartitionImage } from '../../metadata/metadata-image.ts'
import { ConnectionError } from '../../network/connection-error.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { Replica } from '../replica.ts'
import { ReplicaSet } from '../replica-set.ts'
import { assignmentOf } from './open-partition.ts'
import { answerFollower } from './served-follower.ts'

export const TOPIC = 'orders'
const TOPIC_ID = randomUuid()
/** Kafka waits longer for a lagging follower; nothing here lags for long. */
const LAG_MS = '2000'

interface Member {
  readonly id: number
  readonly fs: MemoryFileSystem
  epoch: number
  fenced: boolean
  running: { readonly replicas: ReplicaSet; readonly logs: LogStore } | undefined
}

export class ReplicaCluster {
  readonly #clock: ManualClock
  readonly #random: Random
  readonly #clusterId = randomUuid()
  readonly #members: Member[]
  #partition: PartitionImage
  #offset = 0
  #publishing: Promise<void> = Promise.resolve()

  constructor(options: { readonly clock: ManualClock; readonly random: Random; readonly brokers: readonly number[] }) {
    this.#clock = options.clock
    this.#random = options.random
    const [leader = -1] = options.brokers
    this.#partition = assignmentOf({ replicas: [...options.brokers], isr: [...options.brokers], leader })
    this.#members = options.brokers.map(id => ({
      id,
      fs: new MemoryFileSystem(),
      epoch: id,
      fenced: true,
      running: undefined,
    }))
  }

  get partition(): PartitionImage {
    return this.#partition
  }

  /** Ids of those that run. */
  get running(): number[] {
    return this.#members.flatMap(({ id, running }) => (running ? id : []))
  }

  replica(id: number): Replica | undefined {
    try {
      return this.#member(id).running?.replicas.lookupReplica(TOPIC_ID, 0)
    } catch {
      return undefined
    }
  }

  replicas(id: number): ReplicaSet | undefined {
    return this.#member(id).running?.replicas
  }

  /** Begins a new life of the broker: registered under a new epoch, unfenced. */
  async start(id: number): Promise<void> {
    const member = this.#member(id)
    const clock = this.#clock
    const logs = await LogStore.open({
      directory: '/data',
      identity: { clusterId: this.#clusterId, nodeId: id },
      fs: member.fs,
      clock,
      logger: silentLogger,
    })
    member.epoch = ++this.#offset
    const replicas = new ReplicaSet({
      brokerId: id,
      logs,
      file: new Map([['replica.lag.time.max.ms', LAG_MS]]),
      peers: {
        connections: { open: leader => this.#connect(id, leader) as never },
        alterPartition: changes => this.#alterPartition(id, changes),
        brokerEpoch: () => member.epoch,
      },
      clock,
      logger: silentLogger,
    })
    member.running = { replicas, logs }
    member.fenced = false
    if (this.#partition.leader < 0 && this.#partition.isr.includes(id)) this.#elect(id)
    await this.publish()
  }

  /** The process dies, perhaps with the machine, and its session ends. The last member of the ISR stays it. */
  async kill(id: number, how: 'process' | 'machine'): Promise<void> {
    const member = this.#member(id)
    const { running } = member
    member.running = undefined
    if (how === 'machine') member.fs.crash(this.#random)
    else member.fs.kill()
    await running?.replicas.close().catch(() => {})
    member.fenced = true
    const { isr, leader } = this.#partition
    const left = isr.filter(one => one !== id)
    if (left.length > 0 && isr.includes(id)) this.#change({ isr: left })
    if (leader === id) this.#elect(this.#partition.isr.find(one => !this.#member(one).fenced) ?? -1)
    await this.publish()
  }

  /** As ElectLeaders PREFERRED. */
  async electPreferred(): Promise<void> {
    const [preferred = -1] = this.#partition.replicas
    if (this.#partition.leader === preferred || !this.#partition.isr.includes(preferred)) return
    if (this.#member(preferred).fenced) return
    this.#elect(preferred)
    await this.publish()
  }

  /** Gives everybody the present image, one after the other. */
  async publish(): Promise<void> {
    this.#publishing = this.#publishing.then(() => this.#publishOnce())
    await this.#publishing
  }

  async close(): Promise<void> {
    for (const { running } of this.#members) {
      await running?.replicas.close()
      await running?.logs.close()
    }
  }

  async #publishOnce(): Promise<void> {
    const image = this.#image()
    const delta: MetadataDelta = wholeImageDelta(image)
    for (const { running } of this.#members) await running?.replicas.onImage(image, delta).catch(() => {})
  }

  #image(): MetadataImage {
    const image = emptyImage(this.#clusterId)
    const topics = image.topics.edit()
    topics.set(TOPIC_ID, { name: TOPIC, id: TOPIC_ID, partitions: [this.#partition] })
    const topicIds = image.topicIds.edit()
    topicIds.set(TOPIC, TOPIC_ID)
    const brokers = new Map(
      this.#members.map(({ id, epoch, fenced }) => [
        id,
        {
          id,
          epoch,
          fenced,
          incarnationId: TOPIC_ID,
          listeners: new Map(),
          features: new Map(),
          rack: null,
          inControlledShutdown: false,
          logDirs: [],
          cordonedLogDirs: null,
        },
      ]),
    )
    return { ...image, offset: ++this.#offset, brokers, topics: topics.finish(), topicIds: topicIds.finish() }
  }

  #connect(from: number, to: number) {
    const { running } = this.#member(to)
    if (!running || !this.#member(from).running) throw new ConnectionError('tcp', `broker ${to} is not there`)
    const isOpen = () => this.#member(to).running === running && this.#member(from).running !== undefined
    return Promise.resolve(answerFollower({ replicas: running.replicas, clock: this.#clock, isOpen }))
  }

  async #alterPartition(from: number, changes: readonly IsrChange[]): Promise<(ApiError & IsrChange)[]> {
    const answers = changes.map(change => ({ ...change, errorCode: this.#judge(from, change), errorMessage: null }))
    await this.publish()
    // The answer is lost now and then.
    if (this.#random() < 0.2) throw new ConnectionError('timeout', 'no answer')
    return answers
  }

  #judge(from: number, change: IsrChange): number {
    const { leader, leaderEpoch, partitionEpoch, isr } = this.#partition
    if (change.leaderEpoch > leaderEpoch || change.partitionEpoch > partitionEpoch) return ErrorCode.NOT_CONTROLLER
    if (change.leaderEpoch < leaderEpoch) return ErrorCode.FENCED_LEADER_EPOCH
    if (leader !== from) return ErrorCode.INVALID_REQUEST
    if (change.partitionEpoch < partitionEpoch) return ErrorCode.INVALID_UPDATE_VERSION
    const unfit = change.isr.some(id => {
      const { fenced, epoch } = this.#member(id)
      const claimed = change.memberEpochs?.get(id) ?? -1
      return !isr.includes(id) && (fenced || (claimed !== -1 && claimed !== epoch))
    })
    if (unfit) return ErrorCode.INELIGIBLE_REPLICA
    this.#change({ isr: change.isr })
    return ErrorCode.NONE
  }

  #elect(leader: number): void {
    this.#change({ leader, leaderEpoch: this.#partition.leaderEpoch + 1 })
  }

  #change(fields: Partial<PartitionImage>): void {
    this.#partition = { ...this.#partition, ...fields, partitionEpoch: this.#partition.partitionEpoch + 1 }
  }

  #member(id: number): Member {
    const found = this.#members.find(member => member.id === id)
    if (!found) throw new Error(`no broker ${id}`)
    return found
  }
}
