/** A source, a destination and engines over them that can be started, killed and started again. */
import { ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { seededRandom } from '../../core/random.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { Engine } from '../engine.ts'
import type { CreateLinkRequest } from '../engine-api.ts'
import { CrashingProcess } from './crashing-process.ts'
import { FakeCluster } from './fake-cluster.ts'
import { FakeSource } from './fake-source.ts'

export class EngineWorld {
  readonly clock = new ManualClock()
  readonly source = new FakeSource(this.clock)
  readonly cluster = new FakeCluster()
  process = new CrashingProcess()
  engine: Engine = this.#newEngine()

  /** Starts an engine in a new process; what the one before did not flush is lost. */
  async start(): Promise<Engine> {
    this.process.kill()
    this.cluster.loseUnflushed()
    this.source.forgetConnections()
    this.process = new CrashingProcess()
    this.engine = this.#newEngine()
    await this.engine.start()
    await this.settle()
    return this.engine
  }

  /** Lets everything that can happen without waiting happen. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) await new Promise<void>(resolve => setImmediate(resolve))
  }

  /** Fetches until nothing new comes. */
  async mirrorAll(rounds = 3): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      await this.settle()
      await this.source.deliver()
    }
    await this.settle()
  }

  #newEngine(): Engine {
    return new Engine({
      stateLog: this.cluster.stateLog(this.process),
      statusLog: this.cluster.statusLog(this.process),
      destination: this.cluster.destination(this.process),
      sources: this.source,
      clock: this.clock,
      random: seededRandom(7),
      logger: silentLogger,
    })
  }
}

export const linkRequest = (name: string, configs: Record<string, string> = {}): CreateLinkRequest => ({
  name,
  sourceClusterId: undefined,
  destinationClusterId: undefined,
  remoteClusterId: undefined,
  clusterLinkId: undefined,
  configs: new Map(Object.entries({ 'bootstrap.servers': 'source:9092', ...configs })),
})

export const mirrorRequest = (sourceTopicName: string, configs: Record<string, string> = {}) => ({
  sourceTopicName,
  mirrorTopicName: undefined,
  replicationFactor: undefined,
  configs: new Map(Object.entries(configs)),
})

/** A batch of `count` small records. */
export function batchAt(
  baseOffset: number,
  count: number,
  more: { epoch?: number; producerId?: bigint; transactional?: boolean } = {},
): Buffer {
  return buildBatch({
    baseOffset,
    leaderEpoch: more.epoch ?? 0,
    ...(more.producerId === undefined ? {} : { producerId: more.producerId, producerEpoch: 0, baseSequence: 0 }),
    transactional: more.transactional ?? false,
    records: Array.from({ length: count }, (_, offsetDelta) => ({
      offsetDelta,
      timestamp: 1000n,
      key: Buffer.from(`key-${baseOffset + offsetDelta}`),
      value: Buffer.from('value'),
    })),
  })
}
