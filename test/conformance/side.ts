// One of the two nodes that the same scenarios run against, and the Java clients pointed at it; used by scenarios.
import { eventually } from '../eventually.ts'
import type { JavaDriver } from '../java/driver.ts'
import { JavaConsumer } from './java-consumer.ts'

type Properties = Readonly<Record<string, string>>

/** What a tool of Kafka did. */
export interface ToolRun {
  readonly status: number
  readonly out: string
  readonly err: string
  /** Class of the exception that ended it. */
  readonly error?: string
}

export interface SidePlan {
  readonly name: 'kafka' | 'lockstep'
  readonly bootstrap: string
  /** `TOPIC-PARTITION` folders in it. */
  readonly dataDirectory: string
  readonly driver: JavaDriver
}

/** Commands of the Java driver with the node's address; what a session is called is private to the side. */
export class Side {
  readonly name: 'kafka' | 'lockstep'
  readonly bootstrap: string
  readonly dataDirectory: string
  readonly #driver: JavaDriver

  constructor({ name, bootstrap, dataDirectory, driver }: SidePlan) {
    this.name = name
    this.bootstrap = bootstrap
    this.dataDirectory = dataDirectory
    this.#driver = driver
  }

  /** Runs a command of the driver against this node. */
  java<Result = unknown>(command: string, args: object = {}): Promise<Result> {
    return this.#driver.call<Result>(command, { bootstrap: this.bootstrap, ...args })
  }

  topics<Result = unknown>(op: string, args: object = {}): Promise<Result> {
    return this.java('admin-topics', { op, ...args })
  }

  groups<Result = unknown>(op: string, args: object = {}): Promise<Result> {
    return this.java('admin-groups', { op, ...args })
  }

  transactions<Result = unknown>(op: string, args: object = {}): Promise<Result> {
    return this.java('admin-transactions', { op, ...args })
  }

  /** Waits for the markers of a transaction that was committed or aborted: they are written after the answer. */
  async ended(transactionalId: string): Promise<void> {
    await eventually(async () => {
      const rows = await this.transactions<string[][]>('list', { pattern: transactionalId })
      const state = rows.find(row => row[0] === transactionalId)?.[1]
      if (!state?.startsWith('Complete')) throw new Error(`${transactionalId} is ${state}`)
    })
  }

  cluster<Result = unknown>(op: string, args: object = {}): Promise<Result> {
    return this.java('admin-cluster', { op, ...args })
  }

  security<Result = unknown>(op: string, args: object = {}): Promise<Result> {
    return this.java('admin-security', { op, ...args })
  }

  /** Makes topics and waits for their leaders. */
  async createTopics(...topics: readonly { name: string; partitions?: number; configs?: Properties }[]): Promise<void> {
    await this.java('create-topics', { topics })
  }

  /** Writes records with values `v0`, `v1`, … to a partition. */
  async write(topic: string, count: number, args: object = {}): Promise<void> {
    const records = Array.from({ length: count }, (_, index) => ({ key: `k${index}`, value: `v${index}` }))
    await this.java('produce', { topic, records, properties: { 'linger.ms': '10' }, ...args })
  }

  /** An operation of the producer `id`; `open` first. */
  producer<Result = unknown>(id: string, op: string, args: object = {}): Promise<Result> {
    return this.java('producer', { id: `${this.name}/${id}`, op, ...args })
  }

  /** Starts a Java consumer. */
  consumer(id: string, properties: Properties): Promise<JavaConsumer> {
    return JavaConsumer.open((op, args) => this.java('consumer', { id: `${this.name}/${id}`, op, ...args }), properties)
  }

  /** Runs one of Kafka's tools; `{bootstrap}` in its arguments is the node's address. */
  tool(tool: string, args: readonly string[]): Promise<ToolRun> {
    return this.java('run-tool', { tool, args: args.map(arg => arg.replace('{bootstrap}', this.bootstrap)) })
  }
}
