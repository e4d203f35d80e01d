// One cluster seen through the Java driver: topics, records, offsets and the logs on disk; used by the mirror scenarios.
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClientPlace, ClientSecurity } from '../clients/client-record.ts'
import { javaProperties } from '../clients/client-security.ts'
import type { JavaDriver } from '../java/driver.ts'

/** What a new topic is like; one partition with one replica by default. */
export interface TopicOptions {
  readonly partitions?: number
  readonly replicationFactor?: number
  /** Brokers of each partition, the preferred leader first; instead of the two above. */
  readonly assignments?: readonly (readonly number[])[]
  readonly configs?: Readonly<Record<string, string>>
}

/** Args of the driver's `produce` beside bootstrap and topic. */
export interface ProduceArgs {
  readonly partition?: number
  readonly codec?: 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd'
  readonly acks?: 'all' | '1' | '0'
  readonly idempotent?: boolean
  readonly batch?: number
  readonly records?: readonly RecordArgs[]
  readonly generate?: GenerateArgs
  readonly transaction?: { readonly id: string; readonly end: 'commit' | 'abort' | 'open' }
  readonly properties?: Readonly<Record<string, string>>
}

/** A record given as text. */
export interface RecordArgs {
  readonly key?: string | null
  readonly value?: string | null
  readonly timestamp?: number | string
  readonly headers?: readonly (readonly [string, string | null])[]
}

/** Records made by the driver from a seed. */
export interface GenerateArgs {
  readonly count: number
  readonly valueBytes?: number
  readonly random?: boolean
  readonly keys?: number
  readonly keyPrefix?: string
  readonly timestamp?: number
  readonly timestampStep?: number
  readonly headers?: number
  readonly seed?: number
}

/** What `produce` answers. */
export interface Produced {
  readonly count: number
  readonly first: Readonly<Record<string, number>>
  readonly last: Readonly<Record<string, number>>
}

/** What `describe-topic` answers. */
export interface TopicDescription {
  readonly id: string
  readonly configs: Readonly<Record<string, string>>
  readonly partitions: readonly {
    readonly partition: number
    readonly leader: number
    readonly isr: readonly number[]
    readonly logStart: number
    readonly highWatermark: number
    readonly lastStable: number
  }[]
}

/** `[offset, timestamp, timestamp type, key digest, value digest, headers digest, key?, value?, headers?]` */
export type RecordRow = readonly [number, number, string, ...(string | null)[]]

/** What `consume` answers, by partition. */
export type Consumed = Readonly<
  Record<string, { readonly start: number; readonly end: number; readonly records: readonly RecordRow[] }>
>

export type Isolation = 'read_committed' | 'read_uncommitted'

/** Args of the driver's `consume` beside bootstrap and topic. */
export interface ConsumeArgs {
  readonly isolation?: Isolation
  /** Where to start in every partition; default the log start. */
  readonly from?: number | 'middle'
  /** Also give keys, values and headers as text. */
  readonly content?: boolean
  readonly properties?: Readonly<Record<string, string>>
}

/** A cluster's client address and one data directory that holds all its partitions. */
export interface SidePlace extends ClientPlace {
  readonly dataDirectory: string
}

/** Source or destination of a scenario. */
export class TopicSide {
  readonly driver: JavaDriver
  readonly bootstrap: string
  readonly dataDirectory: string
  readonly login: ClientSecurity | undefined
  readonly #secured: { readonly admin: object; readonly properties: object } | undefined

  constructor(driver: JavaDriver, place: SidePlace) {
    this.driver = driver
    this.bootstrap = place.bootstrap
    this.dataDirectory = place.dataDirectory
    this.login = place.login
    const properties = javaProperties(place.login)
    this.#secured = place.login && { admin: properties, properties }
  }

  createTopic(name: string, options: TopicOptions = {}) {
    return this.call('create-topics', { topics: [{ name, ...options }] })
  }

  deleteTopic(topic: string) {
    return this.call('delete-topic', { topic })
  }

  /** Grows the topic to `count` partitions. */
  createPartitions(topic: string, count: number) {
    return this.call('create-partitions', { topic, count })
  }

  /** Resolves to the number of partitions that have another leader now. */
  electLeaders(topic: string, type: 'preferred' | 'unclean'): Promise<number> {
    return this.call('elect-leaders', { topic, type })
  }

  produce(topic: string, args: ProduceArgs): Promise<Produced> {
    return this.call('produce', { topic, ...args })
  }

  endTransaction(id: string, end: 'commit' | 'abort') {
    return this.call('end-transaction', { id, commit: end === 'commit' })
  }

  deleteRecords(topic: string, before: Readonly<Record<number, number>>) {
    return this.call('delete-records', { topic, before })
  }

  alterConfigs(topic: string, set: Readonly<Record<string, string>>) {
    return this.call('alter-configs', { name: topic, set })
  }

  describe(topic: string): Promise<TopicDescription> {
    return this.call('describe-topic', { topic })
  }

  /** Reads every partition to its end with an assigned Java consumer. */
  consume(topic: string, args: ConsumeArgs = {}): Promise<Consumed> {
    return this.call('consume', { topic, ...args })
  }

  /** `[offset, timestamp]` of the first record at or after each timestamp; `[-1, -1]` for none. */
  offsetsForTimes(topic: string, partition: number, timestamps: readonly number[]): Promise<[number, number][]> {
    return this.call('offsets-for-times', { topic, partition, timestamps })
  }

  /** Every file of a partition's folder with one of these endings, in offset order. */
  async files(topic: string, partition: number, endings: readonly string[]): Promise<string[]> {
    const folder = join(this.dataDirectory, `${topic}-${partition}`)
    if (!existsSync(folder)) throw new Error(`no folder ${folder}`)
    const names = await readdir(folder)
    return names
      .filter(name => endings.some(ending => /^\d{20}\./.test(name) && name.endsWith(ending)))
      .sort()
      .map(name => join(folder, name))
  }

  /** Any command of the driver that talks to a cluster, logged in. */
  call<Result = unknown>(command: string, args: object = {}): Promise<Result> {
    const { admin, properties } = this.#secured ?? {}
    const own = 'properties' in args ? args.properties : undefined
    const secured = properties && { admin, properties: { ...properties, ...(own ?? {}) } }
    return this.driver.call(command, { bootstrap: this.bootstrap, ...args, ...secured })
  }
}
