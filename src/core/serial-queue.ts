/** Runs asynchronous jobs one at a time in the order given; a failed job rejects its own caller and nobody else. */
export class SerialQueue {
  #tail: Promise<unknown> = Promise.resolve()
  #waiting = 0
  readonly #ended = () => {
    this.#waiting--
  }

  /** Jobs running or waiting. */
  get length(): number {
    return this.#waiting
  }

  run<T>(job: () => Promise<T> | T): Promise<T> {
    this.#waiting++
    const result = this.#tail.then(job)
    this.#tail = result.then(this.#ended, this.#ended)
    return result
  }

  /** Resolves when everything queued so far has ended. */
  async idle(): Promise<void> {
    await this.#tail
  }
}
