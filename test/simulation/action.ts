/** One thing that may happen in a step of the simulation; the folder's lists of actions are made of it. */
import type { Promises } from './promises.ts'
import type { World } from './world.ts'

export interface Action {
  readonly name: string
  /** How often it is chosen, among the others of its list. */
  readonly weight: number
  readonly act: (world: World, promises: Promises) => void
}
