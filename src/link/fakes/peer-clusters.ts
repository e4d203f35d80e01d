/** Two clusters in memory, each the source of the other, with an engine on each that can be killed: for what bidirectional links do. */
import { type Clock, ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { seededRandom } from '../../core/random.ts'
import { randomUuid } from '../../core/uuid.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { Engine } from '../engine.ts'
import type { ExportedTail, GroupOffset, SourceCluster, TailExports } from '../ports.ts'
import { statusTopicName } from '../status/status-key.ts'
import { CrashingProcess } from './crashing-process.ts'
import { linkRequest } from './engine-world.ts'
import { FakeCluster } from './fake-cluster.ts'
import type { FakePartition } from './fake-mirror-log.ts'
import { FakeSource } from './fake-source.ts'
import { FakeSourcePartition } from './fake-source-partition.ts'

/** One life of an engine: what its effects go through, and time as it sees it. */
export interface Life {
  readonly process: CrashingProcess
  readonly clock: Clock
}

export interface PeerClusterOptions {
  readonly remote: () => PeerCluster
  /** Default: a process whose effects happen at once. */
  readonly newLife?: () => Life
  /** How long its reverses wait for open transactions. */
  readonly reverseTransactionWaitMs?: number
}

/** What a restore exported. */
export interface Exported {
  readonly topic: string
  readonly partition: number
  readonly baseOffset: number
  readonly bytes: Buffer
}

/** One of the two. */
export class PeerCluster {
  readonly cluster: FakeCluster
  /** This cluster as the links of the other one see it. */
  readonly asSource: FakeSource
  /** What was exported, by path. */
  readonly exported = new Map<string, Buffer>()
  /** The same, of all restores; a path has no time here, so it is used again. */
  readonly exports: Exported[] = []
  process: CrashingProcess
  engine: Engine
  readonly #remote: () => PeerCluster
  readonly #newLife: () => Life
  readonly #waits: { readonly reverseTransactionWaitMs?: number }
  readonly #statusTopicId = randomUuid()
  /** What partitions were shown with last: a log that loses something gets another array. */
  readonly #shown = new Map<FakeSourcePartition, FakePartition['batches']>()

  constructor(name: string, clock: ManualClock, { remote, newLife, ...waits }: PeerClusterOptions) {
    this.#waits = waits
    this.#remote = remote
    this.#newLife = newLife ?? (() => ({ process: new CrashingProcess(), clock }))
    this.cluster = new FakeCluster(`cluster-${name}`)
    this.cluster.stampsEpochs = true
    this.asSource = new FakeSource(clock, this.cluster.clusterId)
    this.asSource.refresh = () => this.#show()
    const { process, engine } = this.#begin()
    this.process = process
    this.engine = engine
  }

  /** A new process; what the one before did not flush is lost. */
  async start(): Promise<void> {
    this.process.kill()
    this.cluster.loseUnflushed()
    this.#remote().asSource.forgetConnections()
    Object.assign(this, this.#begin())
    await this.engine.start()
  }

  async link(name = 'twin', configs: Record<string, string> = {}, validateLink = true): Promise<void> {
    const { clusterId: remoteClusterId } = this.#remote().cluster
    const request = { ...linkRequest(name, { 'link.mode': 'BIDIRECTIONAL', ...configs }), remoteClusterId }
    await this.engine.createLink(request, { validateOnly: false, validateLink })
  }

  /** Clients write, if they may. */
  write(topic: string, batch: Buffer, partition = 0): void {
    const found = this.cluster.topicNamed(topic)
    const log = found?.logs[partition]
    if (!found || !log) throw new Error(`there is no partition ${topic}-${partition}`)
    if (!this.isWritable(topic)) throw new Error(`${topic} is read-only at ${this.cluster.clusterId}`)
    log.append(batch)
    log.flushedOffset = log.logEndOffset
  }

  isWritable(topic: string): boolean {
    const topicId = this.cluster.topicNamed(topic)?.topicId
    return topicId !== undefined && this.engine.writeStatus(topicId, topic).kind === 'writable'
  }

  /** `undefined` = no mirror. */
  status(topic: string, link = 'twin'): string | undefined {
    return this.engine.listMirrors({ link, status: undefined }).find(mirror => mirror.mirrorTopicName === topic)?.status
  }

  end(topic: string, partition = 0): number | undefined {
    return this.cluster.topicNamed(topic)?.logs[partition]?.logEndOffset
  }

  /** CRCs by base offset: equal logs have equal ones. */
  contents(topic: string, partition = 0): string[] {
    const { batches = [] } = this.cluster.topicNamed(topic)?.logs[partition] ?? {}
    return batches.map(({ header }) => `${header.baseOffset}:${header.crc}`)
  }

  #begin(): { readonly process: CrashingProcess; readonly engine: Engine } {
    const { process, clock } = this.#newLife()
    const engine = new Engine({
      stateLog: this.cluster.stateLog(process),
      statusLog: this.cluster.statusLog(process),
      destination: this.cluster.destination(process),
      sources: { open: (...given) => mortal(this.#remote().asSource.open(...given), process) },
      tailExports: this.#exports(process),
      ...this.#waits,
      clock,
      random: seededRandom(7),
      logger: silentLogger,
    })
    return { process, engine }
  }

  #exports(process: CrashingProcess): TailExports {
    const pathOf = ({ topic, partition, baseOffset }: ExportedTail) => `${topic}/${partition}/${baseOffset}`
    return {
      pathOf,
      create: async tail => {
        const path = pathOf(tail)
        const parts: Buffer[] = []
        return {
          append: async bytes => void parts.push(Buffer.from(bytes)),
          close: () =>
            process.effect('export', () => {
              const bytes = Buffer.concat(parts)
              this.exported.set(path, bytes)
              const { topic, partition, baseOffset } = tail
              this.exports.push({ topic, partition, baseOffset, bytes })
            }),
        }
      },
    }
  }

  /** What the other cluster sees is what is here now. */
  #show(): void {
    const { topics } = this.asSource
    const names = new Set<string>([statusTopicName])
    for (const { name, topicId, logs, configs } of this.cluster.topics.values()) {
      names.add(name)
      const known = topics.get(name)
      const shown =
        known?.topicId === topicId ? known : { topicId, partitions: [] as FakeSourcePartition[], configs: new Map() }
      topics.set(name, shown)
      for (const [key, value] of [...this.cluster.defaultConfigs, ...configs])
        shown.configs.set(key, { value, overridden: configs.has(key) })
      for (const [index, log] of logs.entries()) {
        const partition = shown.partitions[index] ?? new FakeSourcePartition()
        shown.partitions[index] = partition
        partition.logStartOffset = log.logStartOffset
        partition.highWatermark = log.logEndOffset
        partition.leaderEpoch = log.leaderEpoch
        partition.openSince = log.openTransactions()[0]?.firstOffset
        const isSame =
          partition.batches.length === log.batches.length && partition.batches.at(-1) === log.batches.at(-1)?.bytes
        if (this.#shown.get(partition) === log.batches && isSame) continue
        this.#shown.set(partition, log.batches)
        partition.batches = log.batches.map(({ bytes }) => bytes)
      }
    }
    for (const name of [...topics.keys()]) if (!names.has(name)) topics.delete(name)
    for (const [groupId, { offsets }] of this.cluster.groups) this.asSource.groups.set(groupId, shown(offsets))
    for (const [groupId, { offsets }] of this.cluster.shareGroups)
      this.asSource.shareGroups?.set(groupId, shown(offsets))
    this.#showStatus()
  }

  #showStatus(): void {
    const { topics } = this.asSource
    const records = this.cluster.statusRecords
    const partition = topics.get(statusTopicName)?.partitions[0] ?? new FakeSourcePartition()
    for (let baseOffset = partition.batches.length; baseOffset < records.length; baseOffset++) {
      const { key, value } = records[baseOffset] ?? { key: Buffer.alloc(0), value: null }
      partition.append(buildBatch({ baseOffset, records: [{ offsetDelta: 0, timestamp: 1n, key, value }] }))
    }
    if (records.length > 0)
      topics.set(statusTopicName, { topicId: this.#statusTopicId, partitions: [partition], configs: new Map() })
  }
}

/** What is committed, with the epochs of clients that told any. */
const shown = (offsets: ReadonlyMap<string, GroupOffset>) =>
  new Map([...offsets].map(([place, { offset, leaderEpoch = -1 }]) => [place, { offset, leaderEpoch }] as const))

/** What a killed process still wants to have fetched is nobody's concern. */
function mortal(source: SourceCluster, process: CrashingProcess): SourceCluster {
  const { fetcher } = source
  return {
    ...source,
    fetcher: {
      ...fetcher,
      start: (...given) => {
        if (!process.killed) fetcher.start(...given)
      },
      stop: async (...given) => {
        if (!process.killed) await fetcher.stop(...given)
      },
    },
  }
}

export class PeerWorld {
  readonly clock = new ManualClock()
  readonly east: PeerCluster = new PeerCluster('east', this.clock, { remote: () => this.west })
  readonly west: PeerCluster = new PeerCluster('west', this.clock, { remote: () => this.east })

  /** Both run, and are linked. */
  async start(configs: Record<string, string> = {}): Promise<void> {
    for (const side of [this.east, this.west]) await side.start()
    await this.settle()
    for (const side of [this.east, this.west]) {
      await side.link('twin', configs)
      await this.pass(200)
    }
  }

  /** Lets everything that can happen without waiting happen. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) await new Promise<void>(resolve => setImmediate(resolve))
  }

  /** Time goes by, with fetches. */
  async pass(ms: number, stepMs = 500): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await this.settle()
      for (const side of [this.east, this.west]) await side.asSource.deliver().catch(() => {})
      await this.clock.advance(Math.min(stepMs, ms - passed))
    }
    await this.settle()
  }

  async stop(): Promise<void> {
    for (const { engine } of [this.east, this.west]) await engine.stop()
  }
}
