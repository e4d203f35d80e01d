/** The simulation with 200 seeds: the real engine against a source, disks and a network that fail at random. */
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { simulate, stepsPerRun } from '../simulation/simulate.ts'

const seeds = 200

test(`every rule holds in ${seeds} histories of ${stepsPerRun} random steps`, async t => {
  let simulatedMs = 0
  for (let seed = 1; seed <= seeds; seed++) simulatedMs += (await simulate(seed)).simulatedMs
  t.diagnostic(`${Math.round(simulatedMs / 3_600_000)} simulated hours`)
})

test('a seed gives the same history every time', async () => {
  const [first, second] = [await simulate(11), await simulate(11)]
  // Ids are drawn anew in each run, and stand in a few messages.
  const withoutIds = (trace: readonly string[]) => trace.map(step => step.replaceAll(/[\w-]{22}/g, 'id'))
  deepEqual(withoutIds(second.trace), withoutIds(first.trace))
  deepEqual({ ...second, trace: [] }, { ...first, trace: [] })
})
