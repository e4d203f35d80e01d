/** Sends what is asked about logs to the nodes that lead them: requests of one turn to one node go together. Used by the logs that the joined destination opens. */
import { messageOf } from '../../core/errors.ts'
import { answerOf, type LogAnswer, type LogRequest, type LogResult } from './peer-log-calls.ts'

export interface PeerLogsOptions {
  /** One result per request, in order; rejects where the node does not answer. */
  readonly send: (nodeId: number, requests: readonly LogRequest[]) => Promise<readonly LogResult[]>
}

/** Requests that travel together. */
const TOGETHER_MAX = 64

interface Waiting {
  readonly request: LogRequest
  readonly resolve: (answer: LogAnswer) => void
  readonly reject: (error: unknown) => void
}

export class PeerLogs {
  readonly #o: PeerLogsOptions
  readonly #waiting = new Map<number, Waiting[]>()

  constructor(options: PeerLogsOptions) {
    this.#o = options
  }

  call(nodeId: number, request: LogRequest): Promise<LogAnswer> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(nodeId) ?? []
      if (waiting.length === 0) {
        this.#waiting.set(nodeId, waiting)
        // Callers of the same turn are collected first.
        queueMicrotask(() => this.#send(nodeId))
      }
      waiting.push({ request, resolve, reject })
    })
  }

  #send(nodeId: number): void {
    const waiting = this.#waiting.get(nodeId) ?? []
    this.#waiting.delete(nodeId)
    for (let from = 0; from < waiting.length; from += TOGETHER_MAX)
      void this.#exchange(nodeId, waiting.slice(from, from + TOGETHER_MAX))
  }

  async #exchange(nodeId: number, together: readonly Waiting[]): Promise<void> {
    let results: readonly LogResult[]
    try {
      const requests = together.map(({ request }) => request)
      results = await this.#o.send(nodeId, requests)
    } catch (error) {
      for (const { reject } of together) reject(error)
      return
    }
    for (const [index, { resolve, reject }] of together.entries()) {
      try {
        resolve(answerOf(results[index] ?? { kind: 'failed', message: `node ${nodeId} gave no answer` }))
      } catch (error) {
        reject(error instanceof Error ? error : new Error(messageOf(error)))
      }
    }
  }
}
