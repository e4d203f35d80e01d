// Faults of all processes around mirrors in a joined cluster, chosen by a seed: killed, frozen, restarted, alone and two at a time; used by the suite of chaos.
import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../src/core/random.ts'
import { integerBelow, pick } from './chance.ts'

/** A process that can be taken away and given back. */
export interface Victim {
  readonly name: string
  readonly process: {
    readonly kill: () => Promise<void>
    readonly stop: () => Promise<void>
    readonly start: () => Promise<void>
    readonly freeze: () => void
    readonly thaw: () => void
  }
}

/** How somebody goes and comes back; what is random is the time in between, in ms. */
const ways: Readonly<Record<string, (process: Victim['process'], awayMs: number) => Promise<void>>> = {
  'killed and started at once': async process => {
    await process.kill()
    await process.start()
  },
  'killed and started later': async (process, awayMs) => {
    await process.kill()
    await delay(awayMs)
    await process.start()
  },
  'stopped and started': async process => {
    await process.stop()
    await process.start()
  },
  frozen: async (process, awayMs) => {
    process.freeze()
    await delay(awayMs)
    process.thaw()
  },
}

/** One blow: each of its faults begins a little after the one before, and all are over when `strike` resolves. */
export interface Blow {
  /** In words. */
  readonly text: string
  readonly strike: () => Promise<void>
}

/** The next blow; hits one or two of the victims. */
export function nextBlow(victims: readonly Victim[], { random, awayMs }: { random: Random; awayMs: number }): Blow {
  const first = pick(victims, random)
  const rest = victims.filter(victim => victim !== first)
  const hit = random() < 0.4 ? [first, pick(rest, random)] : [first]
  const faults = hit.map(({ name, process }, index) => {
    const way = pick(Object.keys(ways), random)
    const forMs = integerBelow(awayMs, random)
    const afterMs = index === 0 ? 0 : integerBelow(2_000, random)
    const strike = async () => {
      await delay(afterMs)
      await ways[way]?.(process, forMs)
    }
    return { text: `${name} ${way} (${forMs} ms, after ${afterMs} ms)`, strike }
  })
  return {
    text: faults.map(({ text }) => text).join(', '),
    strike: async () => {
      await Promise.all(faults.map(({ strike }) => strike()))
    },
  }
}
