/** The simulation with 500 seeds: the real engine against a source, disks and a network that fail at random. */
import { test } from 'node:test'
import { simulate, stepsPerRun } from '../simulation/simulate.ts'

const seeds = 500

test(`every rule holds in ${seeds} histories of ${stepsPerRun} random steps`, async t => {
  let simulatedMs = 0
  for (let seed = 1; seed <= seeds; seed++) simulatedMs += (await simulate(seed)).simulatedMs
  t.diagnostic(`${Math.round(simulatedMs / 3_600_000)} simulated hours`)
})
