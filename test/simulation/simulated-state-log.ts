/** `__lockstep_state` and `__lockstep_status` of the simulation: appends whose answer was lost are decided all the same, and replayed before the next one. */
import type { StateLog, StateRecord } from '../../src/link/ports.ts'
import type { SimulatedProcess } from './simulated-process.ts'

export interface StateLogWitness {
  readonly effect: 'append state' | 'append status'
  /** Told at the moment at which records become durable. */
  readonly decided?: (records: readonly StateRecord[]) => void
}

/** `durable` outlives every process. */
export function simulatedStateLog(
  durable: StateRecord[],
  process: SimulatedProcess,
  { effect, decided = () => {} }: StateLogWitness,
): StateLog {
  let give: ((records: readonly StateRecord[]) => void) | undefined
  let given = 0
  const replay = () => {
    const records = durable.slice(given)
    given = durable.length
    if (records.length > 0) give?.(records)
  }
  return {
    async open(onRecords) {
      give = onRecords
      await process.pass()
      replay()
    },
    async append(records) {
      replay()
      await process.effect(effect, () => {
        durable.push(...records)
        decided(records)
      })
      replay()
    },
    async close() {},
  }
}
