// A Java consumer that lives in the driver and polls all the time; made by Side for scenarios.
import { deepStrictEqual, ok } from 'node:assert/strict'
import { eventually } from '../eventually.ts'

/** A loaded machine is slow, and who gives up too early reports a fault that is none. */
const patient = { timeoutMs: Number(process.env['LOCKSTEP_PATIENCE_MS'] ?? 120_000), intervalMs: 50 }

type Call = (op: string, args: object) => Promise<unknown>

/** `[partition, offset, key, value]` */
export type ConsumedRow = readonly [string, number, string | null, string | null]

export interface ConsumerState {
  readonly assignment: readonly string[]
  /** How many it has had since it was opened. */
  readonly records: number
  readonly events: readonly string[]
  readonly generation: number
  readonly member?: string
  readonly failure?: { readonly error: string; readonly cause?: string }
}

/** See ConsumerSession.java for the operations. */
export class JavaConsumer {
  readonly #call: Call

  private constructor(call: Call) {
    this.#call = call
  }

  static async open(call: Call, properties: Readonly<Record<string, string>>): Promise<JavaConsumer> {
    await call('open', { properties })
    return new JavaConsumer(call)
  }

  run<Result = unknown>(op: string, args: object = {}): Promise<Result> {
    return this.#call(op, args) as Promise<Result>
  }

  state(): Promise<ConsumerState> {
    return this.run('state')
  }

  async subscribe(...topics: readonly string[]): Promise<void> {
    await this.run('subscribe', { topics })
  }

  /** Waits until it has had that many records in all, and takes those since the last time, by partition and offset. */
  async takeUntil(count: number): Promise<ConsumedRow[]> {
    await eventually(async () => {
      const { records, failure } = await this.state()
      ok(records >= count || failure !== undefined, `${records} of ${count} records`)
    }, patient)
    const rows = await this.run<ConsumedRow[]>('take')
    return rows.toSorted((a, b) => a[0].localeCompare(b[0]) || a[1] - b[1])
  }

  /** Waits for an assignment of that many partitions and gives it. */
  async assigned(count: number): Promise<readonly string[]> {
    return eventually(async () => {
      const { assignment, failure } = await this.state()
      ok(failure === undefined, JSON.stringify(failure))
      deepStrictEqual(assignment.length, count)
      return assignment
    }, patient)
  }

  /** Waits until polling has failed and gives the failure. */
  failure(): Promise<ConsumerState['failure']> {
    return eventually(async () => {
      const { failure } = await this.state()
      ok(failure !== undefined, 'it has not failed')
      return failure
    }, patient)
  }

  async close(args: { seconds?: number; leave?: boolean } = {}): Promise<void> {
    await this.run('close', args)
  }
}

/** The assignments of members in an order that does not depend on who is who. */
export const ranges = (assignments: readonly (readonly string[])[]): string[] =>
  assignments.map(assignment => assignment.join(' ')).toSorted()
