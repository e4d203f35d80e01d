// Processes that are killed between the steps of a way there and back, and start again while it goes on; every choice follows from a seed. Used by the failback suites.
import { seededRandom } from '../../src/core/random.ts'
import { integerBelow, pick } from './chance.ts'
import type { CycleStep } from './failback-cycle.ts'
import type { Site } from './failback-site.ts'

interface KillsOptions {
  readonly sites: readonly Site[]
  readonly seed: number
  /** At most so many, and not before every step. */
  readonly count: number
  readonly tell: (text: string) => void
}

export class FailbackKills {
  readonly #of: KillsOptions
  readonly #random: () => number
  /** Steps until the next one. */
  #in: number
  #left: number

  constructor(of: KillsOptions) {
    this.#of = of
    this.#random = seededRandom(of.seed)
    this.#left = of.count
    this.#in = this.#pause()
  }

  /** Kills somebody before the step, or not. */
  around = async ({ name, act, needsAll }: CycleStep): Promise<void> => {
    const victims = this.#of.sites.filter(site => site.isUp).flatMap(({ processes }) => processes)
    if (this.#left === 0 || this.#in-- > 0 || victims.length === 0) return await act()
    this.#left--
    this.#in = this.#pause()
    const victim = pick(victims, this.#random)
    this.#of.tell(`${victim.name} is killed before: ${name}`)
    await victim.kill()
    if (needsAll) await victim.start()
    const results = await Promise.allSettled([needsAll ? undefined : victim.start(), act()])
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  #pause(): number {
    return 1 + integerBelow(4, this.#random)
  }
}
