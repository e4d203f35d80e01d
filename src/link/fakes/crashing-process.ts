/** A process that can be killed between any two side effects: every fake port of one engine runs its effects through it. */

/** Thrown by every port of a process that was killed. */
export class SimulatedCrash extends Error {
  constructor(effect: string) {
    super(`killed at: ${effect}`)
    this.name = 'SimulatedCrash'
  }
}

export interface CrashPlan {
  /** How many effects happen before it. */
  readonly at: number
  /** Killed before it happens, or after it happened and before the caller learns of it. */
  readonly side: 'before' | 'after'
}

export class CrashingProcess {
  /** Told of each effect right before it happens. */
  onEffect: ((name: string) => void) | undefined
  /** Names of the effects so far. */
  readonly effects: string[] = []
  #plan: CrashPlan | undefined
  #named: { readonly name: string; readonly side: CrashPlan['side'] } | undefined
  #killed = false
  readonly #failures = new Map<string, Error>()

  get killed(): boolean {
    return this.#killed
  }

  /** A crash is planned that has not come yet. */
  get isDoomed(): boolean {
    return !this.#killed && (this.#named !== undefined || (this.#plan?.at ?? -1) >= this.effects.length)
  }

  /** The next effects of this name fail with `error`, without happening, until `undefined` is given. */
  failNext(name: string, error: Error | undefined): void {
    if (error) this.#failures.set(name, error)
    else this.#failures.delete(name)
  }

  /** Kills the process at the effect that comes after `plan.at` further ones. */
  planCrash(plan: CrashPlan): void {
    this.#plan = { ...plan, at: this.effects.length + plan.at }
  }

  /** Kills the process at the next effect of this name. */
  planCrashAt(name: string, side: CrashPlan['side']): void {
    this.#named = { name, side }
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
    const named = this.#named?.name === name ? this.#named.side : undefined
    const planned = this.#plan?.at === index ? this.#plan.side : named
    if (planned === 'before') this.#die(name)
    this.onEffect?.(name)
    const result = happen()
    if (planned === 'after') this.#die(name)
    return result
  }

  #die(name: string): never {
    this.#killed = true
    throw new SimulatedCrash(name)
  }
}
