/** A process that can be killed between any two side effects: every fake port of one engine runs its effects through it. */

/** Thrown by every port of a process that was killed. */
export class SimulatedCrash extends Error {
  constructor(effect: string) {
    super(`killed at: ${effect}`)
    this.name = 'SimulatedCrash'
  }
}

export interface CrashPlan {
  /** Which effect, counted from 0. */
  readonly at: number
  /** Killed before it happens, or after it happened and before the caller learns of it. */
  readonly side: 'before' | 'after'
}

export class CrashingProcess {
  /** Names of the effects so far. */
  readonly effects: string[] = []
  #plan: CrashPlan | undefined
  #killed = false
  #failures = new Map<string, Error>()

  constructor(plan?: CrashPlan) {
    this.#plan = plan
  }

  get killed(): boolean {
    return this.#killed
  }

  /** The next effects of this name fail with `error`, without happening, until `undefined` is given. */
  failNext(name: string, error: Error | undefined): void {
    if (error) this.#failures.set(name, error)
    else this.#failures.delete(name)
  }

  kill(): void {
    this.#killed = true
  }

  async effect<T>(name: string, happen: () => T): Promise<T> {
    await Promise.resolve()
    if (this.#killed) throw new SimulatedCrash(name)
    const failure = this.#failures.get(name)
    if (failure) throw failure
    const index = this.effects.push(name) - 1
    const planned = this.#plan?.at === index ? this.#plan.side : undefined
    if (planned === 'before') this.#die(name)
    const result = happen()
    if (planned === 'after') this.#die(name)
    return result
  }

  #die(name: string): never {
    this.#killed = true
    throw new SimulatedCrash(name)
  }
}
