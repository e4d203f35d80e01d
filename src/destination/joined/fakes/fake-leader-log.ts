/** A topic of Lockstep that another broker leads, as its readers fetch it; for tests of what follows such topics. */
import type { StateRecord } from '../../../link/ports.ts'
import { buildBatch } from '../../../protocol/batches/build-batch.ts'
import type { FetchConnections } from '../committed-reader.ts'

type Connection = Awaited<ReturnType<FetchConnections['open']>>

export class FakeLeaderLog implements FetchConnections {
  /** Brokers that connections were opened to, in order. */
  readonly opened: number[] = []
  readonly #batches: { readonly baseOffset: number; readonly bytes: Buffer }[] = []
  readonly #waiting = new Set<() => void>()
  #end = 0

  get end(): number {
    return this.#end
  }

  append(...records: readonly StateRecord[]): void {
    const told = records.map(({ key, value }, offsetDelta) => ({ offsetDelta, timestamp: 1n, key, value }))
    this.#batches.push({ baseOffset: this.#end, bytes: buildBatch({ baseOffset: this.#end, records: told }) })
    this.#end += records.length
    for (const wake of this.#waiting) wake()
  }

  async open(brokerId: number): Promise<Connection> {
    this.opened.push(brokerId)
    const closed = new AbortController()
    const send = async (api: { readonly key: number }, request: unknown) => {
      const response = api.key === 1 ? await this.#fetch(request as FetchRequest, closed.signal) : this.#offsets()
      return { version: 10, response, release: () => {} }
    }
    return {
      versionFor: () => 10,
      send: send as unknown as Connection['send'],
      close: () => {
        closed.abort()
        for (const wake of this.#waiting) wake()
      },
    }
  }

  #offsets() {
    return { topics: [{ partitions: [{ errorCode: 0, offset: BigInt(this.#end) }] }] }
  }

  async #fetch(request: FetchRequest, closed: AbortSignal) {
    const fetchOffset = Number(request.topics[0]?.partitions[0]?.fetchOffset ?? 0n)
    if (fetchOffset >= this.#end) await this.#moved()
    if (closed.aborted) throw new Error('the connection was closed')
    const found = this.#batches.filter(({ baseOffset }) => baseOffset >= fetchOffset)
    const records = Buffer.concat(found.map(({ bytes }) => bytes))
    return {
      errorCode: 0,
      responses: [{ partitions: [{ errorCode: 0, records, highWatermark: BigInt(this.#end) }] }],
    }
  }

  /** Or a moment is over, as at a broker. */
  #moved(): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(() => wake(), 5)
      const wake = () => {
        clearTimeout(timer)
        this.#waiting.delete(wake)
        resolve()
      }
      this.#waiting.add(wake)
    })
  }
}

interface FetchRequest {
  readonly topics: readonly { readonly partitions: readonly { readonly fetchOffset: bigint }[] }[]
}
