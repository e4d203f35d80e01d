/** Commands that wait until the observed image shows what they changed; the observer tells what it asked, learned and applied. */

interface Waiter {
  /** Of the leader that carried the command out. */
  readonly epoch: number
  /** Was there when the present fetch was sent: its answer tells a commit point that covers it. */
  asked: boolean
  /** Last offset that has to be applied; undefined until an answer tells. */
  target: number | undefined
  resolve(): void
  reject(reason: unknown): void
}

export class CommitWaiters {
  #waiting: Waiter[] = []

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  add(epoch: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiting.push({ epoch, asked: false, target: undefined, resolve, reject })
    return promise
  }

  /** A fetch goes to the leader of `epoch`. An older leader may not know of the commit. */
  asking(epoch: number): void {
    for (const waiter of this.#waiting) waiter.asked = epoch >= waiter.epoch
  }

  /** It was answered: everything up to `lastCommitted` is committed. */
  answered(lastCommitted: number): void {
    for (const waiter of this.#waiting) if (waiter.asked) waiter.target ??= lastCommitted
  }

  /** The image shows everything up to here. */
  applied(offset: number): void {
    const done = this.#waiting.filter(({ target }) => target !== undefined && target <= offset)
    this.#waiting = this.#waiting.filter(waiter => !done.includes(waiter))
    for (const { resolve } of done) resolve()
  }

  fail(reason: unknown): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const { reject } of waiting) reject(reason)
  }
}
