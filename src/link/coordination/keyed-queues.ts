/** One serial queue per key, kept only while it has work; operations on one mirror or link run one after the other through it. */
import { SerialQueue } from '../../core/serial-queue.ts'

export class KeyedQueues {
  readonly #queues = new Map<string, SerialQueue>()

  /** Runs `job` after every job that was given earlier for the same key. */
  async run<T>(key: string, job: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(key) ?? new SerialQueue()
    this.#queues.set(key, queue)
    try {
      return await queue.run(job)
    } finally {
      if (queue.length === 0 && this.#queues.get(key) === queue) this.#queues.delete(key)
    }
  }

  /** Resolves when everything given so far has ended. */
  async idle(): Promise<void> {
    await Promise.all([...this.#queues.values()].map(queue => queue.idle()))
  }
}
