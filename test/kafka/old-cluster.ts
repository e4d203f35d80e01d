// One broker of an Apache Kafka that still needs ZooKeeper, with its ZooKeeper; used by the suite of old sources.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningProcess, startProcess } from '../child-process.ts'
import { eventually } from '../eventually.ts'
import { freePorts, tryConnect } from '../free-port.ts'
import { writeProperties } from '../properties-file.ts'
import { type OldKafkaVersion, oldKafkaJars } from './jars.ts'

/** A running cluster of one; `close()` ends its processes and removes its files. */
export class OldKafkaCluster {
  readonly bootstrap: string
  readonly dataDirectory: string
  readonly #folder: string
  readonly #jars: string
  #zooKeeper: RunningProcess | undefined
  #broker: RunningProcess | undefined

  private constructor(folder: string, jars: string, port: number) {
    this.#folder = folder
    this.#jars = jars
    this.bootstrap = `127.0.0.1:${port}`
    this.dataDirectory = join(folder, 'data')
  }

  /** Starts both, and waits until the broker listens. */
  static async start(version: OldKafkaVersion): Promise<OldKafkaCluster> {
    const jars = await oldKafkaJars(version)
    const folder = await mkdtemp(join(tmpdir(), 'lockstep-old-kafka-'))
    const [zooKeeperPort = 0, port = 0] = await freePorts(2)
    const cluster = new OldKafkaCluster(folder, jars, port)
    try {
      await mkdir(cluster.dataDirectory)
      await writeProperties(join(folder, 'zookeeper.properties'), {
        dataDir: join(folder, 'zookeeper'),
        clientPort: zooKeeperPort,
        clientPortAddress: '127.0.0.1',
        'admin.enableServer': 'false',
      })
      await writeProperties(join(folder, 'server.properties'), {
        'broker.id': 1,
        listeners: `PLAINTEXT://127.0.0.1:${port}`,
        'zookeeper.connect': `127.0.0.1:${zooKeeperPort}`,
        'log.dirs': cluster.dataDirectory,
        'offsets.topic.num.partitions': 4,
        'offsets.topic.replication.factor': 1,
        'transaction.state.log.num.partitions': 4,
        'transaction.state.log.replication.factor': 1,
        'transaction.state.log.min.isr': 1,
        'group.initial.rebalance.delay.ms': 0,
        'auto.create.topics.enable': false,
      })
      const main = 'org.apache.zookeeper.server.quorum.QuorumPeerMain'
      cluster.#zooKeeper = await cluster.#java(main, 'zookeeper.properties', zooKeeperPort)
      await cluster.startBroker()
      return cluster
    } catch (error) {
      await cluster.close()
      throw error
    }
  }

  /** The broker, again after `stopBroker`. */
  async startBroker(): Promise<void> {
    this.#broker = await this.#java('kafka.Kafka', 'server.properties', Number(this.bootstrap.split(':')[1]))
  }

  /** Clean shutdown: ZooKeeper would not let a broker in for as long as the session of a killed one lasts. */
  async stopBroker(): Promise<void> {
    await this.#broker?.stop(60_000)
  }

  /** kill -9 of the broker, for good. */
  async killBroker(): Promise<void> {
    await this.#broker?.kill()
  }

  async close(): Promise<void> {
    await this.#broker?.kill()
    await this.#zooKeeper?.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #java(main: string, file: string, port: number): Promise<RunningProcess> {
    const quick = ['-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']
    const quiet = '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'
    const args = [...quick, quiet, '-cp', join(this.#jars, '*'), main, join(this.#folder, file)]
    const child = await startProcess('java', args, { cwd: this.#folder })
    await eventually(
      async () => {
        if (child.alive()) await tryConnect(port)
      },
      { timeoutMs: 120_000, intervalMs: 100 },
    )
    if (!child.alive()) throw new Error(`${main} ended while starting:\n${child.output()}`)
    return child
  }
}
