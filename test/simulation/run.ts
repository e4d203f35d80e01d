/** `node test/simulation/run.ts --seeds N --from S`: runs the simulation for N seeds from S on, with `--first` up to the first failure; called by hand and by `npm run simulate`. */
import { parseArgs } from 'node:util'
import { simulate, stepsPerRun } from './simulate.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    verbose: { type: 'boolean', default: false },
    first: { type: 'boolean', default: false },
  },
})
const from = Number(values.from)
const end = from + Number(values.seeds)
const startedMs = performance.now()
let failed = 0
let simulatedMs = 0
let effects = 0

console.log(`seeds ${from} to ${end - 1}, ${stepsPerRun} steps each`)
for (let seed = from; seed < end && !(values.first && failed > 0); seed++) {
  try {
    const report = await simulate(seed)
    simulatedMs += report.simulatedMs
    effects += report.effects
    if (values.verbose) console.log(JSON.stringify({ ...report, trace: undefined }))
  } catch (error) {
    failed++
    console.error(error instanceof Error ? error.message : error)
  }
}
const seconds = (performance.now() - startedMs) / 1000
console.log(
  `${end - from - failed} of ${end - from} seeds held, in ${seconds.toFixed(1)} s:` +
    ` ${Math.round(simulatedMs / 3_600_000)} simulated hours, ${effects} effects`,
)
process.exitCode = failed === 0 ? 0 : 1
