/** A dedicated MirrorMaker 2 process between two clusters, configured as its documentation does, as the measure of comparison. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningProcess, startProcess } from '../../test/child-process.ts'
import { kafkaJars } from '../../test/kafka/jars.ts'
import { writeProperties } from '../../test/properties-file.ts'

/** As the start script of Kafka sets the JVM up. */
const jvmArguments = [
  '-Xms256M',
  '-Xmx2G',
  '-server',
  '-XX:+UseG1GC',
  '-XX:MaxGCPauseMillis=20',
  '-XX:InitiatingHeapOccupancyPercent=35',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
]

export const MIRROR_MAKER_VERSION = '4.3.1'
const TASKS = 2

export class MirrorMaker {
  readonly #process: RunningProcess
  readonly #folder: string

  private constructor(process: RunningProcess, folder: string) {
    this.#process = process
    this.#folder = folder
  }

  /** Copies the topics to topics of the same name. Resolves as soon as the process runs. */
  static async start(of: {
    readonly source: string
    readonly target: string
    readonly topics: readonly string[]
    /** Of the topics at the target; default 1. */
    readonly replicas?: number
  }): Promise<MirrorMaker> {
    const jars = await kafkaJars(MIRROR_MAKER_VERSION)
    const folder = await mkdtemp(join(tmpdir(), 'lockstep-bench-mm2-'))
    const file = join(folder, 'mm2.properties')
    await writeProperties(file, propertiesFor(of))
    const args = [...jvmArguments, '-cp', join(jars, '*'), 'org.apache.kafka.connect.mirror.MirrorMaker', file]
    return new MirrorMaker(await startProcess('java', args, { cwd: folder }), folder)
  }

  get pid(): number {
    return this.#process.pid
  }

  get output(): string {
    return this.#process.output()
  }

  async close(): Promise<void> {
    await this.#process.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

const propertiesFor = (of: {
  source: string
  target: string
  topics: readonly string[]
  replicas?: number
}): Readonly<Record<string, string>> => ({
  clusters: 'source, target',
  'source.bootstrap.servers': of.source,
  'target.bootstrap.servers': of.target,
  'source->target.enabled': 'true',
  'source->target.topics': of.topics.join(','),
  'target->source.enabled': 'false',
  'replication.policy.class': 'org.apache.kafka.connect.mirror.IdentityReplicationPolicy',
  'tasks.max': String(TASKS),
  'replication.factor': String(of.replicas ?? 1),
  'checkpoints.topic.replication.factor': '1',
  'heartbeats.topic.replication.factor': '1',
  'offset-syncs.topic.replication.factor': '1',
  'offset.storage.replication.factor': '1',
  'status.storage.replication.factor': '1',
  'config.storage.replication.factor': '1',
  'sync.topic.acls.enabled': 'false',
  'emit.checkpoints.enabled': 'false',
  'emit.heartbeats.enabled': 'false',
})
